package consulx

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/internal/consultest"
)

func TestReleaseKeepsValueAndFlagsAndTheNextLockSucceeds(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		key := b.Prefix(t) + "web/leader"
		value := []byte("{\"Node\":\"web-1\"}\x00\xff")
		lock := func() *api.Lock {
			l, err := b.API.LockOpts(&api.LockOptions{Key: key, Value: value})
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		first, second := lock(), lock()
		lost, err := first.Lock(nil)
		if err != nil {
			t.Fatal(err)
		}
		before := b.Get(t, key)
		waiter := make(chan error, 1)
		go func() {
			_, err := second.Lock(nil)
			waiter <- err
		}()
		op := NewOperator(b.client, nil)
		target := targetOf(PairOf(before))
		if err := op.Release(t.Context(), target); err != nil {
			t.Fatal(err)
		}
		<-lost
		select {
		case err := <-waiter:
			if err != nil {
				t.Fatalf("the next candidate failed: %v", err)
			}
		case <-time.NewTimer(patience).C:
			t.Fatal("the next candidate did not acquire the key")
		}
		after := b.Get(t, key)
		if !bytes.Equal(after.Value, value) || after.Flags != api.LockFlagValue || after.Session == before.Session {
			t.Fatalf("after the release the key is %+v, want value %q, the flags of Consul's lock and another session than %s", after, value, before.Session)
		}
		_ = first.Unlock()
		if err := second.Unlock(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestReleaseIsByteExact(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix(t)
		s := b.Session(t, &api.SessionEntry{})
		for i, pair := range []api.KVPair{
			{Key: p + "plain", Value: []byte("v")},
			{Key: p + "empty", Flags: 1},
			{Key: p + "flags", Flags: 1<<64 - 1, Value: []byte{0, 0xff, '\n'}},
			{Key: p + "odd //./../key\x1b?#%2f", Flags: 7, Value: []byte("odd")},
		} {
			lock := api.TxnOps{{KV: &api.KVTxnOp{
				Verb: api.KVLock, Key: pair.Key, Value: pair.Value, Flags: pair.Flags, Session: s,
			}}}
			if ok, r, _, err := b.API.Txn().Txn(lock, nil); err != nil || !ok {
				t.Fatal(ok, r, err)
			}
			before, err := b.client.ReadKey(t.Context(), pair.Key)
			if err != nil || before == nil {
				t.Fatal(before, err)
			}
			target := targetOf(*before)
			if err := NewOperator(b.client, nil).Release(t.Context(), target); err != nil {
				t.Fatalf("pair %d: %v", i, err)
			}
			after, err := b.client.ReadKey(t.Context(), pair.Key)
			if err != nil || after.Held() || after.Flags != pair.Flags || !bytes.Equal(after.Value, pair.Value) ||
				after.LockIndex != before.LockIndex {
				t.Fatalf("pair %d: %+v became %+v, %v; want only the session removed", i, before, after, err)
			}
		}
	})
}

func TestNothingIsReleasedWhenTheLockStateChanged(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		key := b.Prefix(t) + "web/leader"
		s := b.Session(t, &api.SessionEntry{})
		b.Acquire(t, api.KVPair{Key: key, Session: s, Value: []byte("old")})
		target := targetOf(PairOf(b.Get(t, key)))
		b.Release(t, key, s)
		b.Acquire(t, api.KVPair{Key: key, Session: s, Value: []byte("old")})
		if err := NewOperator(b.client, nil).Release(t.Context(), target); !errors.Is(err, ErrMoved) || b.Get(t, key).Session != s {
			t.Errorf("another term of the same session: %v", err)
		}
		read, err := b.client.ReadKey(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		b.Acquire(t, api.KVPair{Key: key, Session: s, Value: []byte("new")})
		if err := b.client.release(t.Context(), read); !errors.Is(err, ErrMoved) {
			t.Errorf("a write after the read: %v", err)
		}
		if p := b.Get(t, key); p.Session != s || string(p.Value) != "new" {
			t.Errorf("the key is %+v, want value new and session %s", p, s)
		}
	})
}

// shown returns the destroy of a session that holds exactly the key of the target.
func shown(target election.Target) election.Destroy {
	d := election.Destroy{Target: target, Shown: time.Now()}
	if target.Key != "" {
		d.Keys = []string{target.Key}
	}
	return d
}

// targetOf returns the hold in a pair that was read.
func targetOf(p election.Pair) election.Target {
	e := election.Election{Exists: true, Pair: p, Term: p.LockIndex}
	return e.Target()
}

func TestOperatorUnderACLs(t *testing.T) {
	root, with := underACLs(t)
	target := root.hold(t)
	key := target.Key
	before := root.Get(t, key)
	reader := root.Token(t, `key_prefix "test/" { policy = "read" } session_prefix "" { policy = "read" }`)
	for name, token := range map[string]string{
		"reader": reader, "nobody": root.Token(t, ""), "anonymous": "", "unknown": "e1ec0709-0000-4000-8000-00000000dead",
	} {
		t.Setenv("CONSUL_HTTP_TOKEN", "")
		op := NewOperator(newClient(t, Config{Address: root.Addr, Token: token}), nil)
		destroyed := op.DestroySession(t.Context(), shown(target))
		released := op.Release(t.Context(), target)
		for _, err := range []error{released, destroyed} {
			if !errors.Is(err, ErrDenied) || token != "" && strings.Contains(err.Error(), token) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if after := root.Get(t, key); after.ModifyIndex != before.ModifyIndex {
		t.Fatalf("the key was written: got %+v, want %+v", after, before)
	}
	writer := with(`key_prefix "test/" { policy = "write" }`)
	if err := NewOperator(writer, nil).Release(t.Context(), target); err != nil {
		t.Fatal(err)
	}
}

// The plan of a dashboard with several datacenters must not reach another one. Consul replaces bytes that are not UTF-8.
func TestNothingIsSentForATargetThatCannotBeReached(t *testing.T) {
	client := newClient(t, Config{Address: "consul.test", Datacenter: "dc1", Transport: consultest.RoundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/v1/txn" || isDestroy(r) {
			t.Errorf("%s was requested", r.URL)
		}
		return consultest.Answer(r, 200, 7, `[{"ID":"s","Node":"n","Behavior":"release"}]`), nil
	})})
	op := NewOperator(client, nil)
	for want, target := range map[string]election.Target{
		"the target is in datacenter dc2": {Key: "k", Session: "s", Datacenter: "dc2"}, "is not UTF-8": {Key: "a\xff", Session: "s"},
		"is not UTF-8: ": {Key: "a\uFFFD", Session: "s"},
	} {
		for _, err := range []error{op.Release(t.Context(), target), op.DestroySession(t.Context(), shown(target))} {
			if !errors.Is(err, ErrRefused) || !strings.Contains(Describe(err), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
	}
}
