package tracker

import (
	"fmt"
	"testing"

	"electop/election"
)

func TestElectionsDeletedLongestAgoAreDroppedFirst(t *testing.T) {
	s := newScene(t)
	const n = maxGone + 600
	pairs := make([]election.Pair, n)
	for i := range pairs {
		pairs[i] = election.Pair{Key: fmt.Sprintf("service/%05d/leader", i), Session: "a", LockIndex: 1, CreateIndex: uint64(i + 1), ModifyIndex: uint64(i + 1)}
	}
	s.read(pairs...)
	s.read(pairs[:n/2]...) // the upper half expires first
	s.read()
	all := s.tracker.Snapshot(s.now).Elections
	if len(all) != maxGone || s.tracker.gone != maxGone {
		t.Fatalf("the tracker keeps %d elections, %d of them deleted; want %d deleted ones", len(all), s.tracker.gone, maxGone)
	}
	if all[0].Name != "00000" || all[n/2-1].Name != fmt.Sprintf("%05d", n/2-1) {
		t.Errorf("from %s", all[0].Name)
	}
	// An election whose key exists again does not count as deleted.
	s.read(pairs[0])
	if s.tracker.gone != maxGone-1 || s.tracker.Snapshot(s.now).Find(election.KeyID(pairs[0].Key)).State(s.now) != election.Led {
		t.Errorf("%d gone", s.tracker.gone)
	}
}

// With more elections, the tracker keeps fewer events per election.
func TestHistoriesAreBoundedTogether(t *testing.T) {
	for _, tt := range []struct{ elections, keep int }{{1, 64}, {4096, 64}, {4097, 32}, {10_000, 16}, {100_000, 4}, {1 << 20, 4}} {
		if got := historyLimit(tt.elections); got != tt.keep {
			t.Errorf("the limit for %d elections is %d events each, want %d", tt.elections, got, tt.keep)
		}
	}
	s := newScene(t)
	for i := range uint64(100) {
		s.read(web(fmt.Sprint("s", i), i+1, 10, 20+i, "v"))
	}
	if e := s.web(); len(e.Terms) != keptPerElection || len(e.Events) != keptPerElection {
		t.Fatalf("the tracker keeps %d terms and %d events, want %d of each", len(e.Terms), len(e.Events), keptPerElection)
	}
	shown := s.tracker.Snapshot(s.now)
	was := everything(shown)
	pairs := make([]election.Pair, 0, 5001)
	for i := range 5000 {
		pairs = append(pairs, election.Pair{Key: fmt.Sprintf("service/%05d/leader", i)})
	}
	latest := s.web().Terms[keptPerElection-1]
	s.read(append(pairs, web("s99", 100, 10, 119, "v"))...)
	if e := s.web(); len(e.Terms) != 32 || len(e.Events) != 32 || e.Terms[31] != latest {
		t.Errorf("the tracker keeps %d terms and %d events, the latest term is %+v; want 32 of each, and %+v", len(e.Terms), len(e.Events), e.Terms[len(e.Terms)-1], latest)
	}
	if everything(shown) != was {
		t.Error("an earlier snapshot changed")
	}
}
