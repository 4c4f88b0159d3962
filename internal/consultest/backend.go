package consultest

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/memconsul"
)

// Patience is the timeout for results that normally arrive immediately.
const Patience = time.Minute

// Must fails a test if there is an error.
func Must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Backend is the Consul agent that a test uses: a real agent or an in-process one.
type Backend struct {
	T    *testing.T
	Addr string
	API  *api.Client
	Node string
}

// OnBoth runs a test with an in-process Consul agent, and then with a real one.
func OnBoth(t *testing.T, test func(t *testing.T, addr string)) {
	t.Helper()
	t.Run("memconsul", func(t *testing.T) {
		s, err := memconsul.Start(memconsul.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		test(t, s.Addr())
	})
	t.Run("consul", func(t *testing.T) { test(t, Shared(t).Addr()) })
}

// NewBackend returns a backend for the Consul agent at an address.
func NewBackend(t *testing.T, addr string, client *api.Client) Backend {
	t.Helper()
	node, err := client.Agent().NodeName()
	if err != nil {
		t.Fatal(err)
	}
	return Backend{T: t, Addr: addr, API: client, Node: node}
}

// Prefix returns a key prefix that no other test uses.
func (b Backend) Prefix(t *testing.T) string {
	t.Helper()
	// A lock-delay may last longer than a test. It applies to the name of a key, even after the key is deleted.
	p := fmt.Sprintf("test/%s_%d/", strings.NewReplacer("/", "_", "#", "_", ",", "").Replace(t.Name()), time.Now().UnixNano())
	t.Cleanup(func() {
		if _, err := b.API.KV().DeleteTree(p, nil); err != nil {
			t.Error(err)
		}
	})
	return p
}

// Session creates a session without checks. The lock-delay is 1 ms if entry does not set one.
func (b Backend) Session(t *testing.T, entry *api.SessionEntry) string {
	t.Helper()
	if entry.LockDelay == 0 {
		entry.LockDelay = time.Millisecond
	}
	id, _, err := b.API.Session().CreateNoChecks(entry, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = b.API.Session().Destroy(id, nil) })
	return id
}

// Acquire locks a key. It retries until it succeeds, and fails the test after [Patience].
func (b Backend) Acquire(t *testing.T, p api.KVPair) {
	t.Helper()
	deadline := time.Now().Add(Patience)
	for {
		ok, _, err := b.API.KV().Acquire(&p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("cannot acquire %s before the timeout", p.Key)
		}
	}
}

// Get reads a key. It returns nil if the key does not exist.
func (b Backend) Get(t *testing.T, key string) *api.KVPair {
	t.Helper()
	p, _, err := b.API.KV().Get(key, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Put writes a key.
func (b Backend) Put(t *testing.T, key, value string) {
	t.Helper()
	if _, err := b.API.KV().Put(&api.KVPair{Key: key, Value: []byte(value)}, nil); err != nil {
		t.Fatal(err)
	}
}

// Delete deletes a key.
func (b Backend) Delete(t *testing.T, key string) {
	t.Helper()
	if _, err := b.API.KV().Delete(key, nil); err != nil {
		t.Fatal(err)
	}
}

// DeleteTree deletes all keys under a prefix.
func (b Backend) DeleteTree(t *testing.T, prefix string) {
	t.Helper()
	if _, err := b.API.KV().DeleteTree(prefix, nil); err != nil {
		t.Fatal(err)
	}
}

// Release unlocks a key, and clears its value and flags.
func (b Backend) Release(t *testing.T, key, session string) {
	t.Helper()
	if ok, _, err := b.API.KV().Release(&api.KVPair{Key: key, Session: session}, nil); err != nil || !ok {
		t.Fatal(ok, err)
	}
}

// Destroy ends a session.
func (b Backend) Destroy(t *testing.T, session string) {
	t.Helper()
	if _, err := b.API.Session().Destroy(session, nil); err != nil {
		t.Fatal(err)
	}
}

// RoundTripper is an http.RoundTripper that calls a function.
type RoundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f RoundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Answer returns an HTTP response with this body and Consul's headers.
func Answer(r *http.Request, status, index int, body string) *http.Response {
	header := http.Header{"X-Consul-Index": {fmt.Sprint(index)}, "X-Consul-Knownleader": {"true"}}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}
}

// Hook is an http.RoundTripper that calls Before before each request, and After when the request has ended.
type Hook struct {
	Next          http.RoundTripper
	Before, After func(*http.Request)
}

// RoundTrip sends the request.
func (h *Hook) RoundTrip(r *http.Request) (*http.Response, error) {
	if h.Before != nil {
		h.Before(r)
	}
	response, err := h.Next.RoundTrip(r)
	if h.After != nil {
		h.After(r)
	}
	return response, err
}

// Token creates an ACL token with these rules.
func (b Backend) Token(t *testing.T, rules string) string {
	t.Helper()
	token := &api.ACLToken{}
	if rules != "" {
		name := fmt.Sprint("rules-", time.Now().UnixNano())
		policy, _, err := b.API.ACL().PolicyCreate(&api.ACLPolicy{Name: name, Rules: rules}, nil)
		if err != nil {
			t.Fatal(err)
		}
		token.Policies = []*api.ACLLink{{ID: policy.ID}}
	}
	made, _, err := b.API.ACL().TokenCreate(token, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made.SecretID
}

// ReverseProxy starts a proxy in front of a Consul agent and returns its address. handle receives each request and the
// handler that forwards it.
func ReverseProxy(t *testing.T, addr string, handle func(w http.ResponseWriter, r *http.Request, forward http.Handler)) string {
	t.Helper()
	forward := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: addr})
	transport := &http.Transport{}
	forward.Transport = transport
	forward.ErrorLog = log.New(io.Discard, "", 0)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The server closes the request body when the response begins. If the proxy were still reading the body, it
		// would log an error.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		handle(w, r, forward)
	}))
	t.Cleanup(func() {
		s.Close()
		transport.CloseIdleConnections()
	})
	return strings.TrimPrefix(s.URL, "http://")
}
