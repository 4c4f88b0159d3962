package ui

import (
	"slices"
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

func TestFirstSnapshotSelectsAProblem(t *testing.T) {
	d := drive(t, mixedSnapshot(), 80, 24)
	if d.selected() != "mail" {
		t.Errorf("selected %q", d.selected())
	}
	d.wants("No leader for 4m02s.")
	d = drive(t, crowd(12), 80, 24)
	if d.selected() != "svc-00000" {
		t.Errorf("selected %q of a board without problems, want svc-00000", d.selected())
	}
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
	d.keys("/", "'webx", "backspace", "enter", "q")
	d.wants("/ web", "esc clears")
	d.keys("/", "ctrl+u", "'q", "enter")
	d.wants("/ q")
	d.send(tea.PasteMsg{Content: "ignored"})
	d.wants("/ q ")
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
	if visible, hidden := d.m.board.Marks(d.m.scene); visible != 0 || hidden != 2 {
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

func TestWatchChecks(t *testing.T) {
	var calls [][]string
	d := drive(t, mixedSnapshot(), 120, 36, func(o *Options) {
		fake(o).onWatchChecks = func(_ string, nodes []string) { calls = append(calls, nodes) }
	})
	if len(calls) != 1 || !slices.Equal(calls[0], []string{"node-2", "node-3", "node-1"}) {
		t.Fatalf("WatchChecks received %v", calls)
	}
	d.keys("g")
	if last := calls[len(calls)-1]; len(last) != 3 || last[0] != d.m.board.Selected().Session.Node {
		t.Errorf("WatchChecks received %v, want three nodes with that of the selected election first", last)
	}
	before := len(calls)
	d.send(snapshotMsg{mixedSnapshot()})
	if len(calls) != before {
		t.Errorf("WatchChecks was called again without a change: %v", calls)
	}
	d.keys("g", "enter")
	if last := calls[len(calls)-1]; len(last) != 3 || last[0] != "node-2" {
		t.Errorf("with one election in full screen, WatchChecks received %v, want three nodes with node-2 first", last)
	}
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
		{mixedSnapshot(), "k x c", "Copied the command: electop destroy --http-addr=http://127.0.0.1:8500 service/billing/leader", true},
		{studiedSnapshot(""), "3 c s", "Copied the session ID: " + sessionID(0), true},
		{studiedSnapshot(""), "3 c o", "Copied the node: node-2", true},
		{studiedSnapshot(""), "3 c x", "Copy from session", false},
		{hostileSnapshot(), "c k", "was not copied", false},
		{hostileSnapshot(), "c c", "There is no consul command to copy.", false},
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

func TestHistoryCommand(t *testing.T) {
	for _, view := range []string{"1", "2", "3"} {
		d := drive(t, mixedSnapshot(), 120, 36)
		d.keys("k", "enter", "shift+tab", "esc", view, ":", "'history", "enter")
		want := drive(t, mixedSnapshot(), 120, 36)
		want.keys("k", "enter", "tab", "tab")
		if got := d.text(); got != want.text() {
			t.Errorf("from view %s:\n%s\nwant\n%s", view, got, want.text())
		}
	}
	d := drive(t, nil, 120, 36)
	d.keys(":", "'history", "enter")
	d.wants("No election is selected: there is no history to show.")
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

func TestClosedSnapshotsAndContext(t *testing.T) {
	ch := make(chan *election.Snapshot, 3)
	first, last := mixedSnapshot(), crowd(3)
	ch <- first
	ch <- last
	if msg := waitFor(t.Context(), ch)(); msg.(snapshotMsg).snap != last {
		t.Error("an older snapshot replaced a newer one")
	}
	ch <- first
	close(ch)
	if msg := waitFor(t.Context(), ch)(); msg.(snapshotMsg).snap != first {
		t.Error("the last snapshot before the end of the channel is lost")
	}
	if msg := waitFor(t.Context(), ch)(); msg != nil {
		t.Errorf("a closed channel returns %v", msg)
	}
}
