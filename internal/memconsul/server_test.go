package memconsul_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"electop/internal/memconsul"
)

func startServer(tb testing.TB) *memconsul.Server {
	tb.Helper()
	srv, err := memconsul.Start(memconsul.Config{Datacenter: "dc9", NodeName: "here", Address: "10.1.2.3"})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := srv.Close(); err != nil {
			tb.Error(err)
		}
	})
	return srv
}

func TestServerCloseEndsEverything(t *testing.T) {
	srv := startServer(t)
	f := newFixture(t, srv.Addr())
	f.mustPut("/v1/kv/p/k", "v")
	f.put("/v1/session/create", `{"TTL":"10s"}`)
	query := f.block("/v1/kv/p/k", f.entry("p/k").ModifyIndex, "10m")
	// A connection without a request must not delay Close.
	silent, err := net.Dial("tcp", srv.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	begin := time.Now()
	for range 2 {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	}
	if took := time.Since(begin); took > 4*time.Second {
		t.Errorf("it took %s", took)
	}
	<-query.done
	if query.err == nil && query.resp.code != http.StatusOK {
		t.Errorf("the blocked query returned %d", query.resp.code)
	}
}

func TestSelf(t *testing.T) {
	srv := startServer(t)
	f := newFixture(t, srv.Addr())
	self, err := f.client.Agent().Self()
	if err != nil {
		t.Fatal(err)
	}
	cfg := self["Config"]
	if cfg["Datacenter"] != "dc9" || cfg["NodeName"] != "here" || cfg["Version"] != memconsul.Version || cfg["Server"] != true {
		t.Errorf("%v", cfg)
	}
	nodes, _, err := f.client.Catalog().Nodes(nil)
	if err != nil || len(nodes) != 1 || nodes[0].Node != "here" || nodes[0].Address != "10.1.2.3" {
		t.Errorf("%v %+v", err, nodes)
	}
	if leader, err := f.client.Status().Leader(); err != nil || leader == "" {
		t.Errorf("%v %q", err, leader)
	}
	if peers, err := f.client.Status().Peers(); err != nil || len(peers) != 1 {
		t.Errorf("%v %v", err, peers)
	}
}

func TestUnsupportedFiltersAreErrors(t *testing.T) {
	srv := startServer(t)
	f := newFixture(t, srv.Addr())
	for _, filter := range []string{
		`CheckID==`, `CheckID==x`, `Status=="passing"`, `CheckID=="a" and CheckID=="b"`, `CheckID=="a" orCheckID=="b"`,
		`CheckID=="a" or`, `not CheckID=="a"`, `CheckID!="a"`,
	} {
		r := f.get("/v1/health/node/here?filter=" + strings.NewReplacer(" ", "+", `"`, "%22").Replace(filter))
		if r.code != http.StatusBadRequest || !strings.Contains(r.body, "memconsul supports only") {
			t.Errorf("%s: %d %s", filter, r.code, r.body)
		}
	}
}

// TestOneHolderUnderContention runs many candidates that acquire and release one key, and counts the terms.
func TestOneHolderUnderContention(t *testing.T) {
	srv := startServer(t)
	f := newFixture(t, srv.Addr())
	const candidates, turns = 8, 20
	var (
		holders sync.Mutex // TryLock fails if two sessions hold the key
		won     sync.WaitGroup
	)
	for range candidates {
		s := f.quickSession()
		won.Go(func() {
			for done := 0; done < turns; {
				r, err := f.try(t.Context(), http.MethodPut, "/v1/kv/k?acquire="+s, s)
				if err != nil {
					t.Error(err)
					return
				}
				if r.body != "true" {
					continue
				}
				if !holders.TryLock() {
					t.Error("two sessions hold the key")
					return
				}
				done++
				holders.Unlock()
				if r, err := f.try(t.Context(), http.MethodPut, "/v1/kv/k?release="+s, ""); err != nil || r.body != "true" {
					t.Errorf("release: %v %s", err, r.body)
					return
				}
			}
		})
	}
	won.Wait()
	if got := f.entry("k").LockIndex; got != candidates*turns {
		t.Errorf("%d terms, want %d", got, candidates*turns)
	}
}

// BenchmarkPutWakesOneOf measures a write with thousands of queries blocked on other keys.
func BenchmarkPutWakesOneOf(b *testing.B) {
	for _, waiting := range []int{0, 5000} {
		b.Run(fmt.Sprint(waiting), func(b *testing.B) {
			agent := memconsul.New(memconsul.Config{})
			var blocked sync.WaitGroup
			put := func(key string) {
				req, err := http.NewRequest(http.MethodPut, "http://agent/v1/kv/"+key, strings.NewReader("v"))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := agent.RoundTrip(req); err != nil {
					b.Fatal(err)
				}
			}
			for i := range waiting {
				key := fmt.Sprintf("service/s%d/leader", i)
				put(key)
				blocked.Go(func() {
					req, err := http.NewRequest(http.MethodGet, "http://agent/v1/kv/"+key+"?index=1000000&wait=10m", nil)
					if err != nil {
						b.Error(err)
						return
					}
					if _, err := agent.RoundTrip(req); err != nil {
						b.Error(err)
					}
				})
			}
			b.ReportAllocs()
			for b.Loop() {
				put("service/other/leader")
			}
			agent.Close()
			blocked.Wait()
		})
	}
}
