package observe

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/consulx/observe/internal/shard"
	"electop/election"
	"electop/internal/consultest"
)

// soakTime is how long the real Consul is written to: a few seconds, or as long
// as the environment says.
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

// soak is a story that is played on a real Consul, with keys besides that change
// hands faster than can be told.
type soak struct {
	*story
	backend backend
	board   *board
	shown   *election.Snapshot
	newest  map[string]election.Pair // as they were shown

	seen int            // how many events were counted
	told map[string]int // by key

	turnKeys []string
	turns    map[string]uint64 // how often each was acquired
	holder   map[string]string
}

// Keys come and go on a real Consul while shards split and merge all the time:
// every term of every key is told once and in order, where there is the time to;
// where there is none, terms that were missed are counted. What is shown never
// goes back, and in the end it is what Consul holds.
func TestShardsFollowARealConsul(t *testing.T) {
	limit := soakTime(t)
	agent := consultest.Dev(t)
	b := newBackend(t, consulx.Config{Address: agent.Addr()})
	rng := rand.New(rand.NewPCG(3, 3))
	var names []string
	for i := range 600 {
		names = append(names, fmt.Sprintf("service/%c%d/%03d/leader", 'a'+i%5, i%7, i))
	}
	s := &soak{
		story: newStory(t, b.API, rng, names), backend: b, newest: map[string]election.Pair{},
		told: map[string]int{}, turns: map[string]uint64{}, holder: map[string]string{},
	}
	s.slack, s.busy = patience, func(key string) bool { return s.told[key] < len(s.expected[key]) }
	for i := range 35 {
		s.turnKeys = append(s.turnKeys, fmt.Sprintf("service/%c%d-turns/leader", 'a'+i%5, i%7))
	}
	changes := 0
	var calm atomic.Bool // layouts are as in earnest and last
	wild := restless(rand.New(rand.NewPCG(3, 4)))
	arrange := func(l shard.Layout, keys []shard.Key, present []shard.Watch) []shard.Watch {
		if calm.Load() {
			return l.Next(keys, present)
		}
		return wild(l, keys, present)
	}
	s.board = observeWith(t, b.client, Options{Patterns: patterns(t, "service/**/leader")}, meddled(s.story, arrange, &changes))
	s.board.loaded()
	begin := time.Now()
	for wave := 0; wave < 4 || time.Since(begin) < limit; wave++ {
		calm.Store(wave%2 == 1)
		s.wave([]float64{0.02, 0.05, 0.5, 0.9}[wave%4])
		s.settled(fmt.Sprint("wave ", wave))
		if wave%4 < 3 {
			s.fell(fmt.Sprintf("service/%c%d/", 'a'+rng.IntN(5), rng.IntN(7)))
			s.settled("what was deleted at once")
		}
	}
	s.board.stop()
	s.story.told(s.board)
	if changes < 20 {
		t.Errorf("the layout changed %d times only", changes)
	}
	t.Logf("%d changes of the shard.Layout, %d events", changes, len(s.board.events))
}

// wave does things to keys for a while, as fast as Consul takes them.
func (s *soak) wave(deletes float64) {
	s.hush(false)
	for range 400 {
		s.look()
		s.step(deletes)
		s.turn()
	}
}

// turn lets one of the keys that change hands do so.
func (s *soak) turn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := s.turnKeys[s.rng.IntN(len(s.turnKeys))]
	pair := &api.KVPair{Key: key, Session: s.holder[key], Value: fmt.Append(nil, s.turns[key])}
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
	s.turns[key]++
}

// look takes note of what was told, and checks that nothing that is shown went
// back.
func (s *soak) look() {
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
			s.t.Errorf("%s went back from index %d to %d", e.Key(), before.ModifyIndex, e.Pair.ModifyIndex)
		}
		s.newest[e.Key()] = e.Pair
	}
}

// count counts the events by key. The board is locked.
func (s *soak) count() {
	for _, e := range s.board.events[s.seen:] {
		if e.Type != election.Explained {
			s.told[e.Key]++
		}
	}
	s.seen = len(s.board.events)
}

// settled waits until all is told that happened. Nothing is written meanwhile, so
// that what was passed over does not come to light by chance.
func (s *soak) settled(what string) {
	s.t.Helper()
	s.hush(true)
	start, given := time.Now(), false
	s.board.until("the end of "+what, func() bool {
		s.count()
		held, _, err := s.api.KV().List("service/", nil)
		untold := slices.DeleteFunc(slices.Clone(s.names), func(key string) bool { return !s.busy(key) })
		// A snapshot may be there a moment before its events are delivered.
		done := err == nil && len(untold) == 0 && sameBoard(s.board, held) && len(s.uncounted()) == 0
		if late := time.Since(start); !done && late > patience/2 {
			s.t.Errorf("%s: after %s it is still to be told of %q; %q; Consul: %v", what, late, untold, s.uncounted(), err)
			given = true
		}
		return done || given
	})
	if given {
		s.t.FailNow()
	}
}

// uncounted lists the keys of which not every term was told or counted. The board
// is locked.
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
	for _, key := range s.turnKeys {
		if counted[key] != s.turns[key] {
			keys = append(keys, fmt.Sprintf("%s: %d terms, of which %d were told or counted", key, s.turns[key], counted[key]))
		}
	}
	return keys
}

// sameBoard reports that the newest snapshot shows exactly these keys.
func sameBoard(b *board, held api.KVPairs) bool {
	exists := 0
	for _, e := range b.last.Elections {
		if e.Exists {
			exists++
		}
	}
	for _, p := range held {
		e := b.last.Find(p.Key)
		if e == nil || !e.Exists || e.Pair.ModifyIndex != p.ModifyIndex || e.Pair.Session != p.Session || !bytes.Equal(e.Pair.Value, p.Value) {
			return false
		}
	}
	return exists == len(held)
}

// Many keys are divided on a real Consul, within the limit, and a change of any
// is told at once.
func TestManyElectionsAreSharded(t *testing.T) {
	agent := consultest.Dev(t)
	b := newBackend(t, consulx.Config{Address: agent.Addr()})
	for from := 0; from < 3000; from += 60 {
		var ops api.TxnOps
		for i := range 60 {
			ops = append(ops, &api.TxnOp{KV: &api.KVTxnOp{Verb: api.KVSet, Key: fmt.Sprintf("service/svc-%04d/leader", from+i), Value: []byte("v")}})
		}
		if ok, _, _, err := b.API.Txn().Txn(ops, nil); err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	client, hook := hooked(t, agent.Addr())
	var shards sync.Map
	hook.Before = func(r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/kv/") {
			shards.Store(r.URL.Path, true)
		}
	}
	board := observe(t, client, "service/*/leader")
	board.loaded()
	board.until("shards", func() bool {
		n := 0
		shards.Range(func(any, any) bool { n++; return true })
		return n > 10
	})
	s := b.Session(t, &api.SessionEntry{Name: "s"})
	n := 0
	for _, i := range []int{0, 999, 1500, 2999} {
		key := fmt.Sprintf("service/svc-%04d/leader", i)
		b.Acquire(t, api.KVPair{Key: key, Session: s})
		_, n = board.event(n, "elected", key)
	}
	b.Acquire(t, api.KVPair{Key: "service/a-new-one/leader", Session: s})
	_, _ = board.event(n, "elected", "service/a-new-one/leader")
}
