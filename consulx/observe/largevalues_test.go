package observe

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
	"electop/internal/consultest"
	"electop/internal/memconsul"
)

// weighing counts the bytes of the responses to queries for keys.
type weighing struct {
	http.RoundTripper
	read  atomic.Int64
	paths sync.Map // requested paths
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

// Large values of keys that are not elections must be read once, not with each change. Few elections are watched by
// key, many by names and transactions.
func TestLargeValuesOfOtherKeysAreReadOnce(t *testing.T) {
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
			for i := range n { // the first response of a shard contains the size of the values
				change(i, 1)
			}
			before := wire.read.Load()
			for i := range n {
				change(i, 2)
			}
			if each := (wire.read.Load() - before) / int64(n); each > 40_000 {
				t.Errorf("%d bytes were read per change, want at most 40,000", each)
			}
		})
	}
}

// With --stale, the server of a transaction may have older data than the server of the list of names. An old response
// would hide the change that ended the query for the list.
func TestTransactionsOfAStaleBoardAreConsistent(t *testing.T) {
	agent := memconsul.New(memconsul.Config{})
	t.Cleanup(agent.Close)
	b := backend{Backend: consultest.Backend{T: t, API: over(t, agent).API()}}
	s := b.Session(t, &api.SessionEntry{})
	const n = 90
	for i := range n {
		b.Put(t, fmt.Sprintf("service/%02d/config", i), strings.Repeat("x", 100_000))
		b.Acquire(t, api.KVPair{Key: fmt.Sprintf("service/%02d/leader", i), Session: s, Value: []byte("0")})
	}
	var stale, consistent atomic.Int64
	client := newClient(t, consulx.Config{Address: "consul.test", Stale: true, Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/v1/txn" {
			if r.URL.Query().Has("consistent") {
				consistent.Add(1)
			} else {
				stale.Add(1)
			}
		}
		return agent.RoundTrip(r)
	})})
	board := observe(t, client, "service/*/leader")
	board.loaded()
	for i := 0; consistent.Load()+stale.Load() < 10; i++ {
		key, from := fmt.Sprintf("service/%02d/leader", i%10), board.count()
		b.Acquire(t, api.KVPair{Key: key, Session: s, Value: []byte(fmt.Sprint(i + 1))})
		_, _ = board.event(from, election.Updated, key)
	}
	if stale.Load() > 0 {
		t.Errorf("%d of %d transactions were not consistent", stale.Load(), stale.Load()+consistent.Load())
	}
}
