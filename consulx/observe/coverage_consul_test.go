package observe

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
	"electop/internal/consultest"
)

// soakTime returns how long the test writes to the real Consul: a few seconds, or the value of the environment
// variable.
func soakTime(t *testing.T) time.Duration {
	t.Helper()
	if text := os.Getenv("ELECTOP_SOAK"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	return 12 * time.Second
}

// soak runs a workload on a real Consul, with additional keys whose leader changes faster than an observer can read.
type soak struct {
	*workload
	backend backend
	board   *board
	shown   *election.Snapshot
	newest  map[string]election.Pair // newest pair of each key in the snapshots

	seen    int            // number of counted events
	reports map[string]int // number of events, by key

	fastKeys []string
	acquires map[string]uint64 // number of acquires, by key
	holder   map[string]string
}

// Clients create and delete keys on a real Consul while shards are divided and merged. Every term must be reported
// once and in order, or counted as missed. No snapshot may contain older data than an earlier one.
func TestShardsFollowARealConsul(t *testing.T) {
	limit := soakTime(t)
	// The random layouts cancel many queries, and Consul counts their connections until it detects that they are
	// closed.
	agent := consultest.Dev(t, consultest.WithConfig(`limits { http_max_conns_per_client = 1000 }`))
	b := newBackend(t, consulx.Config{Address: agent.Addr(), MaxConnections: 64})
	rng := rand.New(rand.NewPCG(3, 3))
	var names []string
	for i := range 600 {
		names = append(names, fmt.Sprintf("service/%c%d/%03d/leader", 'a'+i%5, i%7, i))
	}
	s := &soak{
		workload: newWorkload(t, b.API, rng, names), backend: b, newest: map[string]election.Pair{},
		reports: map[string]int{}, acquires: map[string]uint64{}, holder: map[string]string{},
	}
	s.slack, s.busy = patience, func(key string) bool { return s.reports[key] < len(s.expected[key]) }
	for i := range 35 {
		s.fastKeys = append(s.fastKeys, fmt.Sprintf("service/%c%d-fast/leader", 'a'+i%5, i%7))
	}
	changes := 0
	var calm atomic.Bool // if set, layouts remain unchanged for a long time, as in production
	wild := randomLayouts(rand.New(rand.NewPCG(3, 4)))
	arrange := func(l layout, keys []listedKey, present []watch) []watch {
		if calm.Load() {
			return l.Next(keys, present)
		}
		return wild(l, keys, present)
	}
	s.board = observeWith(t, b.client, Options{Patterns: patterns(t, "service/**/leader")}, changeRetired(s.workload, arrange, &changes))
	s.board.loaded()
	begin := time.Now()
	for round := 0; round < 4 || time.Since(begin) < limit; round++ {
		calm.Store(round%2 == 1)
		s.round([]float64{0.02, 0.05, 0.5, 0.9}[round%4])
		s.settled(fmt.Sprint("round ", round))
		if round%4 < 3 {
			s.deleteTree(fmt.Sprintf("service/%c%d/", 'a'+rng.IntN(5), rng.IntN(7)))
			s.settled("reports of the keys that were deleted in one request")
		}
	}
	s.board.stop()
	s.reported(s.board)
	if changes < 20 {
		t.Errorf("the layout changed only %d times, want at least 20", changes)
	}
	t.Logf("%d changes of the layout, %d events", changes, len(s.board.events))
}

// round changes keys for some time, as fast as Consul accepts the writes.
func (s *soak) round(deletes float64) {
	s.pause(false)
	for range 400 {
		s.observe()
		s.step(deletes)
		s.changeLeader()
	}
}

// changeLeader changes the leader of one of the fast keys.
func (s *soak) changeLeader() {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := s.fastKeys[s.rng.IntN(len(s.fastKeys))]
	pair := &api.KVPair{Key: key, Session: s.holder[key], Value: fmt.Append(nil, s.acquires[key])}
	if pair.Session != "" {
		ok, _, err := s.api.KV().Release(pair, nil)
		s.check(ok, err)
		s.holder[key] = ""
		return
	}
	pair.Session = s.newSession()
	ok, _, err := s.api.KV().Acquire(pair, nil)
	s.check(ok, err)
	s.holder[key] = pair.Session
	s.acquires[key]++
}

// observe counts the reported events, and checks that no key in a snapshot is older than in an earlier snapshot.
func (s *soak) observe() {
	snapshot := s.board.snapshot()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.board.mu.Lock()
	s.count()
	s.board.mu.Unlock()
	if snapshot == s.shown {
		return
	}
	s.shown = snapshot
	for _, e := range snapshot.Elections {
		before := s.newest[e.Key()]
		if e.Pair.ModifyIndex < before.ModifyIndex {
			s.t.Errorf("the index of %s decreased from %d to %d", e.Key(), before.ModifyIndex, e.Pair.ModifyIndex)
		}
		s.newest[e.Key()] = e.Pair
	}
}

// count counts the events by key. The caller holds the board's mutex.
func (s *soak) count() {
	for _, e := range s.board.events[s.seen:] {
		if e.Type != election.Explained {
			s.reports[e.Key]++
		}
	}
	s.seen = len(s.board.events)
}

// settled waits until every change is reported. During this time no client writes, because a later write would hide a
// missing report.
func (s *soak) settled(what string) {
	s.t.Helper()
	s.pause(true)
	start, given := time.Now(), false
	s.board.until("the end of "+what, func() bool {
		s.count()
		held, _, err := s.api.KV().List("service/", nil)
		unreported := slices.DeleteFunc(slices.Clone(s.names), func(key string) bool { return !s.busy(key) })
		// A snapshot may arrive shortly before its events.
		done := err == nil && len(unreported) == 0 && sameBoard(s.board, held) && len(s.uncounted()) == 0
		if late := time.Since(start); !done && late > patience/2 {
			s.t.Errorf("%s: after %s, reports about %q are missing; uncounted terms of %q; Consul: %v", what, late, unreported, s.uncounted(), err)
			given = true
		}
		return done || given
	})
	if given {
		s.t.FailNow()
	}
}

// uncounted returns the keys with terms that were neither reported nor counted as missed. The caller holds the
// board's mutex.
func (s *soak) uncounted() (keys []string) {
	counted := map[string]uint64{}
	for _, e := range s.board.events {
		switch e.Type {
		case election.Elected:
			counted[e.Key]++
		case election.Missed:
			counted[e.Key] += e.Count
		}
	}
	for _, key := range s.fastKeys {
		if counted[key] != s.acquires[key] {
			keys = append(keys, fmt.Sprintf("%s: %d terms, of which %d were reported or counted", key, s.acquires[key], counted[key]))
		}
	}
	return keys
}

// sameBoard reports whether the newest snapshot contains exactly these keys.
func sameBoard(b *board, held api.KVPairs) bool {
	exists := 0
	for _, e := range b.last.Elections {
		if e.Exists {
			exists++
		}
	}
	for _, p := range held {
		e := b.last.Find(election.KeyID(p.Key))
		if e == nil || !e.Exists || e.Pair.ModifyIndex != p.ModifyIndex || e.Pair.Session != p.Session || !bytes.Equal(e.Pair.Value, p.Value) {
			return false
		}
	}
	return exists == len(held)
}
