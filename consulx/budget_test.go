package consulx

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestChecksGetTheConnectionsThatKeysLeave(t *testing.T) {
	b := newBudget(0)
	var allowed int
	b.OnChange(func(n int) { allowed = n })
	if allowed != maxChecks {
		t.Errorf("without keys, the checks of %d nodes can be watched, want %d", allowed, maxChecks)
	}
	b.Use(b.ForKeys())
	if allowed != leastChecks {
		t.Errorf("with the maximum number of queries for keys, the checks of %d nodes can be watched, want %d", allowed, leastChecks)
	}
	b.Use(-b.ForKeys())
	if allowed != maxChecks {
		t.Errorf("after the end of the queries for keys, the checks of %d nodes can be watched, want %d", allowed, maxChecks)
	}
}

// After one connection has failed, the idle connections of every client must be closed.
func TestEachClientClosesTheIdleConnectionsOfAll(t *testing.T) {
	closed := make(chan struct{}, 3)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `"127.0.0.1:8300"`)
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	client := newClient(t, Config{Address: server.Listener.Addr().String()})
	for _, closing := range []*Client{client, client.Blocking(), client.Urgent()} {
		for _, c := range []*Client{client, client.Blocking(), client.Urgent()} {
			if _, err := c.ConsensusLeader(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		closing.Close()
		deadline := time.NewTimer(patience)
		defer deadline.Stop()
		for range 3 {
			select {
			case <-closed:
			case <-deadline.C:
				t.Fatal("an idle connection was not closed")
			}
		}
	}
}
