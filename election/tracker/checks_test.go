package tracker

import (
	"testing"
	"time"

	"electop/election"
)

func TestChecksContainTheirAge(t *testing.T) {
	s := newScene(t)
	at := func(n int) time.Time { return t0.Add(time.Duration(n) * time.Second) }
	known := func() election.NodeChecks { return s.tracker.Snapshot(s.now).Checks["node-1"] }
	read := func(n int) {
		s.observe(election.ChecksRead{At: at(n), Node: "node-1", Checks: checks(election.StatusPassing, election.StatusWarning)})
	}
	wants := func(what string, until time.Time, err string) {
		t.Helper()
		if c := known(); !c.Until.Equal(until) || c.Err != err || len(c.Checks) != 3 || c.Current() != (until.IsZero() && err == "") {
			t.Errorf("%s: %+v", what, c)
		}
	}
	read(1)
	wants("watched", time.Time{}, "")
	shown := s.tracker.Snapshot(s.now)
	s.observe(election.Unwatched{At: at(5), Node: "node-1"})
	wants("no longer watched", at(5), "")
	if !shown.Checks["node-1"].Until.IsZero() {
		t.Error("the new observation changed an earlier snapshot")
	}
	s.observe(election.Unwatched{At: at(6), Node: "node-1"})
	wants("no longer watched, again", at(5), "")
	read(10)
	wants("watched again", time.Time{}, "")
	s.observe(election.ChecksRead{At: at(12), Node: "node-1", Err: "refused"})
	s.observe(election.ChecksRead{At: at(14), Node: "node-1", Err: "refused"})
	wants("unreadable", at(12), "refused")
	s.observe(election.Unwatched{At: at(15), Node: "node-1"})
	wants("no longer watched while unreadable", at(12), "")
	read(20)
	s.observe(election.Gap{At: at(90), Since: at(21)})
	wants("after a gap", at(21), "")
}
