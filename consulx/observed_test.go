package consulx

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/internal/consultest"
)

// observed returns an election in the state in which an observer would report it.
func observed(b backend, t *testing.T, key string) *election.Election {
	t.Helper()
	p := PairOf(b.Get(t, key))
	s, _, err := b.API.Session().Info(p.Session, nil)
	if err != nil || s == nil {
		t.Fatal(s, err)
	}
	return &election.Election{Exists: true, Pair: p, Session: sessionOf(s, "")}
}

func TestAnObservedHoldIsReleasedWithOneRequest(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		var requests atomic.Int64
		addr := consultest.ReverseProxy(t, b.Addr, func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
			requests.Add(1)
			forward.ServeHTTP(w, r)
		})
		client, err := NewClient(Config{Address: addr})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		op := NewOperator(client, nil)
		key := b.Prefix(t) + "web/leader"
		first, second := b.Session(t, &api.SessionEntry{}), b.Session(t, &api.SessionEntry{})
		b.Acquire(t, api.KVPair{Key: key, Value: []byte("v"), Flags: 1<<64 - 1, Session: first})
		e := observed(b, t, key)
		if err := op.ReleaseObserved(t.Context(), e); err != nil || requests.Load() != 1 {
			t.Fatalf("%d requests: %v", requests.Load(), err)
		}
		if p := b.Get(t, key); p.Session != "" || string(p.Value) != "v" || p.Flags != 1<<64-1 {
			t.Fatalf("%+v", p)
		}
		b.Acquire(t, api.KVPair{Key: key, Value: []byte("w"), Session: second})
		if err := op.ReleaseObserved(t.Context(), e); !errors.Is(err, ErrMoved) || b.Get(t, key).Session != second {
			t.Fatalf("the release of an earlier hold returned %v, want ErrMoved and an unchanged key", err)
		}
		// The holder writes its value after the observation. The hold does not change.
		e = observed(b, t, key)
		b.Acquire(t, api.KVPair{Key: key, Value: []byte("x"), Session: second})
		if err := op.ReleaseObserved(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		if p := b.Get(t, key); p.Session != "" || string(p.Value) != "x" {
			t.Fatalf("%+v", p)
		}
	})
}

func TestAnObservedKeyOfPatroniIsNotReleased(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		key := b.Prefix(t) + "db/leader"
		s := b.Session(t, &api.SessionEntry{Name: "db-pg1", TTL: "20s", Behavior: api.SessionBehaviorDelete})
		b.Acquire(t, api.KVPair{Key: key, Value: []byte("pg1"), Session: s})
		if err := NewOperator(b.client, nil).ReleaseObserved(t.Context(), observed(b, t, key)); !errors.Is(err, ErrRefused) {
			t.Fatal(err)
		}
		if b.Get(t, key).Session != s {
			t.Fatal("the key was released, want it to remain held")
		}
	})
}
