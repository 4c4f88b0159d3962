package consulx

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/election/insight"
	"electop/internal/consultest"
)

// consulLimit is the longest value that Consul accepts with its defaults.
const consulLimit = 512 << 10

// bytesOf makes a value that no compression and no text encoding shortens.
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
		t := b.t
		s := b.session(t, &api.SessionEntry{})
		for _, c := range []struct {
			size          int
			unconditional bool
		}{{300_000, false}, {392_000, false}, {393_200, true}, {400_000, true}, {consulLimit - 1, true}, {consulLimit, true}} {
			key := b.prefix(t) + "web/leader"
			value := bytesOf(c.size)
			b.acquire(t, api.KVPair{Key: key, Session: s, Value: value, Flags: 1<<64 - 1})
			before := b.get(t, key)
			released, err := NewOperator(b.client, nil).Release(t.Context(), targetOf(toPair(before)))
			if err != nil || released.Unconditional != c.unconditional || released.LostWrite {
				t.Fatalf("%d bytes: %+v, %v", c.size, released, err)
			}
			if (released.Note() != "") != c.unconditional {
				t.Errorf("%d bytes: the note is %q", c.size, released.Note())
			}
			after := b.get(t, key)
			if after.Session != "" || after.Flags != before.Flags || !bytes.Equal(after.Value, value) || after.LockIndex != before.LockIndex {
				t.Fatalf("%d bytes: session %q, flags %d, %d bytes", c.size, after.Session, after.Flags, len(after.Value))
			}
		}
	})
}

func TestReleaseOfLargeValuesWhereTheAgentAllowsLess(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithConfig(`limits { kv_max_value_size = 65536 txn_max_req_len = 65536 }`))
	b := newBackend(t, Config{Address: agent.Addr()})
	s := b.session(t, &api.SessionEntry{})
	key := b.prefix(t) + "web/leader"
	value := bytesOf(60_000)
	b.acquire(t, api.KVPair{Key: key, Session: s, Value: value, Flags: 7})
	released, err := NewOperator(b.client, nil).Release(t.Context(), targetOf(toPair(b.get(t, key))))
	if p := b.get(t, key); err != nil || !released.Unconditional || p.Session != "" || p.Flags != 7 || !bytes.Equal(p.Value, value) {
		t.Fatalf("%+v, %v: session %q, flags %d, %d bytes", released, err, p.Session, p.Flags, len(p.Value))
	}
}

// Without a transaction Consul would release another key.
func TestLargeValueOfAKeyThatConsulNormalizes(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.t
		s := b.session(t, &api.SessionEntry{})
		p := b.prefix(t)
		odd, plain := p+"web//leader", p+"web/leader"
		b.acquire(t, api.KVPair{Key: plain, Session: s, Value: []byte("untouched")})
		// A transaction cannot write such a value, so the client below is told
		// that the agent's limit is lower.
		lock := api.TxnOps{{KV: &api.KVTxnOp{Verb: api.KVLock, Key: odd, Value: []byte("v"), Session: s}}}
		if ok, r, _, err := b.api.Txn().Txn(lock, nil); err != nil || !ok {
			t.Fatal(ok, r, err)
		}
		addr := proxied(t, b.client.Address(), func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
			if isRelease(r) {
				w.WriteHeader(http.StatusRequestEntityTooLarge)
				return
			}
			forward.ServeHTTP(w, r)
		})
		before, err := b.client.readKey(t.Context(), odd)
		if err != nil {
			t.Fatal(err)
		}
		_, err = NewOperator(newClient(t, Config{Address: addr}), nil).Release(t.Context(), targetOf(*before))
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "nothing was written") {
			t.Fatalf("got %v", err)
		}
		after, err := b.client.readKey(t.Context(), odd)
		if err != nil || after.ModifyIndex != before.ModifyIndex || b.get(t, plain).Session != s {
			t.Fatalf("%+v, %v; %+v", after, err, b.get(t, plain))
		}
	})
}

// Consul's single-key release knows no index: what the holder writes meanwhile is
// lost, and the operator is told so.
func TestReleaseOfALargeValueTellsOfALostWrite(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.t
		s := b.session(t, &api.SessionEntry{})
		key := b.prefix(t) + "web/leader"
		old, newer := bytesOf(400_000), bytesOf(400_001)
		for what, between := range map[string]func(){
			"acquire with another value": func() { b.acquire(t, api.KVPair{Key: key, Session: s, Value: newer}) },
			"write without the lock":     func() { b.put(t, key, "overwritten") },
		} {
			b.acquire(t, api.KVPair{Key: key, Session: s, Value: old})
			client, hook := hooked(t, b.client.Address())
			// Writes that follow each other at once look like one to a blocking query.
			noticed := make(chan struct{})
			hook.after = func(r *http.Request) {
				if r.URL.Query().Has("index") {
					close(noticed)
				}
			}
			hook.before = func(r *http.Request) {
				if r.URL.Query().Has("release") {
					between()
					<-noticed
				}
			}
			released, err := NewOperator(client, nil).Release(t.Context(), targetOf(toPair(b.get(t, key))))
			if err != nil || !released.LostWrite || !strings.Contains(released.Note(), "before that write") {
				t.Errorf("%s: %+v, %v", what, released, err)
			}
		}
	})
}

func TestLargeValueOfAnotherHolderIsNotReleased(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.t
		one, two := b.session(t, &api.SessionEntry{}), b.session(t, &api.SessionEntry{})
		key := b.prefix(t) + "web/leader"
		b.acquire(t, api.KVPair{Key: key, Session: one, Value: bytesOf(400_000)})
		client, hook := hooked(t, b.client.Address())
		hook.before = func(r *http.Request) {
			if r.URL.Query().Has("release") {
				if _, _, err := b.api.KV().Release(&api.KVPair{Key: key, Session: one}, nil); err != nil {
					t.Error(err)
				}
				b.acquire(t, api.KVPair{Key: key, Session: two, Value: []byte("two")})
			}
		}
		_, err := NewOperator(client, nil).Release(t.Context(), targetOf(toPair(b.get(t, key))))
		if p := b.get(t, key); !errors.Is(err, ErrMoved) || p.Session != two || string(p.Value) != "two" {
			t.Fatalf("%v: %s", err, p.Session)
		}
	})
}

func TestCandidateGivesUpALargeValue(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.t
		value := bytesOf(consulLimit)
		for i, giveUp := range []func(*Candidate, context.Context) error{(*Candidate).Resign, (*Candidate).Close} {
			key := fmt.Sprint(b.prefix(t), i, "/leader")
			c := NewCandidate(b.client, CandidateOptions{Key: key, Value: value, Flags: 3, Session: SessionOptions{NodeChecks: []string{}}})
			if _, err := c.Campaign(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := giveUp(c, t.Context()); err != nil {
				t.Errorf("%d: %v", i, err)
			}
			if p := b.get(t, key); p.Session != "" || p.Flags != 3 || !bytes.Equal(p.Value, value) {
				t.Errorf("%d: session %q, flags %d, %d bytes", i, p.Session, p.Flags, len(p.Value))
			}
			if err := c.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

// The warning before a release and the release itself agree on which values are
// too large, but for a few KB in which electop warns needlessly.
func TestTheWarningAgreesWithTheRelease(t *testing.T) {
	c := &Client{namespace: strings.Repeat("n", 64), partition: strings.Repeat("p", 64)}
	p := election.Pair{Key: strings.Repeat("k", 512), Session: "695bfbd0-6350-7587-addf-a18084928f3c", ModifyIndex: 1 << 60, Flags: 1<<64 - 1}
	for size := 380_000; size < 400_000; size += 100 {
		p.Value = make([]byte, size)
		body, err := json.Marshal(c.unlockOps(&p))
		if err != nil {
			t.Fatal(err)
		}
		e := &election.Election{Exists: true, Pair: p, Session: &election.Session{ID: p.Session}}
		warned := strings.Contains(strings.Join(insight.EffectOf(election.ActionRelease, e, nil, 1).Warnings, " "), "too large for a transaction")
		if large := len(body) >= insight.TxnBodyLimit; large && !warned || warned && len(body) < insight.TxnBodyLimit-4<<10 {
			t.Errorf("%d bytes of value, %d of body: warned %t", size, len(body), warned)
		}
	}
}
