package tracker

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"electop/election"
)

func TestElectionsDeletedLongestAgoAreDroppedFirst(t *testing.T) {
	s := newScene(t)
	const n = election.MaxDeleted + 600
	pairs := make([]election.Pair, n)
	for i := range pairs {
		pairs[i] = election.Pair{Key: fmt.Sprintf("service/%05d/leader", i), Session: "a", LockIndex: 1, CreateIndex: uint64(i + 1), ModifyIndex: uint64(i + 1)}
	}
	s.read(pairs...)
	s.read(pairs[:n/2]...) // the upper half expires first
	s.read()
	s.now = s.now.Add(pruneEvery)
	s.read()
	all := s.tracker.Snapshot(s.now).Elections
	if len(all) != election.MaxDeleted || all[0].Name != "00000" || all[n/2-1].Name != fmt.Sprintf("%05d", n/2-1) {
		t.Fatalf("the tracker keeps %d elections from %s, want %d deleted ones", len(all), all[0].Name, election.MaxDeleted)
	}
}

// With more elections, the tracker keeps fewer events per election.
func TestHistoriesAreBoundedTogether(t *testing.T) {
	s := newScene(t)
	for i := range uint64(100) {
		s.key(fmt.Sprintf("s%d %d 10 %d v", i, i+1, 20+i))
	}
	if e := s.web(); len(e.Terms) != keptPerElection || len(e.Events) != keptPerElection {
		t.Fatalf("the tracker keeps %d terms and %d events, want %d of each", len(e.Terms), len(e.Events), keptPerElection)
	}
	pairs := make([]election.Pair, 0, 8192)
	for i := range 8191 {
		pairs = append(pairs, election.Pair{Key: fmt.Sprintf("service/%05d/leader", i)})
	}
	s.read(append(pairs, web("s99 100 10 119 v"))...)
	s.read(append(pairs, web("s100 101 10 120 v"))...)
	if e := s.web(); len(e.Terms) != 32 || len(e.Events) != 32 || e.Terms[31].Session != "s100" {
		t.Errorf("the tracker keeps %d terms and %d events, want 32 of each", len(e.Terms), len(e.Events))
	}
}

func TestObservationsAreBounded(t *testing.T) {
	s := newScene(t, "service/*/leader", "denied/*")
	passing := checks(election.StatusPassing, election.StatusPassing)
	s.observe(election.ChecksRead{At: t0, Node: "watched", Checks: passing})
	for i := range 3 * maxCheckedNodes {
		at, node := t0.Add(time.Duration(i)*time.Second), fmt.Sprint("node-", i)
		s.observe(election.ChecksRead{At: at, Node: node, Checks: passing})
		s.observe(election.Unwatched{At: at, Node: node})
	}
	all := s.tracker.Snapshot(s.now).Checks
	for node, want := range map[string]bool{"watched": true, "node-0": false, fmt.Sprint("node-", 3*maxCheckedNodes-1): true} {
		if _, kept := all[node]; kept != want || len(all) != maxCheckedNodes {
			t.Errorf("the tracker keeps the checks of %d nodes, including %s: %t; want the %d newest and the watched one", len(all), node, kept, maxCheckedNodes)
		}
	}
	for i := range 2 * maxFiltered {
		s.observe(election.KeysRead{At: s.now, Range: election.KeyRange(fmt.Sprint("service/", i, "/leader")), Filtered: true})
	}
	for range 3 * maxIdleSessions / 50_000 {
		batch := make([]*election.Session, 50_000)
		for j := range batch {
			batch[j] = &election.Session{ID: fmt.Sprint(len(s.tracker.sessions), "-", j)}
		}
		s.sessions(batch...)
		s.readIn(election.KeyRange("service/a/leader"))
	}
	if filtered, sessions := len(s.tracker.filtered), len(s.tracker.sessions); filtered > maxFiltered || sessions > maxIdleSessions+50_000 {
		t.Errorf("the tracker keeps %d filtered ranges and %d idle sessions, want at most %d and %d", filtered, sessions, maxFiltered, maxIdleSessions)
	}
	s.key("slots 10 20 2")
	var many strings.Builder
	for i := range 10_000 {
		fmt.Fprint(&many, " s", i)
	}
	if n := len(s.key("slots 10 21 2" + many.String())); n != maxSlots {
		t.Errorf("%d events for 10,000 holders, want %d", n, maxSlots)
	}
	if s.tracker.Snapshot(s.now).Filtered {
		t.Error("the snapshot is filtered after an unfiltered read")
	}
}
