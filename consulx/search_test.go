package consulx

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/internal/consultest"
)

func nearby(t *testing.T, c *Client, texts ...string) Nearby {
	t.Helper()
	n, err := FindNearby(t.Context(), c, patterns(t, texts...))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNearbyLocksAreFoundNearestFirst(t *testing.T) {
	b := newBackend(t, Config{Address: consultest.Dev(t).Addr()})
	if n := nearby(t, b.client, "service/*/leader"); n.Readable || n.Hidden || !n.Complete || len(n.Locked) != 0 {
		t.Errorf("an empty store: %+v", n)
	}
	s := b.Session(t, &api.SessionEntry{})
	for _, key := range []string{"vault/core/lock", "service/web/lock", "services/api/leader"} {
		b.Acquire(t, api.KVPair{Key: key, Session: s})
	}
	b.Acquire(t, api.KVPair{Key: "batch/slots/" + s, Session: s, Flags: election.SemaphoreFlag})
	b.Put(t, "batch/slots/.lock", "{}")
	b.Put(t, "service/web/config", "{}")
	want := []string{"service/web/lock", "services/api/leader", "batch/slots/.lock", "vault/core/lock"}
	if n := nearby(t, b.client, "service/*/leader"); !slices.Equal(n.Locked, want) || !n.Complete || !n.Readable || n.Hidden {
		t.Errorf("%+v", n)
	}
	if n := nearby(t, b.client, "vault/core/lockk"); len(n.Locked) == 0 || n.Locked[0] != "vault/core/lock" {
		t.Errorf("a typo in a key: %+v", n)
	}
}

func TestSearchForNearbyLocksIsBounded(t *testing.T) {
	b := newBackend(t, Config{Address: consultest.Dev(t).Addr()})
	s := b.Session(t, &api.SessionEntry{})
	for i := range nearbyLocks + 2 {
		b.Acquire(t, api.KVPair{Key: fmt.Sprintf("lock/%d/leader", i), Session: s})
	}
	if n := nearby(t, b.client, "locks/*"); len(n.Locked) != nearbyLocks || n.Complete {
		t.Errorf("%+v", n)
	}
	for i := range nearbyFolders {
		b.Put(t, fmt.Sprintf("app/%d/config", i), "{}")
	}
	for i := range nearbyReads + 1 {
		b.Put(t, fmt.Sprintf("jobs/%d", i), "{}")
	}
	for _, pattern := range []string{"app/*/leader", "jobs/x*"} {
		if n := nearby(t, b.client, pattern); n.Complete {
			t.Errorf("%s: %+v", pattern, n)
		}
	}
}

func TestNearbyReportsReadableKeys(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	root := newBackend(t, Config{Address: agent.Addr(), Token: agent.Token()})
	root.Acquire(t, api.KVPair{Key: "service/web/leader", Session: root.Session(t, &api.SessionEntry{})})
	root.Put(t, "app/config", "{}")
	for rules, want := range map[string]Nearby{
		"":                                      {Hidden: true, Complete: true},
		`key_prefix "app/" { policy = "read" }`: {Hidden: true, Readable: true, Complete: true},
	} {
		c := newClient(t, Config{Address: agent.Addr(), Token: root.Token(t, rules)})
		n := nearby(t, c, "service/*/leader")
		if n.Hidden != want.Hidden || n.Readable != want.Readable || n.Complete != want.Complete || len(n.Locked) > 0 ||
			!strings.Contains(n.Rule, `key_prefix "service/"`) {
			t.Errorf("rules %q: %+v", rules, n)
		}
		if hidden, err := Hidden(t.Context(), c, "service/web/leader"); err != nil || !hidden {
			t.Errorf("rules %q: a key that exists: hidden %v, %v", rules, hidden, err)
		}
		if hidden, err := Hidden(t.Context(), c, "service/mail/leader"); err != nil || hidden {
			t.Errorf("rules %q: a key that does not exist: hidden %v, %v", rules, hidden, err)
		}
	}
	if n := nearby(t, newClient(t, Config{Address: agent.Addr()}), "service/*/leader"); !n.Anonymous || !n.Hidden || n.Readable {
		t.Errorf("without a token: %+v", n)
	}
}

func TestHoldings(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix(t)
		s, other := b.Session(t, &api.SessionEntry{}), b.Session(t, &api.SessionEntry{})
		for i := range 150 {
			b.Put(t, fmt.Sprintf("%sk%d", p, i), "v")
		}
		for _, key := range []string{"a", "k7", "odd//key\x1b", "z/z"} {
			lock := api.TxnOps{{KV: &api.KVTxnOp{Verb: api.KVLock, Key: p + key, Session: s}}}
			if ok, r, _, err := b.API.Txn().Txn(lock, nil); err != nil || !ok {
				t.Fatal(ok, r, err)
			}
		}
		b.Acquire(t, api.KVPair{Key: p + "other", Session: other})
		var done, total, calls int
		found, err := Holdings(t.Context(), b.client, []string{s}, func(d, n int) {
			if d < done {
				t.Errorf("%d keys after %d", d, done)
			}
			done, total = d, n
			calls++
		})
		want := []string{p + "a", p + "k7", p + "odd//key\x1b", p + "z/z"}
		if got := keysOf(found); err != nil || !slices.Equal(got, want) || done != total || total < 154 || calls < 3 {
			t.Fatalf("%q, %v; %d of %d in %d calls", got, err, done, total, calls)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if _, err = Holdings(ctx, b.client, []string{s}, func(int, int) { cancel() }); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped: %v", err)
		}
	})
}

func TestHoldingsUnderACLs(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	root := newBackend(t, Config{Address: agent.Addr(), Token: agent.Token()})
	s := root.Session(t, &api.SessionEntry{})
	root.Acquire(t, api.KVPair{Key: "seen/a", Session: s})
	root.Acquire(t, api.KVPair{Key: "unseen/b", Session: s})
	for rules, want := range map[string]int{
		"": 0, `key_prefix "seen/" { policy = "read" }`: 1, `key_prefix "" { policy = "read" }`: 2,
	} {
		c := newClient(t, Config{Address: agent.Addr(), Token: root.Token(t, rules)})
		found, err := Holdings(t.Context(), c, []string{s}, nil)
		if len(found) != want || errors.Is(err, ErrIncomplete) != (want < 2) || want == 2 && err != nil {
			t.Errorf("with %q: %v, %v", rules, found, err)
		}
	}
}
