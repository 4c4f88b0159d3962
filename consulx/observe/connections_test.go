package observe

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
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
// regardless of the number of watched elections, nodes and sessions. An agent accepts 200 connections per client address.
// Four dashboards on one host must leave half of them.
func TestBlockedQueriesLeaveConnectionsToTheOthers(t *testing.T) {
	if most := 4 * consulx.DefaultConnections; most > 100 {
		t.Errorf("four dashboards use %d connections, want at most 100", most)
	}
	for _, conns := range []int{consulx.LeastConnections, consulx.DefaultConnections} {
		t.Run(fmt.Sprint(conns), func(t *testing.T) {
			agent := memconsul.New(memconsul.Config{})
			t.Cleanup(agent.Close)
			b := consultest.Backend{T: t, API: over(t, agent).API()}
			holder := b.Session()
			const elections = 3000
			for i := range elections {
				b.Acquire(api.KVPair{Key: fmt.Sprintf("service/%04d/leader", i), Session: holder})
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
			board.until("all queries to block", func() bool { return server.blocked.Load() >= int64(conns/3) })

			target := board.snapshot().Find("service/0002/leader").Target()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			must(t, consulx.NewOperator(client, board.o.Note).Release(ctx, target))
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
