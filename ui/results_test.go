package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/ui/kit"
)

// released ends the current term of an election. If again is set, the same session acquires the key 3 ms later.
func released(s *election.Snapshot, key string, again bool) *election.Snapshot {
	for i, e := range s.Elections {
		if e.Key() != key {
			continue
		}
		n := *e
		n.Terms = append([]election.Term{}, e.Terms...)
		n.Terms[len(n.Terms)-1].End = testNow()
		n.Pair.Session, n.Session, n.Leader, n.LastSession = "", nil, "", e.Session
		n.VacantSince, n.VacantSinceKnown = testNow(), true
		if again {
			n.Pair.Session, n.Session, n.Leader = e.Pair.Session, e.Session, e.Leader
			n.Pair.LockIndex, n.Pair.ModifyIndex, n.Term = e.Pair.LockIndex+1, e.Pair.ModifyIndex+2, e.Term+1
			n.Since, n.VacantSince = testNow().Add(3*time.Millisecond), time.Time{}
			n.Terms = append(n.Terms, election.Term{
				Number: n.Term, CreateIndex: 40, Session: n.Pair.Session, Leader: n.Leader, Node: "node-2", Start: n.Since, StartKnown: true,
			})
		}
		s.Elections[i] = &n
	}
	return s
}

func keyOf(name string) string { return "service/" + name + "/leader" }

// answers runs the actions of a batch. fails contains the outcomes of actions that fail, by election.
func (d *driver) answers(cmd tea.Cmd, fails map[string]insight.Outcome) {
	d.t.Helper()
	d.op.ends = fails
	d.perform(cmd)
}

// batchResults releases five elections with five different results.
func batchResults(t *testing.T, w, h int, change ...func(*Options)) *driver {
	d := drive(t, mixedSnapshot(), w, h, change...)
	d.mark("auth", "billing", "orders", "shop", "users")
	d.keys("r")
	cmd := d.keys("y")
	d.answers(cmd, map[string]insight.Outcome{
		"shop":  {Kind: insight.OutcomeChanged, Reason: "service/shop/leader is held by another session"},
		"users": {Kind: insight.OutcomeUnknown, Reason: "no response, service/users/leader may have been released: timeout"},
	})
	d.now = d.now.Add(2 * time.Second)
	s := takenOver(mixedSnapshot(), keyOf("auth"))
	s = released(released(s, keyOf("billing"), true), keyOf("orders"), false)
	d.send(snapshotMsg{s})
	return d
}

func TestABatchReportsEveryElection(t *testing.T) {
	d := batchResults(t, 120, 36)
	d.wants("Release 5 elections",
		"auth     auth-2 on node-2 → auth-9 on node-9 after 1.3s",
		"billing  billing-3 on node-3 leads again after 3ms", "same session",
		"orders   orders-1 → no leader yet, 2s",
		"shop     nothing was changed: service/shop/leader is held by another session",
		"users    unknown whether the release was applied: no", "users-1 leads now",
		"2 waiting", "[ Close ]")
	d.now = d.now.Add(election.MaxLockDelay + 30*time.Second)
	d.send(tickMsg(d.now))
	d.wants("orders-1 on node-1 → no leader: no candidate acquired the key within 1m30s", "complete")
	d.keys("j", "x", "r", "y", "space")
	d.wants("Release 5 elections") // the panel stays open until the user closes it
	d.keys("enter")
	d.lacks("[ Close ]")
	d.wants("Closed; u lists the results again.")
	d.keys("u")
	d.wants("Actions since electop started", "12:01:09 ● moved        auth     release  auth-2 on node-2 → auth-9 on node-9 after 1.3s")
	if cmd := d.keys("q"); cmd != nil {
		t.Error("q quits instead of closing the results")
	}
	d.lacks("Actions since")
}

// The note of a release remains when the next leader is known.
func TestResultsKeepTheNoteOfARelease(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("g", "space", "space", "r")
	noted := insight.Outcome{Kind: insight.OutcomeDone, Note: "the index was not checked"}
	d.answers(d.keys("y"), map[string]insight.Outcome{"auth": noted, "billing": noted})
	d.send(snapshotMsg{released(takenOver(mixedSnapshot(), keyOf("auth")), keyOf("billing"), false)})
	d.wants("auth-2 on node-2 → auth-9 on node-9 after 1.3s; the index was not checked", "billing-3 → no leader yet, 0s; the index was not checked")
}

func TestResultsThatWereClosedEarly(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("g", "space", "space", "r")
	d.answers(d.keys("y"), nil)
	d.wants("auth-2 on node-2 was released; it may already lead again")
	d.keys("esc")
	d.wants("Release 2 elections: 2 waiting", "u lists the results")
	d.send(snapshotMsg{takenOver(mixedSnapshot(), keyOf("auth"))})
	d.wants("Release 2 elections: 1 moved, 1 waiting")
	d.send(snapshotMsg{released(takenOver(mixedSnapshot(), keyOf("auth")), keyOf("billing"), true)})
	d.wants("Release 2 elections: 1 moved, 1 same leader")
	if d.m.note.role == kit.Led {
		t.Error("a leader that leads again is reported as success")
	}
}

func TestASingleReleaseWithTheSameLeader(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("k", "r")
	d.perform(d.keys("y"))
	d.wants("billing: billing-3 on node-3 was released; it may already lead again")
	d.lacks("no longer leads", "[ Close ]")
	d.send(snapshotMsg{released(mixedSnapshot(), keyOf("billing"), true)})
	d.wants("billing: billing-3 on node-3 leads again after 3ms", "same session")
	if d.m.note.role == kit.Led {
		t.Error("a release after which the same session leads is reported as success")
	}
}

func TestAwaitingALeader(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("k", "x")
	d.perform(d.keys("y"))
	d.wants("billing: billing-3 on node-3: its session was destroyed")
	s := released(mixedSnapshot(), keyOf("billing"), false)
	s.Find(election.KeyID(keyOf("billing"))).LockDelayUntil = testNow().Add(15 * time.Second)
	d.now = d.now.Add(4 * time.Second)
	d.send(snapshotMsg{s})
	d.wants("billing: billing-3 → no leader yet, 4s; lock-delay for about 11s more")
	lost := *s
	lost.Connection = lostSnapshot().Connection
	d.now = d.now.Add(2 * (election.MaxLockDelay + 30*time.Second))
	d.send(snapshotMsg{&lost}) // without a connection, the next leader is unknown
	if d.m.log.Pending() == "" {
		t.Error("the wait for the next leader ended during a lost connection")
	}
	d.send(snapshotMsg{s})
	d.send(tickMsg(d.now))
	d.wants("billing: billing-3 on node-3 → no leader: no candidate acquired the key within 1m30s")
}

func TestActionsInTheEventsView(t *testing.T) {
	d := batchResults(t, 160, 45)
	d.keys("esc", "2")
	d.wants("operator     release: auth-2 on node-2 → auth-9 on node-9 after 1.3s", "operator     release: orders-1 → no leader yet, 2s")
	d.keys("/", "'type:operator", "enter")
	d.wants("Events  5 lines")
	d.lacks("connection refused")
	d.keys("/", "ctrl+u", "'leads again", "enter")
	d.wants("Events  1 line,", "billing")
	d.keys("enter", "enter")
	if d.selected() != "billing" {
		t.Errorf("enter shows %q", d.selected())
	}
}

func TestDestroyedSessionsAreLines(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 120, 36, searches)
	d.keys("3", "/", "'cron", "enter", "g", "space", "space", "x")
	d.answers(d.keys("y"), nil)
	d.wants("Destroy 2 sessions", "report-cron 4f8", "destroyed", "complete")
	d.keys("esc", "2", "/", "'type:operator", "enter", "enter")
	d.wants("destroy: destroyed", "[ Close ]")
	d.lacks("its election")
	d.keys("enter")
	d.lacks("[ Close ]")
}

func TestNoActionYet(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("u")
	d.wants("No actions since electop started.")
}

// The results show the next leaders of the elections that a destroyed session led. The session is destroyed even if
// its keys have changed.
func TestElectionsOfADestroyedSessionAreFollowed(t *testing.T) {
	s := studiedSnapshot("")
	auth, billing := s.Find(election.KeyID(keyOf("auth"))), s.Find(election.KeyID(keyOf("billing")))
	billing.Session, billing.Pair.Session = auth.Session, auth.Pair.Session
	d := drive(t, s, 120, 46, searches)
	d.mark("auth") // the destroy must not remove this mark
	d.keys("3", "/", "'"+sessionID(0), "enter", "space", "x")
	cmd := d.keys("y")
	d.keys("esc", "ctrl+c")
	d.wants("3 actions in progress")
	d.perform(cmd)
	if len(d.op.destroyed) != 1 || d.op.destroyed[0].Key != "" || d.op.destroyed[0].Session != sessionID(0) {
		t.Fatalf("destroyed %v", d.op.destroyed)
	}
	if d.marks() != 1 || strings.Contains(d.text(), "session marked") {
		t.Errorf("%d marks:\n%s", d.marks(), d.text())
	}
	d.now = d.now.Add(2 * time.Second)
	d.send(snapshotMsg{released(takenOver(studiedSnapshot(""), keyOf("auth")), keyOf("billing"), false)})
	d.keys("u")
	d.wants("auth 4f5ada57", "destroyed", "auth-2 on node-2 → auth-9 on node-9 after 1.3s", "no leader yet")
	d.keys("esc")
	d.now = d.now.Add(noteTime)
	d.send(tickMsg(d.now))
	d.wants("Destroy session auth: 1 moved, 1 destroyed, 1 waiting")
}

func TestUnobservedStartOfATermIsUnknown(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("g")
	d.wants("Since        before Nov 18 08:01  ≥2d04h; the start was not observed")
	s := mixedSnapshot() // a term that began before the observation
	s.Find(election.KeyID(keyOf("billing"))).SinceKnown = false
	d = drive(t, s, 120, 36)
	d.keys("g", "j")
	d.wants("  ≥3m12s; the start was not observed")
}
