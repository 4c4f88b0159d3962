package memconsul_test

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"electop/internal/memconsul"
)

func startServer(tb testing.TB) *memconsul.Server {
	tb.Helper()
	srv, err := memconsul.Start(memconsul.Config{Datacenter: "dc9", NodeName: "here", Address: "10.1.2.3"})
	must(tb, err)
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
	must(t, err)
	defer func() { _ = silent.Close() }()
	for range 2 {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
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
	must(t, err)
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
