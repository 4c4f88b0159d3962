package observe

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/consulx/internal/wire"
	"electop/consulx/observe/internal/shard"
	"electop/election"
	"electop/internal/consultest"
	"electop/internal/memconsul"
)

// crowded is an agent that counts connections and blocked queries.
type crowded struct {
	*httptest.Server
	open, blocked atomic.Int64
	closed        chan struct{}
}

func newCrowded(t *testing.T, agent http.RoundTripper) *crowded {
	t.Helper()
	c := &crowded{closed: make(chan struct{}, 1)}
	c.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("index") != "" {
			c.blocked.Add(1)
			defer c.blocked.Add(-1)
		}
		forward(w, r, agent)
	}))
	c.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			c.open.Add(1)
		case http.StateClosed, http.StateHijacked:
			c.open.Add(-1)
			select {
			case c.closed <- struct{}{}:
			default:
			}
		case http.StateActive, http.StateIdle:
		}
	}
	c.Start()
	t.Cleanup(c.Close)
	return c
}

// exceeds reports whether more connections than the limit stay open. It waits for the server to detect connections that
// the client has closed. Waiting before a connection is accepted would block: the client may have closed that one.
func (c *crowded) exceeds(limit int) bool {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for c.open.Load() > int64(limit) {
		select {
		case <-c.closed:
		case <-timeout.C:
			return true
		}
	}
	return false
}

// forward sends a request through another transport and copies the response to the client.
func forward(w http.ResponseWriter, r *http.Request, to http.RoundTripper) {
	out := r.Clone(r.Context())
	out.RequestURI, out.URL.Scheme, out.URL.Host = "", "http", "agent.test"
	response, err := to.RoundTrip(out)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer response.Body.Close()
	for name, values := range response.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(response.StatusCode)
	_, _ = io.Copy(w, response.Body)
}

// The probe and the operator must always get a connection. The number of connections must never exceed the maximum,
// regardless of the number of watched elections, nodes and sessions.
func TestBlockedQueriesLeaveConnectionsToTheOthers(t *testing.T) {
	for _, conns := range []int{24, 64} {
		t.Run(fmt.Sprint(conns), func(t *testing.T) {
			agent := memconsul.New(memconsul.Config{})
			t.Cleanup(agent.Close)
			b := consultest.Backend{T: t, API: over(t, agent).API()}
			holder := b.Session(t, &api.SessionEntry{})
			const elections = 3000
			for i := range elections {
				b.Acquire(t, api.KVPair{Key: fmt.Sprintf("service/%04d/leader", i), Session: holder})
			}
			server := newCrowded(t, agent)
			client := newClient(t, consulx.Config{Address: server.Listener.Addr().String(), MaxConnections: conns})
			board := observe(t, client, election.DefaultPattern)
			var nodes []string
			for i := range 2 * 16 {
				nodes = append(nodes, fmt.Sprintf("node-%d", i))
			}
			board.o.WatchChecks(nodes)
			board.o.WatchSessions(true)
			board.o.Study("service/0001/leader")
			board.loaded()
			board.until("all queries to block", func() bool { return server.blocked.Load() >= int64(conns/2) })

			target := board.snapshot().Find("service/0002/leader").Target()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if err := consulx.NewOperator(client, board.o.Note).Release(ctx, target); err != nil {
				t.Fatal(err)
			}
			_, _ = board.event(0, election.Vacated, target.Key)
			for _, e := range board.of("") {
				if e.Type == election.ConnectionLost {
					t.Errorf("the connection to a healthy agent was reported as lost: %s", e.Error)
				}
			}
			if server.exceeds(conns) {
				t.Errorf("the client opened more than %d concurrent connections", conns)
			}
		})
	}
}

// Over TLS, all queries share a few connections.
func TestQueriesShareAConnectionOverTLS(t *testing.T) {
	const queries = 100
	var waiting sync.WaitGroup
	waiting.Add(queries)
	conns := sync.Map{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("index") != "" {
			conns.Store(r.RemoteAddr, true)
			waiting.Done()
			waiting.Wait() // every query arrives before the first response is sent
		}
		w.Header().Set("X-Consul-Index", "7")
		_, _ = io.WriteString(w, `[{"Key":"a"}]`)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	authority := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(authority, block, 0o600); err != nil {
		t.Fatal(err)
	}
	c := newClient(t, consulx.Config{Address: server.URL, CAFile: authority})
	var all sync.WaitGroup
	for range queries {
		all.Go(func() {
			q := c.Blocking().Read(t.Context())
			q.WaitIndex = 5
			if _, _, err := readKeys(c.Blocking(), shard.PrefixWatch("a"), nil, wire.List{}, false, q); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	n := 0
	conns.Range(func(any, any) bool { n++; return true })
	if n == 0 || n > 10 {
		t.Errorf("%d queries used %d connections, want 1 to 10", queries, n)
	}
}
