package cli

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/internal/consultest"
	"electop/internal/memconsul"
)

// federation is a Consul with two datacenters, which tests access through an agent of dc1.
type federation struct {
	*testConsul             // in dc1
	dc2         *testConsul // the same agent, for requests about dc2
	lose        func()      // ends dc2
}

// onFederations runs a test on in-process agents and on real ones.
func onFederations(t *testing.T, test func(t *testing.T, f *federation)) {
	t.Run("memconsul", func(t *testing.T) { test(t, memoryFederation(t)) })
	t.Run("consul", func(t *testing.T) { test(t, realFederation(t)) })
}

func newFederation(t *testing.T, addr string, lose func()) *federation {
	t.Helper()
	conf := api.DefaultNonPooledConfig()
	conf.Address, conf.Datacenter = addr, "dc2"
	client, err := api.NewClient(conf)
	if err != nil {
		t.Fatal(err)
	}
	return &federation{newTestConsul(t, addr), &testConsul{t: t, addr: addr, client: client}, lose}
}

func memoryFederation(t *testing.T) *federation {
	t.Helper()
	agents := map[string]*memconsul.Agent{}
	for _, name := range []string{"dc1", "dc2"} {
		agents[name] = memconsul.New(memconsul.Config{Datacenter: name, NodeName: "node-1"})
	}
	var lost atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Query().Get("dc")
		switch {
		case r.URL.Path == "/v1/catalog/datacenters":
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode([]string{"dc1", "dc2"})
		case name == "dc2" && !lost.Load():
			agents["dc2"].ServeHTTP(w, r)
		case name == "" || name == "dc1":
			agents["dc1"].ServeHTTP(w, r)
		default:
			http.Error(w, "No path to datacenter", http.StatusInternalServerError)
		}
	}))
	end := sync.OnceFunc(func() {
		lost.Store(true)
		agents["dc2"].Close()
	})
	t.Cleanup(func() {
		end()
		agents["dc1"].Close()
		server.Close()
	})
	return newFederation(t, strings.TrimPrefix(server.URL, "http://"), end)
}

func realFederation(t *testing.T) *federation {
	t.Helper()
	agents := consultest.Federation(t, "dc1", "dc2")
	return newFederation(t, agents[0].Addr(), func() {
		if err := agents[1].Kill(); err != nil {
			t.Fatal(err)
		}
	})
}

// both holds the same key in both datacenters, and one key in each.
func (f *federation) both() {
	for name, w := range map[string]*testConsul{"dc1": f.testConsul, "dc2": f.dc2} {
		s := w.session(nil)
		w.acquire("service/web/leader", s, "web-in-"+name)
		w.acquire("service/only-"+name+"/leader", s, "one")
	}
}

// observedDatacenters returns a dashboard of all datacenters, whose observers are idle.
func observedDatacenters(t *testing.T, addr string) *dashboard {
	t.Helper()
	o := &options{consul: consulx.Config{Address: addr, Datacenter: "all", MaxConnections: consulx.DefaultConnections}}
	ls, err := o.open(t.Context())
	if err != nil || len(ls.all) != 2 || ls.all[0].store.Datacenter() != "dc1" || ls.all[1].store.Datacenter() != "dc2" {
		t.Fatal(ls, err)
	}
	t.Cleanup(o.opened.close)
	var all []*datacenter
	for _, l := range ls.all {
		c := &datacenter{lookup: l}
		all = append(all, c)
		if n := c.consul().KeyQueries(); n > consulx.DefaultConnections/2 {
			t.Errorf("the client of %s may use %d connections, more than its share of --max-watches", c.Datacenter(), n)
		}
		c.observe(newObservers(nil, slog.New(slog.DiscardHandler)), l.patterns)
	}
	return &dashboard{datacenters: all}
}

// dc1 responds only after the check of dc2 has begun.
func TestDoctorOfTheDashboardChecksConcurrently(t *testing.T) {
	began := make(chan struct{})
	begin := sync.OnceFunc(func() { close(began) })
	proxied := intercept(t, memoryFederation(t).testConsul, func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Query().Get("dc") {
		case "dc2":
			begin()
		case "dc1":
			select {
			case <-began:
			case <-r.Context().Done():
			}
			http.Error(w, "No path to datacenter", http.StatusInternalServerError)
			return true
		}
		return false
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	rows, err := observedDatacenters(t, proxied.addr).Doctor(ctx)
	if err == nil || !strings.HasPrefix(err.Error(), "datacenter dc1: ") || !strings.Contains(err.Error(), "No path to datacenter") {
		t.Error(err)
	}
	if len(rows) == 0 || !strings.HasPrefix(rows[0].Subject, "dc2: ") {
		t.Error(rows)
	}
}
