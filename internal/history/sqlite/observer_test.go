package sqlite_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/internal/consultest"
	feeds "electop/internal/feed"
	"electop/internal/history/sqlite"
)

// An observer watches keys that clients acquire, release, overwrite and delete. The history shows the boards that the observer
// showed after each change.
func TestTheStateIsWhatAnObserverShowed(t *testing.T) {
	if testing.Short() {
		t.Skip("needs Consul")
	}
	consultest.OnBoth(t, func(t *testing.T, addr string) {
		client, err := consulx.NewClient(consulx.Config{Address: addr})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		b := consultest.NewBackend(t, addr, client.API())
		ps := election.Patterns{election.KeyPattern(b.Prefix(t) + "web/leader")}
		path, r, session := newPath(t), rand.New(rand.NewPCG(1, 1)), ""
		w := startWriter(t, path, sqlite.WriterOptions{})
		o := observe.New(client, feeds.Options{Patterns: ps, OnEvents: w.Record, OnMark: w.Mark})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- o.Run(ctx) }()
		var live []board
		see := func(is func(*election.Election) bool) { // waits until the board shows a change and the causes of all ends
			for deadline := time.Now().Add(consultest.Patience); ; consulx.Sleep(ctx, 5*time.Millisecond) {
				s := o.Snapshot()
				if e := s.Find(election.KeyID(ps[0].String())); s.Loaded && e != nil && is(e) && (e.LastTerm() == nil || e.LastTerm().Cause != "") {
					live = append(live, boardOf(s.Elections, s.At))
					return
				}
				if time.Now().After(deadline) {
					t.Fatalf("not seen: %+v", s.Elections)
				}
			}
		}
		key := ps[0].String()
		for i := range 25 {
			value := fmt.Sprint("web-", i)
			switch n := r.IntN(5); {
			case session == "":
				session = b.Session(t, &api.SessionEntry{Name: "web", LockDelay: time.Millisecond, TTL: "60s"})
				b.Acquire(t, api.KVPair{Key: key, Session: session, Value: []byte(value)})
				see(func(e *election.Election) bool { return e.Pair.HeldBy(session) && e.Session != nil })
			case n < 2:
				b.Put(t, key, value)
				see(func(e *election.Election) bool { return e.Leader == value })
			default:
				act := []func() error{
					func() error { _, err := b.API.KV().Delete(key, nil); return err },
					func() error { _, err := b.API.Session().Destroy(session, nil); return err },
					func() error {
						_, _, err := b.API.KV().Release(&api.KVPair{Key: key, Session: session}, nil)
						return err
					},
				}[n-2]
				if err := act(); err != nil {
					t.Fatal(err)
				}
				session = ""
				see(func(e *election.Election) bool { return !e.Exists || !e.Pair.Held() })
			}
		}
		cancel()
		<-done
		w.stop()
		expectBoards(t, path, live)
	})
}
