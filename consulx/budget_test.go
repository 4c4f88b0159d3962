package consulx

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
	"electop/internal/memconsul"
)

// Queries for keys, sessions and checks must fit the connections for blocking queries.
func TestBlockingQueriesFitTheirConnections(t *testing.T) {
	for conns := LeastConnections; conns <= DefaultConnections; conns++ {
		c := newClient(t, Config{Address: "consul.test", MaxConnections: conns})
		if all := c.KeyQueries() + sessionListConns + c.CheckQueries(c.KeyQueries()); all > c.blocking {
			t.Errorf("%d connections: %d blocking queries for %d connections", conns, all, c.blocking)
		}
	}
}

// Even if blocking queries use all their connections and more wait for one, the probe, short reads and the operator's
// actions are sent at once.
func TestOtherRequestsDoNotWaitForBlockingQueries(t *testing.T) {
	for _, conns := range []int{LeastConnections, DefaultConnections} {
		t.Run(fmt.Sprint(conns), func(t *testing.T) {
			consul, err := memconsul.Start(memconsul.Config{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = consul.Close() })
			blocked := make(chan struct{}, 2*conns)
			addr := consultest.ReverseProxy(t, consul.Addr(), func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
				if r.URL.Query().Has("index") {
					blocked <- struct{}{}
					<-r.Context().Done()
					return
				}
				forward.ServeHTTP(w, r)
			})
			b := newBackend(t, Config{Address: addr, MaxConnections: conns})
			key := b.Prefix(t) + "web/leader"
			b.Acquire(t, api.KVPair{Key: key, Session: b.Session(t, &api.SessionEntry{})})

			ctx, cancel := context.WithCancel(t.Context())
			var queries sync.WaitGroup
			for range 2 * conns {
				queries.Go(func() {
					q := b.client.Blocking().Read(ctx)
					q.WaitIndex = 5
					_, _, _ = b.client.Blocking().KeyNames("", q) // ends with ctx
				})
			}
			defer queries.Wait()
			defer cancel()
			for range b.client.blocking {
				<-blocked
			}
			limited, end := context.WithTimeout(ctx, patience)
			defer end()
			if _, err := b.client.Urgent().ConsensusLeader(limited); err != nil {
				t.Errorf("probe: %v", err)
			}
			if _, _, err := b.client.KeyNames("", b.client.Read(limited)); err != nil {
				t.Errorf("read: %v", err)
			}
			if err := NewOperator(b.client, nil).Release(limited, targetOf(PairOf(b.Get(t, key)))); err != nil {
				t.Errorf("release: %v", err)
			}
		})
	}
}
