package observe

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/consulx/observe/internal/shard"
	"electop/internal/consultest"
	"electop/internal/memconsul"
)

// weighing counts the bytes of the answers about keys.
type weighing struct {
	http.RoundTripper
	read  atomic.Int64
	paths sync.Map // of the keys that were asked for
}

func (c *weighing) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasPrefix(r.URL.Path, "/v1/kv/") {
		c.paths.Store(r.URL.Path, true)
	}
	answer, err := c.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	c.read.Add(int64(len(text)))
	answer.Body = io.NopCloser(bytes.NewReader(text))
	return answer, nil
}

// Large values beside the elections are read once, not with each change: few
// elections are watched by their keys, many by names and then by transactions.
func TestLargeValuesBesideElectionsCostNothing(t *testing.T) {
	for _, n := range []int{3, 90} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			agent := memconsul.New(memconsul.Config{})
			t.Cleanup(agent.Close)
			b := backend{Backend: consultest.Backend{T: t, API: over(t, agent).API()}}
			s := b.Session(t, &api.SessionEntry{})
			for i := range n {
				b.Put(t, fmt.Sprintf("service/%02d/config", i), strings.Repeat("x", 100_000))
				b.Acquire(t, api.KVPair{Key: fmt.Sprintf("service/%02d/leader", i), Session: s, Value: []byte("0")})
			}
			wire := &weighing{RoundTripper: agent}
			board := observe(t, over(t, wire), "service/*/leader")
			board.loaded()
			board.until("narrow watches", func() bool {
				paths := 0
				wire.paths.Range(func(any, any) bool { paths++; return true })
				return paths > 2
			})
			change := func(i, value int) {
				key := fmt.Sprintf("service/%02d/leader", i)
				from := board.count()
				b.Acquire(t, api.KVPair{Key: key, Session: s, Value: []byte(fmt.Sprint(value))})
				_, _ = board.event(from, "updated", key)
			}
			for i := range n { // a shard learns by its first answer what it weighs
				change(i, 1)
			}
			before := wire.read.Load()
			for i := range n {
				change(i, 2)
			}
			if each := (wire.read.Load() - before) / int64(n); each > 40_000 {
				t.Errorf("%d bytes were read for each change", each)
			}
		})
	}
}

// Over TLS all queries share a few connections, however many they are.
func TestQueriesShareAConnectionOverTLS(t *testing.T) {
	const queries = 100
	var waiting sync.WaitGroup
	waiting.Add(queries)
	conns := sync.Map{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("index") != "" {
			conns.Store(r.RemoteAddr, true)
			waiting.Done()
			waiting.Wait() // no query is answered before all have been asked
		}
		w.Header().Set("X-Consul-Index", "7")
		_, _ = io.WriteString(w, "[]")
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
			if _, _, err := readKeys(c.Blocking(), shard.PrefixWatch("a"), nil, false, q); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	n := 0
	conns.Range(func(any, any) bool { n++; return true })
	if n == 0 || n > 10 {
		t.Errorf("%d queries took %d connections", queries, n)
	}
}
