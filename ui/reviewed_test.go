package ui

import (
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
