package consultest

import (
	"bytes"
	"cmp"
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

// Poll waits until a condition is true. It returns false if the condition is not true within the limit.
func Poll(limit time.Duration, holds func() bool) bool {
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(limit); !holds(); <-tick.C {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
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
		Must(t, err)
		t.Cleanup(func() { _ = s.Close() })
		test(t, s.Addr())
	})
	t.Run("consul", func(t *testing.T) { test(t, Shared(t).Addr()) })
}

// NewBackend returns a backend for the Consul agent at an address.
func NewBackend(t *testing.T, addr string, client *api.Client) Backend {
	t.Helper()
	node, err := client.Agent().NodeName()
	Must(t, err)
	return Backend{T: t, Addr: addr, API: client, Node: node}
}

// Prefix returns a key prefix that no other test uses.
func (b Backend) Prefix() string {
	b.T.Helper()
	// A lock-delay may last longer than a test. It applies to the name of a key, even after the key is deleted.
	p := fmt.Sprintf("test/%s_%d/", strings.NewReplacer("/", "_", "#", "_", ",", "").Replace(b.T.Name()), time.Now().UnixNano())
	b.T.Cleanup(func() {
		if _, err := b.API.KV().DeleteTree(p, nil); err != nil {
			b.T.Error(err)
		}
	})
	return p
}

// Session creates a session without checks. The lock-delay is 1 ms unless an entry sets another one.
func (b Backend) Session(entry ...api.SessionEntry) string {
	b.T.Helper()
	e := append(entry, api.SessionEntry{})[0]
	e.LockDelay = cmp.Or(e.LockDelay, time.Millisecond)
	id, _, err := b.API.Session().CreateNoChecks(&e, nil)
	Must(b.T, err)
	b.T.Cleanup(func() { _, _ = b.API.Session().Destroy(id, nil) })
	return id
}

// Acquire locks a key. It retries until it succeeds, and fails the test after [Patience].
func (b Backend) Acquire(p api.KVPair) {
	b.T.Helper()
	deadline := time.Now().Add(Patience)
	for {
		ok, _, err := b.API.KV().Acquire(&p, nil)
		Must(b.T, err)
		if ok {
			return
		}
		if time.Now().After(deadline) {
			b.T.Fatalf("cannot acquire %s before the timeout", p.Key)
		}
	}
}

// Get reads a key. It returns nil if the key does not exist.
func (b Backend) Get(key string) *api.KVPair {
	b.T.Helper()
	p, _, err := b.API.KV().Get(key, nil)
	Must(b.T, err)
	return p
}

// Put writes a key.
func (b Backend) Put(key, value string) {
	b.T.Helper()
	_, err := b.API.KV().Put(&api.KVPair{Key: key, Value: []byte(value)}, nil)
	Must(b.T, err)
}

// Delete deletes a key.
func (b Backend) Delete(key string) {
	b.T.Helper()
	_, err := b.API.KV().Delete(key, nil)
	Must(b.T, err)
}

// DeleteTree deletes all keys under a prefix.
func (b Backend) DeleteTree(prefix string) {
	b.T.Helper()
	_, err := b.API.KV().DeleteTree(prefix, nil)
	Must(b.T, err)
}

// Release unlocks a key, and clears its value and flags.
func (b Backend) Release(key, session string) {
	b.T.Helper()
	if ok, _, err := b.API.KV().Release(&api.KVPair{Key: key, Session: session}, nil); err != nil || !ok {
		b.T.Fatal(ok, err)
	}
}

// Destroy ends a session.
func (b Backend) Destroy(session string) {
	b.T.Helper()
	_, err := b.API.Session().Destroy(session, nil)
	Must(b.T, err)
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
func (b Backend) Token(rules string) string {
	b.T.Helper()
	token := &api.ACLToken{}
	if rules != "" {
		name := fmt.Sprint("rules-", time.Now().UnixNano())
		policy, _, err := b.API.ACL().PolicyCreate(&api.ACLPolicy{Name: name, Rules: rules}, nil)
		Must(b.T, err)
		token.Policies = []*api.ACLLink{{ID: policy.ID}}
	}
	made, _, err := b.API.ACL().TokenCreate(token, nil)
	Must(b.T, err)
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
