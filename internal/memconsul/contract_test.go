package memconsul_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
	"electop/internal/memconsul"
)

var must = consultest.Must

// patience is the timeout for results that normally arrive immediately.
const patience = time.Minute

// fixture connects one case to one backend. No other case uses the same names.
type fixture struct {
	*testing.T
	base   string // http://host:port
	http   *http.Client
	client *api.Client
	prefix string // prefix of the keys
	unique string // suffix of the names of nodes, services and checks
}

// contract runs a case against this package and, without -short, against a real Consul agent.
func contract(t *testing.T, run func(*fixture)) {
	t.Helper()
	t.Parallel()
	t.Run("memconsul", func(t *testing.T) {
		t.Parallel()
		srv, err := memconsul.Start(memconsul.Config{})
		must(t, err)
		t.Cleanup(func() {
			if err := srv.Close(); err != nil {
				t.Error(err)
			}
		})
		run(newFixture(t, srv.Addr()))
	})
	t.Run("consul", func(t *testing.T) {
		t.Parallel()
		run(newFixture(t, consultest.Shared(t).Addr()))
	})
}

func newFixture(t *testing.T, addr string) *fixture {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	t.Cleanup(transport.CloseIdleConnections)
	hc := &http.Client{Transport: transport}
	client, err := api.NewClient(&api.Config{Address: addr, HttpClient: hc})
	must(t, err)
	// With -count, several runs use the same real agent, so names contain a random part.
	unique := strings.ToLower(regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(t.Name(), "-") + "-" + rand.Text()[:8])
	return &fixture{T: t, base: "http://" + addr, http: hc, client: client, prefix: unique + "/", unique: unique}
}

func (f *fixture) key(name string) string { return f.prefix + name }

// response is an HTTP response with its body.
type response struct {
	t      *testing.T
	code   int
	header http.Header
	body   string
}

func (r response) index() uint64 {
	r.t.Helper()
	n, err := strconv.ParseUint(r.header.Get("X-Consul-Index"), 10, 64)
	if err != nil {
		r.t.Fatalf("X-Consul-Index: %v", err)
	}
	return n
}

// do sends one request. It fails the case if it gets no response.
func (f *fixture) do(method, path, body string) response {
	f.Helper()
	r, err := f.try(context.Background(), method, path, body)
	must(f, err)
	return r
}

// try is like do, but does not call Fatal, which only the test's goroutine may call.
func (f *fixture) try(ctx context.Context, method, path, body string) (response, error) {
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, f.base+path, reader)
	if err != nil {
		return response{}, err
	}
	resp, err := f.http.Do(req)
	if err != nil {
		return response{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	return response{f.T, resp.StatusCode, resp.Header, string(data)}, err
}

func (f *fixture) get(path string) response { f.Helper(); return f.do(http.MethodGet, path, "") }

// put sends a PUT that must succeed and returns the response's body.
func (f *fixture) put(path, body string) string {
	f.Helper()
	r := f.do(http.MethodPut, path, body)
	if r.code != http.StatusOK {
		f.Fatalf("PUT %s: %d %s", path, r.code, r.body)
	}
	return r.body
}

// mustPut sends a PUT whose response must be true.
func (f *fixture) mustPut(path, body string) {
	f.Helper()
	if got := f.put(path, body); got != "true" {
		f.Fatalf("PUT %s: %s", path, got)
	}
}

// kvEntry is a key as in Consul's responses.
type kvEntry struct {
	LockIndex   uint64
	Key         string
	Session     *string
	CreateIndex uint64
	ModifyIndex uint64
}

func (e *kvEntry) session() string {
	if e == nil || e.Session == nil {
		return ""
	}
	return *e.Session
}

// entry reads a key. It returns nil if the key does not exist.
func (f *fixture) entry(key string) *kvEntry {
	f.Helper()
	r := f.get("/v1/kv/" + key + "?consistent")
	if r.code == http.StatusNotFound {
		return nil
	}
	var entries []kvEntry
	if err := json.Unmarshal([]byte(r.body), &entries); err != nil || len(entries) != 1 {
		f.Fatalf("GET %s: %d %s (%v)", key, r.code, r.body, err)
	}
	return &entries[0]
}

// session creates a session from the JSON fields and returns its ID.
func (f *fixture) session(fields map[string]any) string {
	f.Helper()
	body, err := json.Marshal(fields)
	must(f, err)
	var created struct{ ID string }
	must(f, json.Unmarshal([]byte(f.put("/v1/session/create", string(body))), &created))
	f.Cleanup(func() { f.put("/v1/session/destroy/"+created.ID, "") })
	return created.ID
}

// quickSession creates a session without a lock-delay.
func (f *fixture) quickSession() string {
	f.Helper()
	return f.session(map[string]any{"LockDelay": "0s"})
}

func (f *fixture) acquire(key, session, value string) bool {
	f.Helper()
	return f.put("/v1/kv/"+key+"?acquire="+session, value) == "true"
}

// sessionInfo reads a session in consistent mode.
func (f *fixture) sessionInfo(id string) string {
	f.Helper()
	return compact(f.T, f.get("/v1/session/info/"+id+"?consistent").body)
}

// eventually polls until the condition is true.
func (f *fixture) eventually(what string, holds func() bool) {
	f.Helper()
	if !consultest.Poll(patience, holds) {
		f.Fatalf("not within %s: %s", patience, what)
	}
}

// blocked is a blocking query that a goroutine runs.
type blocked struct {
	done chan struct{}
	resp response
	err  error
	took time.Duration
}

// block starts a blocking query. The case must call result.
func (f *fixture) block(path string, index uint64, wait string) *blocked {
	f.Helper()
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	path += sep + "index=" + strconv.FormatUint(index, 10) + "&wait=" + url.QueryEscape(wait)
	b := &blocked{done: make(chan struct{})}
	begin := time.Now()
	go func() {
		defer close(b.done)
		b.resp, b.err = f.try(context.Background(), http.MethodGet, path, "")
		b.took = time.Since(begin)
	}()
	f.Cleanup(func() { <-b.done })
	return b
}

// result waits for the query's response.
func (b *blocked) result(f *fixture) response {
	f.Helper()
	<-b.done
	if b.err != nil {
		f.Fatal(b.err)
	}
	return b.resp
}

func compact(t *testing.T, body string) string {
	t.Helper()
	var buf bytes.Buffer
	if err := json.Compact(&buf, []byte(body)); err != nil {
		t.Fatalf("%v in %q", err, body)
	}
	return buf.String()
}
