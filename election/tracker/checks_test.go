package tracker

import (
	"testing"
	"time"

	"electop/election"
)

func TestChecksContainTheirAge(t *testing.T) {
	s := newScene(t)
	known := func() election.NodeChecks { return s.tracker.Snapshot(s.now).Checks["node-1"] }
	read := func(n int) {
		s.observe(election.ChecksRead{At: second(n), Node: "node-1", Checks: checks(election.StatusPassing, election.StatusWarning)})
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
	s.observe(election.Unwatched{At: second(5), Node: "node-1"})
	wants("no longer watched", second(5), "")
	if !shown.Checks["node-1"].Until.IsZero() {
		t.Error("the new observation changed an earlier snapshot")
	}
	s.observe(election.Unwatched{At: second(6), Node: "node-1"})
	wants("no longer watched, again", second(5), "")
	read(10)
	wants("watched again", time.Time{}, "")
	s.observe(election.ChecksRead{At: second(12), Node: "node-1", Err: "refused"})
	s.observe(election.ChecksRead{At: second(14), Node: "node-1", Err: "refused"})
	wants("unreadable", second(12), "refused")
	s.observe(election.Unwatched{At: second(15), Node: "node-1"})
	wants("no longer watched while unreadable", second(12), "")
	read(20)
	s.observe(election.Gap{At: second(90), Since: second(21)})
	wants("after a gap", second(21), "")
}
