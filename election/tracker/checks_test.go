package tracker

import (
	"fmt"
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
	s.observe(election.ChecksUnwatched{At: at(5), Node: "node-1"})
	wants("no longer watched", at(5), "")
	if !shown.Checks["node-1"].Until.IsZero() {
		t.Error("the new observation changed an earlier snapshot")
	}
	s.observe(election.ChecksUnwatched{At: at(6), Node: "node-1"})
	wants("no longer watched, again", at(5), "")
	read(10)
	wants("watched again", time.Time{}, "")
	s.observe(election.ChecksRead{At: at(12), Node: "node-1", Err: "refused"})
	s.observe(election.ChecksRead{At: at(14), Node: "node-1", Err: "refused"})
	wants("unreadable", at(12), "refused")
	s.observe(election.ChecksUnwatched{At: at(15), Node: "node-1"})
	wants("no longer watched while unreadable", at(12), "")
	read(20)
	s.observe(election.Gap{At: at(90), Since: at(21)})
	wants("after a gap", at(21), "")
	s.observe(election.ClockSet{At: at(190), By: 100 * time.Second})
	wants("after the clock was set", at(121), "")
}

// Consul stopped responding some time before the watch ended.
func TestChecksWereCurrentUntilTheLastContact(t *testing.T) {
	s := newScene(t)
	at := func(n int) time.Time { return t0.Add(time.Duration(n) * time.Second) }
	s.observe(election.ChecksRead{At: at(1), Node: "node-1", Checks: checks(election.StatusPassing, election.StatusPassing)})
	s.observe(election.LinkUp{At: at(5), Source: "probe", Latency: time.Millisecond})
	s.observe(election.ChecksUnwatched{At: at(16), Node: "node-1"})
	if until := s.tracker.Snapshot(at(16)).Checks["node-1"].Until; !until.Equal(at(5)) {
		t.Errorf("current until %v, want %v", until, at(5))
	}
}

// The source of the checks did not respond, but other sources did.
func TestChecksWereCurrentUntilTheirSourceWasSilent(t *testing.T) {
	s := newScene(t)
	at := func(n int) time.Time { return t0.Add(time.Duration(n) * time.Second) }
	s.observe(election.ChecksRead{At: at(1), Node: "node-1", Checks: checks(election.StatusPassing, election.StatusPassing)})
	s.observe(election.LinkUp{At: at(29), Source: "probe", Latency: time.Millisecond})
	s.observe(election.LinkLost{At: at(30), Source: "checks of node-1", Part: checksOf("node-1"), Error: "request timed out", Since: at(2)})
	s.observe(election.ChecksRead{At: at(30), Node: "node-1", Err: "request timed out"})
	if until := s.tracker.Snapshot(at(30)).Checks["node-1"].Until; !until.Equal(at(2)) {
		t.Errorf("current until %v, want %v", until, at(2))
	}
}

func TestSessionsWereCurrentUntilTheirSourceWasSilent(t *testing.T) {
	at := func(n int) time.Time { return t0.Add(time.Duration(n) * time.Second) }
	for _, unwatched := range []bool{false, true} {
		s := newScene(t)
		s.observe(election.SessionListRead{At: at(1), Sessions: []*election.Session{{ID: "s1"}}, Index: 7})
		s.observe(election.LinkUp{At: at(29), Source: "probe", Latency: time.Millisecond})
		want := at(29)
		if unwatched {
			s.observe(election.SessionListUnwatched{At: at(30)})
		} else {
			want = at(2)
			part := election.Part{Kind: election.PartSessions}
			s.observe(election.LinkLost{At: at(30), Source: "sessions", Part: part, Error: "request timed out", Since: want})
			s.observe(election.SessionListRead{At: at(30), Err: "request timed out"})
		}
		if until := s.tracker.Snapshot(at(30)).SessionList.Until; !until.Equal(want) {
			t.Errorf("current until %v, want %v", until, want)
		}
	}
}

func TestChecksThatWereNeverReadAreNotKept(t *testing.T) {
	s := newScene(t)
	s.observe(election.ChecksRead{At: t0, Node: "node-1", Err: "refused"})
	if c := s.tracker.Snapshot(t0).Checks["node-1"]; c.Err != "refused" || c.Current() {
		t.Errorf("%+v", c)
	}
	s.observe(election.ChecksUnwatched{At: t0, Node: "node-1"})
	s.observe(election.ChecksUnwatched{At: t0, Node: "node-2"})
	if all := s.tracker.Snapshot(t0).Checks; len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

// Watched checks are read again only after a change.
func TestWatchedChecksAreDroppedLast(t *testing.T) {
	s := newScene(t)
	s.observe(election.ChecksRead{At: t0, Node: "watched", Checks: checks(election.StatusPassing, election.StatusPassing)})
	for i := range 3 * maxCheckedNodes {
		at, node := t0.Add(time.Duration(i)*time.Second), fmt.Sprint("node-", i)
		s.observe(election.ChecksRead{At: at, Node: node, Checks: checks(election.StatusPassing, election.StatusPassing)})
		s.observe(election.ChecksUnwatched{At: at, Node: node})
	}
	all := s.tracker.Snapshot(s.now).Checks
	if len(all) != maxCheckedNodes {
		t.Errorf("%d nodes", len(all))
	}
	if _, kept := all["watched"]; !kept {
		t.Error("the checks of a watched node were dropped")
	}
}
