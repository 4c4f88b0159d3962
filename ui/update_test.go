package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
)

func (d *driver) selected() string {
	if e := d.m.board.Selected(); e != nil {
		return e.Name
	}
	return ""
}

func TestMovement(t *testing.T) {
	d := drive(t, crowd(300), 80, 24)
	for _, c := range []struct{ keys, want string }{
		{"g", "svc-00000"}, {"j j k", "svc-00001"}, {"G", "svc-00299"}, {"home", "svc-00000"}, {"end", "svc-00299"},
		{"g pgdown pgup", "svc-00000"}, {"ctrl+d ctrl+u", "svc-00000"}, {"n", "svc-00013"}, {"n", "svc-00110"},
		{"N", "svc-00013"}, {"down up", "svc-00013"},
	} {
		if d.keys(strings.Fields(c.keys)...); d.selected() != c.want {
			t.Errorf("after %s: %s, want %s", c.keys, d.selected(), c.want)
		}
		d.wants(c.want)
	}
}

func TestPauseFreezesTheBoard(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("p")
	d.now = d.now.Add(42 * time.Second)
	d.send(snapshotMsg{takenOver(mixedSnapshot(), "service/billing/leader")})
	d.wants("PAUSED", "42s ago", "billing-3", "3m12s", "12:01:51")
	d.lacks("billing-9")
	d.keys("p")
	d.wants("billing-9")
	d.lacks("PAUSED")
}

func TestFilterKeys(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("g", "/", "'web")
	d.wants("/ web", "1 of 8 elections")
	if d.selected() != "web" {
		t.Errorf("selected %q", d.selected())
	}
	d.keys("esc")
	if d.selected() != "auth" || !d.m.board.Filter().Empty() {
		t.Errorf("after esc: %q, filter %q", d.selected(), d.m.board.Filter().Text)
	}
}

// An event opens its election, even if the filter of the board hides it. The election may no longer exist.
func TestAnEventOpensItsElection(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("/", "'web", "enter", "2", "/", "'type:vac", "enter", "enter")
	d.wants("[ Close ]", "its election")
	if d.keys("enter"); d.m.view != viewElections || d.selected() != "mail" && d.selected() != "search" || !d.m.board.Filter().Empty() {
		t.Errorf("enter shows view %s with %q selected, want the elections with mail or search", d.m.view, d.selected())
	}
	gone := mixedSnapshot()
	gone.Events = []election.Event{{Time: testNow(), Type: election.Deleted, Election: "old", Key: keyOf("old")}}
	d.send(snapshotMsg{gone})
	d.keys("2", "esc", "enter", "enter")
	d.wants("This election is not on the board.")
}

func TestReleaseIsBoundToItsTarget(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("k", "r")
	d.wants("Release billing", "service/billing/leader", "billing-3", "term 18", "[ Cancel ]")
	d.lacks(sessionID(1) + " ")
	d.keys("a")
	d.wants(sessionID(1), "a fewer details")
	d.keys("enter") // Cancel is the default
	d.lacks("Release billing")
	if len(d.op.released) > 0 {
		t.Fatal("Cancel released")
	}
	d.keys("r")
	d.send(snapshotMsg{mixedSnapshot()}) // nothing changed
	cmd := d.keys("right", "enter")
	d.perform(cmd)
	want := mixedSnapshot().Find("service/billing/leader").Target()
	if len(d.op.released) != 1 || d.op.released[0] != want {
		t.Fatalf("released %+v, want %+v", d.op.released, want)
	}
	d.wants("billing: billing-3 on node-3 was released; it may already lead again")
	d.now = d.now.Add(time.Second)
	d.send(snapshotMsg{takenOver(mixedSnapshot(), "service/billing/leader")})
	d.wants("billing: billing-3 on node-3 → billing-9 on node-9 after 1.3s")
}

func TestChangedHoldIsRefused(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("k", "x")
	d.wants("Destroy the session of billing", "Lock-delay 15s: no candidate can acquire the key")
	d.send(snapshotMsg{takenOver(mixedSnapshot(), "service/billing/leader")})
	d.wants("billing-9 leads now, term 19", "Nothing will be changed", "[ Close ]")
	if cmd := d.keys("y"); cmd != nil {
		t.Error("y acts on a changed hold")
	}
	again := mixedSnapshot()
	again.Find("service/billing/leader").Pair.LockIndex++
	d.send(snapshotMsg{again})
	d.wants("the same session leads in a new term", "[ Close ]")
	d.send(snapshotMsg{takenOver(mixedSnapshot(), "service/billing/leader")})
	d.keys("r")
	d.wants("Destroy the session of billing", "billing-9", "[ Cancel ]")
	d.send(snapshotMsg{lostSnapshot()})
	d.wants("The connection to Consul is lost", "[ Close ]")
	if cmd := d.keys("y"); cmd != nil {
		t.Error("y acts without a connection")
	}
	rejected := lostSnapshot()
	rejected.Connection.Refused = true
	d.send(snapshotMsg{rejected})
	d.wants("Consul rejects this token: no action is possible")
}

func TestManyTargets(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("g", "space", "space", "space", "r") // auth, billing, mail
	d.wants("Release 2 elections", "auth-2", "billing-3")
	d.send(snapshotMsg{takenOver(mixedSnapshot(), "service/billing/leader")})
	d.wants("skipped: billing-9 leads now")
	d.perform(d.keys("y"))
	if len(d.op.released) != 1 || d.op.released[0].Election != "auth" {
		t.Errorf("released %+v", d.op.released)
	}
	d.keys("enter", "/", "'auth", "enter")
	if visible, hidden := d.m.board.Marks(); visible != 0 || hidden != 2 {
		t.Errorf("%d marks of targets, want none; %d others, want 2", visible, hidden)
	}
}

func TestDestroyListsAffectedKeys(t *testing.T) {
	s := mixedSnapshot()
	users, orders := s.Find("service/users/leader"), s.Find("service/orders/leader")
	users.Session, users.Pair.Session = orders.Session, orders.Pair.Session
	orders.Session.Behavior = election.BehaviorDelete
	d := drive(t, s, 120, 36)
	d.keys("j", "x")
	d.wants("service/users/leader is deleted", "service/orders/leader is deleted")
	d.keys("a")
	d.wants("every key that it holds is deleted")
	d.keys("esc", "g", "j", "j", "j", "space", "j", "j", "space", "x")
	d.wants("Destroy the sessions of 2 elections", "orders-1", "users-1")
	d.perform(d.keys("y"))
	if len(d.op.destroyed) != 1 {
		t.Errorf("one session was destroyed %d times", len(d.op.destroyed))
	}
	d.wants("Destroy the sessions of 2 elections", "orders-1 on node-1: its session was destroyed", "users-1 on node-1: its session was destroyed")
}

func TestActionErrorsAreShown(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.op.fails(insight.OutcomeDenied, "refused\x1b[2J by ACL")
	d.perform(d.keys("k", "r", "y"))
	d.wants("billing: nothing was changed: refused␛[2J by ACL")
	d.keys("j")
	d.wants("billing: nothing was changed")
	if d.m.log.Pending() != "" {
		t.Error("a failed release waits for a leader")
	}
}

func TestNotesExplainUnavailableActions(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36, func(o *Options) { o.ReadOnly = true })
	d.keys("k", "r")
	d.wants("Read-only: release is disabled")
	d = drive(t, mixedSnapshot(), 120, 36)
	d.keys("r")
	d.wants("mail has no leader: there is nothing to release.")
	d.keys("3", "/", "'none", "enter", "x")
	d.wants("There is nothing to destroy.")
}

func TestCommands(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys(":", "'sort for rev", "enter")
	d.wants("Sorted by for, reversed.")
	d.keys(":", "'go users", "enter")
	if d.selected() != "users" {
		t.Errorf(":go selects %q", d.selected())
	}
	d.keys(":", "'filter shop", "enter")
	d.wants("1 of 8 elections")
	d.keys(":", "'2", "enter")
	d.wants("Events  8 lines")
	d.keys(":", "'nonsense", "enter")
	d.wants("Unknown command :nonsense")
	if cmd := d.keys(":", "'q", "enter"); cmd == nil || cmd() != tea.Quit() {
		t.Error(":q does not quit")
	}
}

func TestCopy(t *testing.T) {
	bidi := mixedSnapshot()
	bidi.Elections = []*election.Election{ledElection(1, "a\u202eb", 1, time.Hour)}
	for _, c := range []struct {
		snap       *election.Snapshot
		keys, want string
		copies     bool
	}{
		{mixedSnapshot(), "k c k", "Copied the key: service/billing/leader", true},
		{mixedSnapshot(), "k c c", "Copied the consul command: consul kv get -detailed -http-addr=http://127.0.0.1:8500 -datacenter=dc1 service/billing/leader", true},
		{mixedSnapshot(), "k r c", "Copied the command: electop release --http-addr=http://127.0.0.1:8500 service/billing/leader", true},
		{studiedSnapshot(""), "3 c s", "Copied the session ID: " + sessionID(0), true},
		{studiedSnapshot(""), "3 c x", "Copy from session", false},
		{hostileSnapshot(), "c k", "was not copied", false},
		{bidi, "c c", "The consul command contains control or invisible characters: it was not copied.", false},
	} {
		d := drive(t, c.snap, 200, 50, func(o *Options) { o.Cluster = Cluster{URL: "http://127.0.0.1:8500"} })
		if cmd := d.keys(strings.Fields(c.keys)...); (cmd != nil) != c.copies {
			t.Errorf("%s: copied %v, want %v", c.keys, cmd != nil, c.copies)
		}
		d.wants(c.want)
		d.nothingDone(c.keys)
	}
}

func TestEscGoesOneStepBack(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("/", "'o", "enter", "space", "enter")
	if d.keys("esc"); d.m.zoom {
		t.Error("still zoomed")
	}
	if d.keys("esc"); !d.m.board.Filter().Empty() || d.marks() != 1 {
		t.Error("the second esc did not clear the filter, or it removed the mark")
	}
	if d.keys("esc"); d.marks() > 0 {
		t.Error("the third esc did not clear the marks")
	}
}

// The Events view shows the events of semaphores and of lost permissions.
func TestNewEventsAreShown(t *testing.T) {
	s := mixedSnapshot()
	at := func(e election.Event) election.Event {
		e.Time, e.Election, e.Key = testNow(), "gpu", "jobs/gpu/.lock"
		return e
	}
	s.Events = append(s.Events,
		at(election.Event{Type: election.Entered, Session: sessionID(1), Leader: "job-1", Node: "node-1", Holders: 1, Limit: 2}),
		at(election.Event{Type: election.Left, Session: sessionID(1), Holders: 0, Limit: 2}),
		at(election.Event{Type: election.Unreadable}),
	)
	d := drive(t, s, 200, 40, func(o *Options) { o.Patterns = append(o.Patterns, "jobs/*/.lock") })
	d.keys("2")
	d.wants("entered", "job-1, session "+election.ShortID(sessionID(1))+", node-1 · 1 of 2 slots taken", "left", "0 of 2 slots taken",
		"this token can no longer read the key")
}
