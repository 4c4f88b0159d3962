package observe

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
	"electop/internal/consultest"
)

func TestObserverRecoversFromAnAgentThatWasKilled(t *testing.T) {
	agent := consultest.Server(t)
	b := newBackend(t, consulx.Config{Address: agent.Addr()})
	s := b.Session(t, &api.SessionEntry{Name: "web-1"})
	b.Acquire(t, api.KVPair{Key: "service/web/leader", Session: s, Value: []byte("web-1")})
	board := observe(t, b.client)
	_, n := board.event(0, election.Elected, "service/web/leader")
	if err := agent.Kill(); err != nil {
		t.Fatal(err)
	}
	_, n = board.event(n, election.ConnectionLost, "")
	board.until("a stale board", func() bool {
		return board.last.Connection.State == election.Lost && board.last.Find("service/web/leader").Leader == "web-1"
	})
	if err := agent.Restart(); err != nil {
		t.Fatal(err)
	}
	_, n = board.event(n, election.ConnectionRestored, "")
	b.Acquire(t, api.KVPair{Key: "service/mail/leader", Session: s})
	_, _ = board.event(n, election.Elected, "service/mail/leader")
	for _, e := range board.of("service/web/leader") {
		if e.Type == election.Vacated {
			t.Errorf("a term that continues was reported as ended: %+v", e)
		}
	}
}

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

// A restore between two queries ends neither of them. The second query waits for an index that the store no longer
// has.
func TestARestoreBetweenTwoQueriesIsDetected(t *testing.T) {
	t.Run("one pattern", func(t *testing.T) { restoreBetweenTwoQueries(t, "service/*/leader") })
	t.Run("the first pattern is not readable", func(t *testing.T) {
		restoreBetweenTwoQueries(t, "another/*/leader", "service/*/leader")
	})
}

func restoreBetweenTwoQueries(t *testing.T, patterns ...string) {
	t.Helper()
	b, key, one, restore := beforeRestore(t)
	held, probed, restored := make(chan struct{}, 1), make(chan struct{}, 2), make(chan struct{})
	consul := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: b.client.Address()})
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/kv/another/") {
			http.Error(w, "Permission denied", http.StatusForbidden)
			return
		}
		if r.URL.Query().Has("index") && strings.HasPrefix(r.URL.Path, "/v1/kv/") {
			select {
			case held <- struct{}{}:
			default:
			}
			select {
			case <-restored:
			case <-r.Context().Done():
				return
			}
		}
		consul.ServeHTTP(w, r)
		if strings.HasSuffix(r.URL.Path, "/no-such-key") {
			select {
			case probed <- struct{}{}:
			default:
			}
		}
	}))
	t.Cleanup(proxy.Close)
	board := observe(t, newClient(t, consulx.Config{Address: proxy.Listener.Addr().String()}), patterns...)
	_, n := board.event(0, election.Elected, key)
	<-held
	for range cap(probed) { // the second probe begins after the first has stored its index
		<-probed
	}
	restore()
	close(restored)
	if e, _ := board.event(n, election.Elected, key); e.Session != one {
		t.Errorf("%+v", e)
	}
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
	look, err := Once(t.Context(), anonymous, patterns(t))
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
		snapshot, err := Once(t.Context(), b.client, patterns(t, p+"*/leader", p+"free"))
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
		_, err := Once(t.Context(), newClient(t, consulx.Config{Address: "127.0.0.1:1"}), patterns(t))
		if consulx.Describe(err) != "cannot reach Consul at 127.0.0.1:1: connection refused" {
			t.Errorf("got %v", err)
		}
	})
}
