package consulx

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/consulx/internal/wire"
	"electop/internal/consultest"
)

// consulLimit is the maximum length of a value with Consul's default configuration.
const consulLimit = 512 << 10

// bytesOf returns a value that neither compression nor text encoding can make shorter.
func bytesOf(n int) []byte {
	value := make([]byte, n)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range value {
		value[i] = byte(r.Uint32())
	}
	return value
}

func TestReleaseOfLargeValues(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		s := b.Session(t, &api.SessionEntry{})
		for _, c := range []struct {
			size          int
			unconditional bool
		}{{300_000, false}, {392_000, false}, {393_200, true}, {400_000, true}, {consulLimit - 1, true}, {consulLimit, true}} {
			key := b.Prefix(t) + "web/leader"
			value := bytesOf(c.size)
			b.Acquire(t, api.KVPair{Key: key, Session: s, Value: value, Flags: 1<<64 - 1})
			before := b.Get(t, key)
			released, err := NewOperator(b.client, nil).Release(t.Context(), targetOf(wire.Pair(before)))
			if err != nil || released.Unconditional != c.unconditional || released.LostWrite {
				t.Fatalf("%d bytes: %+v, %v", c.size, released, err)
			}
			if (released.Note() != "") != c.unconditional {
				t.Errorf("%d bytes: the note is %q, want a note: %t", c.size, released.Note(), c.unconditional)
			}
			after := b.Get(t, key)
			if after.Session != "" || after.Flags != before.Flags || !bytes.Equal(after.Value, value) || after.LockIndex != before.LockIndex {
				t.Fatalf("%d bytes: the release left session %q, flags %d, %d bytes; want no session and the same content", c.size, after.Session, after.Flags, len(after.Value))
			}
		}
	})
}

func TestReleaseOfLargeValuesWhereTheAgentAllowsLess(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithConfig(`limits { kv_max_value_size = 65536 txn_max_req_len = 65536 }`))
	b := newBackend(t, Config{Address: agent.Addr()})
	s := b.Session(t, &api.SessionEntry{})
	key := b.Prefix(t) + "web/leader"
	value := bytesOf(60_000)
	b.Acquire(t, api.KVPair{Key: key, Session: s, Value: value, Flags: 7})
	released, err := NewOperator(b.client, nil).Release(t.Context(), targetOf(wire.Pair(b.Get(t, key))))
	if p := b.Get(t, key); err != nil || !released.Unconditional || p.Session != "" || p.Flags != 7 || !bytes.Equal(p.Value, value) {
		t.Fatalf("got %+v, %v, then session %q, flags %d, %d bytes; want an unconditional release that keeps the content", released, err, p.Session, p.Flags, len(p.Value))
	}
}

// The single-key endpoint would release another key.
func TestLargeValueOfAKeyThatConsulNormalizes(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		s := b.Session(t, &api.SessionEntry{})
		p := b.Prefix(t)
		odd, plain := p+"web//leader", p+"web/leader"
		b.Acquire(t, api.KVPair{Key: plain, Session: s, Value: []byte("untouched")})
		// A transaction cannot create this key with a large value, so the test uses a small value and the proxy below
		// rejects its transaction as too large.
		lock := api.TxnOps{{KV: &api.KVTxnOp{Verb: api.KVLock, Key: odd, Value: []byte("v"), Session: s}}}
		if ok, r, _, err := b.API.Txn().Txn(lock, nil); err != nil || !ok {
			t.Fatal(ok, r, err)
		}
		addr := consultest.ReverseProxy(t, b.client.Address(), func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
			if isRelease(r) {
				w.WriteHeader(http.StatusRequestEntityTooLarge)
				return
			}
			forward.ServeHTTP(w, r)
		})
		before, err := b.client.ReadKey(t.Context(), odd)
		if err != nil {
			t.Fatal(err)
		}
		_, err = NewOperator(newClient(t, Config{Address: addr}), nil).Release(t.Context(), targetOf(*before))
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "nothing was written") {
			t.Fatalf("got %v", err)
		}
		after, err := b.client.ReadKey(t.Context(), odd)
		if err != nil || after.ModifyIndex != before.ModifyIndex || b.Get(t, plain).Session != s {
			t.Fatalf("%+v, %v; %+v", after, err, b.Get(t, plain))
		}
	})
}

// Consul's single-key release does not check the index, so it overwrites a concurrent write of the holder. The
// operator must get a warning.
func TestReleaseOfALargeValueReportsALostWrite(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		s := b.Session(t, &api.SessionEntry{})
		key := b.Prefix(t) + "web/leader"
		old, newer := bytesOf(400_000), bytesOf(400_001)
		for what, between := range map[string]func(){
			"acquire with another value": func() { b.Acquire(t, api.KVPair{Key: key, Session: s, Value: newer}) },
			"write without the lock":     func() { b.Put(t, key, "overwritten") },
		} {
			b.Acquire(t, api.KVPair{Key: key, Session: s, Value: old})
			client, hook := hooked(t, b.client.Address())
			// A blocking query cannot distinguish writes that are less than a millisecond apart.
			noticed := make(chan struct{})
			hook.After = func(r *http.Request) {
				if r.URL.Query().Has("index") {
					close(noticed)
				}
			}
			hook.Before = func(r *http.Request) {
				if r.URL.Query().Has("release") {
					between()
					<-noticed
				}
			}
			released, err := NewOperator(client, nil).Release(t.Context(), targetOf(wire.Pair(b.Get(t, key))))
			if err != nil || !released.LostWrite || !strings.Contains(released.Note(), "with the previous one") {
				t.Errorf("%s: %+v, %v", what, released, err)
			}
		}
	})
}

func TestLargeValueOfAnotherHolderIsNotReleased(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		one, two := b.Session(t, &api.SessionEntry{}), b.Session(t, &api.SessionEntry{})
		key := b.Prefix(t) + "web/leader"
		b.Acquire(t, api.KVPair{Key: key, Session: one, Value: bytesOf(400_000)})
		client, hook := hooked(t, b.client.Address())
		hook.Before = func(r *http.Request) {
			if r.URL.Query().Has("release") {
				if _, _, err := b.API.KV().Release(&api.KVPair{Key: key, Session: one}, nil); err != nil {
					t.Error(err)
				}
				b.Acquire(t, api.KVPair{Key: key, Session: two, Value: []byte("two")})
			}
		}
		_, err := NewOperator(client, nil).Release(t.Context(), targetOf(wire.Pair(b.Get(t, key))))
		if p := b.Get(t, key); !errors.Is(err, ErrMoved) || p.Session != two || string(p.Value) != "two" {
			t.Fatalf("%v: %s", err, p.Session)
		}
	})
}
