package sqlite_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/internal/consultest"
	"electop/internal/history/sqlite"
)

// recording observes a Consul server like the dashboard, and stores the events.
type recording struct {
	t      *testing.T
	mu     sync.Mutex
	events []election.Event
	snaps  chan *election.Snapshot
	shown  []*election.Snapshot
}

// latest waits for a snapshot that satisfies a condition. It keeps all earlier snapshots.
func (r *recording) latest(what string, ok func(*election.Snapshot) bool) {
	r.t.Helper()
	limit := time.NewTimer(consultest.Patience)
	defer limit.Stop()
	for {
		select {
		case s := <-r.snaps:
			r.shown = append(r.shown, s)
			if ok(s) {
				return
			}
		case <-limit.C:
			r.t.Fatal("not seen: ", what)
		}
	}
}

// boards returns the boards of the snapshots. It omits a snapshot if an event with an earlier time reached the
// tracker after the snapshot.
func (r *recording) boards() (all []board) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.shown {
		known := 0
		for _, e := range r.events {
			if !e.Time.After(s.At) {
				known++
			}
		}
		if s.Loaded && known == len(s.Events) {
			all = append(all, boardOf(s.Elections, s.At))
		}
	}
	return all
}

// The leaders on a real Consul change in every possible way. The test compares the boards that a dashboard showed
// with those that the history reconstructs.
func TestTheStateAtAnyMomentOfARealIncident(t *testing.T) {
	consultest.OnBoth(t, func(t *testing.T, addr string) {
		client, err := consulx.NewClient(consulx.Config{Address: addr})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		b := consultest.NewBackend(t, client.Address(), client.API())
		prefix := b.Prefix(t)
		ps, err := election.ParsePatterns([]string{prefix + "*/leader"})
		if err != nil {
			t.Fatal(err)
		}
		r := &recording{t: t}
		path := newPath(t)
		w := startWriter(t, path, sqlite.WriterOptions{})
		o := observe.New(client, observe.Options{Patterns: ps, OnEvents: func(events []election.Event) {
			r.mu.Lock()
			r.events = append(r.events, events...)
			r.mu.Unlock()
			w.Record(events)
		}, OnMark: w.Mark})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- o.Run(ctx) }()
		snaps := make(chan *election.Snapshot, 10_000)
		r.snaps = snaps
		go func() {
			defer close(snaps)
			for s := range o.Snapshots() {
				snaps <- s
			}
		}()
		play(t, b, r, prefix)
		cancel()
		<-done
		for s := range snaps {
			r.shown = append(r.shown, s)
		}
		w.stop()
		// The history shows a leader's node from the start of the term, even if the session was read later.
		r.shown = slices.DeleteFunc(r.shown, func(s *election.Snapshot) bool { return slices.ContainsFunc(s.Elections, unread) })
		boards := r.boards()
		if len(boards) < len(r.shown)/2 || len(boards) < 15 {
			t.Fatalf("only %d boards of %d snapshots can be compared", len(boards), len(r.shown))
		}
		t.Logf("%d boards of %d snapshots, %d events", len(boards), len(r.shown), len(r.events))
		expectBoards(t, path, boards)
	})
}

// unread reports whether the session of the leader has not been read.
func unread(e *election.Election) bool { return e.Pair.Held() && e.Session == nil }

// play makes services lose and acquire their keys.
func play(t *testing.T, b consultest.Backend, r *recording, prefix string) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(7, 7))
	sessions := map[string]string{}
	key := func(i int) string { return fmt.Sprintf("%ssvc-%d/leader", prefix, i) }
	find := func(s *election.Snapshot, key string) *election.Election {
		if e := s.Find(election.KeyID(key)); e != nil {
			return e
		}
		return &election.Election{}
	}
	lead := func(i int) {
		behavior := []string{api.SessionBehaviorRelease, api.SessionBehaviorDelete}[rnd.IntN(2)]
		id := b.Session(t, &api.SessionEntry{Name: fmt.Sprint("svc-", i), LockDelay: 20 * time.Millisecond, Behavior: behavior, TTL: "60s"})
		k := key(i)
		for { // the acquire may fail while a lock-delay is active
			pair := api.KVPair{Key: k, Session: id, Value: fmt.Appendf(nil, "svc-%d-%s", i, id[:4])}
			if ok, _, err := b.API.KV().Acquire(&pair, nil); err != nil {
				t.Fatal(err)
			} else if ok {
				break
			}
		}
		sessions[k] = id
		r.latest(k+" led", func(s *election.Snapshot) bool { e := find(s, k); return e.Pair.Session == id && !unread(e) })
	}
	for i := range 4 {
		lead(i)
	}
	for range 25 {
		i := rnd.IntN(4)
		k := key(i)
		id := sessions[k]
		if id == "" {
			lead(i)
			continue
		}
		switch rnd.IntN(5) {
		case 0:
			b.API.KV().Release(&api.KVPair{Key: k, Session: id, Value: []byte("released")}, nil)
			r.latest(k+" released", func(s *election.Snapshot) bool { return !find(s, k).Pair.Held() })
			delete(sessions, k)
		case 1:
			b.API.Session().Destroy(id, nil)
			r.latest(k+" lost and explained", func(s *election.Snapshot) bool {
				e := find(s, k)
				return (!e.Exists || !e.Pair.Held()) && e.LastTerm() != nil && e.LastTerm().Cause != ""
			})
			delete(sessions, k)
		case 2:
			value := fmt.Sprint("renamed-", rnd.Uint64())
			b.Acquire(t, api.KVPair{Key: k, Session: id, Value: []byte(value)})
			r.latest(k+" renamed", func(s *election.Snapshot) bool { return find(s, k).Leader == value })
		case 3:
			b.Put(t, k, "overwritten")
			r.latest(k+" overwritten", func(s *election.Snapshot) bool { return find(s, k).Leader == "overwritten" })
		default:
			if _, err := b.API.KV().Delete(k, nil); err != nil {
				t.Fatal(err)
			}
			r.latest(k+" deleted", func(s *election.Snapshot) bool { return !find(s, k).Exists })
			delete(sessions, k)
		}
	}
}
