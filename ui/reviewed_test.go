package ui

import (
	"context"
	"slices"
	"testing"
	"time"

	"electop/election"
)

// A refresh must keep the election of the dialog, even if the filter hides it.
func TestRefreshKeepsTheElection(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("k", "x")
	d.wants("Destroy the session of billing")
	d.send(snapshotMsg{takenOver(mixedSnapshot(), "service/billing/leader")})
	d.filter("auth") // hides billing
	d.keys("r")
	d.wants("Destroy the session of billing", "billing-9", "[ Cancel ]")
	d.filter("")
	s := mixedSnapshot()
	s.Elections = slices.Delete(s.Elections, 1, 2)
	d.send(snapshotMsg{s})
	d.keys("r")
	d.wants("Destroy the session of billing", "the key was deleted", "[ Close ]")
	if cmd := d.keys("y"); cmd != nil {
		t.Error("y acts on another target")
	}
	vacant := mixedSnapshot()
	vacant.Elections[1] = vacantElection(1, "billing", 3, time.Minute, time.Second, 0, election.Released, "")
	d.send(snapshotMsg{vacant})
	d.keys("r")
	d.wants("the election no longer has a leader", "[ Close ]")
}

func TestRefreshKeepsTheSession(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 120, 36, studies)
	d.keys("3", "/", "'users", "enter", "x")
	id := d.m.overlay.Targets()[0].Session
	gone := studiedSnapshot("")
	gone.SessionList.Sessions = slices.DeleteFunc(slices.Clone(gone.SessionList.Sessions), func(s *election.Session) bool { return s.ID == id })
	d.filter("")
	d.send(snapshotMsg{gone})
	d.keys("r")
	if d.m.overlay == nil || len(d.m.overlay.Targets()) != 1 || d.m.overlay.Targets()[0].Session != id {
		t.Fatal("the dialog does not show the session that ended")
	}
	d.wants("the session ended, or the token can no longer read it", "[ Close ]")
	hidden := *gone
	list := *gone.SessionList
	list.Partial, hidden.SessionList = true, &list
	d.send(snapshotMsg{&hidden})
	d.keys("r")
	d.wants("the session ended, or the token can no longer read it", "[ Close ]")
	if cmd := d.keys("y"); cmd != nil {
		t.Error("y acts on another session")
	}
}

func TestHiddenChecksAreNotGone(t *testing.T) {
	s := mixedSnapshot()
	auth := s.Find("service/auth/leader")
	s.Checks["node-2"] = election.NodeChecks{At: testNow(), Checks: passing("node-2", "other", "passing", "")[:1], Partial: true}
	d := drive(t, s, 120, 50)
	d.keys("g")
	d.wants("service:auth-2  service check, not readable with this token", "✓ 1 ? 1")
	d.lacks("not registered")
	s = mixedSnapshot()
	auth = s.Find(auth.ID())
	auth.Session = nil
	d.send(snapshotMsg{s})
	d.wants(auth.Pair.Session+"  not readable with this token", "its session: not readable with this token")
	auth.Since = testNow()
	d.wants(auth.Pair.Session + "  being read")
}

func TestADialogClearsTheNote(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 120, 36, studies)
	d.keys("g", "x", "esc")
	d.wants("Cancelled: nothing was changed.")
	d.keys("x")
	d.lacks("Cancelled")
	d.keys("esc", "3", "x")
	d.lacks("Cancelled")
}

func TestCandidatesWithTheSameNameAreDistinguished(t *testing.T) {
	s := studiedSnapshot("service/billing/leader")
	for i := range 2 {
		s.SessionList.Sessions = append(s.SessionList.Sessions, testSession(400+i, "billing", "w1"))
	}
	s.Surroundings.Sessions = s.SessionList.Sessions
	d := drive(t, s, 200, 50, studies)
	d.open("service/billing/leader")
	d.keys("enter")
	d.wants("(w1, "+election.ShortID(sessionID(400))+")", "(w1, "+election.ShortID(sessionID(401))+")")
}

func TestManySessionsAreSearchedAtOnce(t *testing.T) {
	calls := 0
	d := drive(t, studiedSnapshot(""), 120, 36, searches, func(o *Options) {
		look := fake(o).onHoldings
		fake(o).onHoldings = func(ctx context.Context, _ string, sessions []string, progress func(int, int)) ([]election.Pair, bool, error) {
			calls++
			return look(ctx, "", sessions, progress)
		}
	})
	d.keys("3", "/", "'cron", "enter", "g", "space", "space", "space", "x")
	if calls != 1 {
		t.Errorf("the store was searched %d times, want once", calls)
	}
	d.wants("6 keys in all")
}
