package observe

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
	"electop/internal/consultest"
)

// beforeRestore saves a snapshot while one session leads, and then makes another session the leader. The returned
// function restores the snapshot.
func beforeRestore(t *testing.T) (b backend, key, one string, restore func()) {
	t.Helper()
	b, key = newBackend(t, consulx.Config{Address: consultest.Dev(t).Addr()}), "service/web/leader"
	one = b.Session(t, &api.SessionEntry{Name: "one"})
	two := b.Session(t, &api.SessionEntry{Name: "two"})
	b.Acquire(t, api.KVPair{Key: key, Session: one, Value: []byte("one")})
	saved, _, err := b.API.Snapshot().Save(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = saved.Close() }()
	image, err := io.ReadAll(saved)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.API.KV().Release(&api.KVPair{Key: key, Session: one, Value: []byte("one")}, nil); err != nil {
		t.Fatal(err)
	}
	b.Acquire(t, api.KVPair{Key: key, Session: two, Value: []byte("two")})
	return b, key, one, func() {
		if err := b.API.Snapshot().Restore(nil, bytes.NewReader(image)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestObserverFollowsARestore(t *testing.T) {
	b, key, one, restore := beforeRestore(t)
	board := observe(t, b.client)
	e, _ := board.event(0, election.Elected, key)
	if e.Leader != "two" {
		t.Fatalf("before the restore, the leader is in the event %+v, want two", e)
	}
	restore()
	board.until("the restored leader", func() bool {
		e := board.last.Find(election.KeyID(key))
		return e != nil && e.Pair.Session == one
	})
	n := board.count()
	b.Put(t, "service/web/other", "ends no query of the observer")
	if _, _, err := b.API.KV().Release(&api.KVPair{Key: key, Session: one}, nil); err != nil {
		t.Fatal(err)
	}
	_, _ = board.event(n, election.Vacated, key)
}

func TestUnreadableKeysAreKept(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	root := newBackend(t, consulx.Config{Address: agent.Addr(), Token: agent.Token()})
	s := root.Session(t, &api.SessionEntry{})
	for _, key := range []string{"service/a/leader", "service/b/leader"} {
		root.Acquire(t, api.KVPair{Key: key, Session: s})
	}
	rules := `key_prefix "service/" { policy = "read" } session_prefix "" { policy = "read" } node_prefix "" { policy = "read" }`
	policy, _, err := root.API.ACL().PolicyCreate(&api.ACLPolicy{Name: "board", Rules: rules}, nil)
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := root.API.ACL().TokenCreate(&api.ACLToken{Policies: []*api.ACLLink{{ID: policy.ID}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	board := observeBriefly(t, newClient(t, consulx.Config{Address: agent.Addr(), Token: token.SecretID}))
	_, n := board.event(0, election.Elected, "service/b/leader")

	// The token loses the permission for one key. A write then ends the blocking query.
	policy.Rules = rules + ` key "service/b/leader" { policy = "deny" }`
	if _, _, err := root.API.ACL().PolicyUpdate(policy, nil); err != nil {
		t.Fatal(err)
	}
	board.until("a hidden key", func() bool {
		root.Put(t, "service/wake", time.Now().String())
		e := board.last.Find("service/b/leader")
		return e != nil && e.Unreadable && e.Exists
	})
	// The deletion of a readable key must be reported.
	if _, err := root.API.KV().Delete("service/a/leader", nil); err != nil {
		t.Fatal(err)
	}
	_, n = board.event(n, election.Vacated, "service/a/leader")

	if _, err := root.API.ACL().TokenDelete(token.AccessorID, nil); err != nil {
		t.Fatal(err)
	}
	lost := func() bool {
		root.Put(t, "service/wake", time.Now().String())
		return slices.ContainsFunc(board.events[n:], func(e election.Event) bool { return e.Type == election.ConnectionLost })
	}
	board.until("a refusal", lost)
	for _, e := range board.of("service/b/leader") {
		if e.Type == election.Vacated {
			t.Errorf("an unreadable key was reported as vacated: %+v", e)
		}
	}
}

func TestAnonymousCallerGetsTheMissingPermission(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	root := newBackend(t, consulx.Config{Address: agent.Addr(), Token: agent.Token()})
	s := root.Session(t, &api.SessionEntry{})
	root.Acquire(t, api.KVPair{Key: "service/a/leader", Session: s})
	anonymous := newClient(t, consulx.Config{Address: agent.Addr()})
	board := observe(t, anonymous)
	board.until("a filtered response", func() bool { return board.last.Loaded && board.last.Filtered })
	look, err := Once(t.Context(), anonymous, patterns(t), election.HistoryRead{})
	if err != nil || !look.Filtered || len(look.Elections) != 0 {
		t.Fatalf("%+v, %v", look, err)
	}
}

func TestOnce(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix(t)
		for i := range consulx.ManySessions + 80 {
			s := b.Session(t, &api.SessionEntry{Name: "many"})
			b.Acquire(t, api.KVPair{Key: fmt.Sprint(p, i, "/leader"), Session: s})
		}
		b.Put(t, p+"free", "no leader")
		snapshot, err := Once(t.Context(), b.client, patterns(t, p+"*/leader", p+"free"), election.HistoryRead{})
		if err != nil {
			t.Fatal(err)
		}
		if !snapshot.Loaded || snapshot.Datacenter != "dc1" || snapshot.Connection.State != election.Live {
			t.Errorf("%+v", snapshot)
		}
		led, vacant := countStates(snapshot)
		if led != consulx.ManySessions+80 || vacant != 0 {
			t.Errorf("%d led, %d vacant; want %d and 0", led, vacant, consulx.ManySessions+80)
		}
		if e := snapshot.Find(election.KeyID(p + "free")); e == nil || e.State(snapshot.At) != election.Idle {
			t.Errorf("a key without a leader and without a candidate is not idle: %+v", e)
		}
		for _, e := range snapshot.Elections {
			if e.Pair.Held() && (e.Session == nil || e.Session.Node != b.Node) {
				t.Errorf("%s: session %+v", e.Key(), e.Session)
			}
		}
	})
	t.Run("unreachable", func(t *testing.T) {
		_, err := Once(t.Context(), newClient(t, consulx.Config{Address: "127.0.0.1:1"}), patterns(t), election.HistoryRead{})
		if consulx.Describe(err) != "cannot reach Consul at 127.0.0.1:1: connection refused" {
			t.Errorf("got %v", err)
		}
	})
}
