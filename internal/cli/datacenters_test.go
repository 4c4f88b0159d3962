package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
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

func names(all []listed) (texts []string) {
	for _, e := range all {
		texts = append(texts, e.Datacenter+" "+e.Election+" "+e.Leader)
	}
	return texts
}

func TestListShowsSeveralDatacenters(t *testing.T) {
	onFederations(t, func(t *testing.T, f *federation) {
		f.both()
		want := []string{"dc1 only-dc1 one", "dc2 only-dc2 one", "dc1 web web-in-dc1", "dc2 web web-in-dc2"}
		for _, value := range []string{"dc1,dc2", "dc2, dc1,dc1", "all"} {
			if got := names(list(t, f.testConsul, "--datacenter", value)); !slices.Equal(got, want) {
				t.Errorf("%s: %q", value, got)
			}
		}
		if got := names(list(t, f.testConsul, "--datacenter", "all", "web")); !slices.Equal(got, want[2:]) {
			t.Errorf("%q", got)
		}
		if got := names(list(t, f.testConsul, "--datacenter", "all", "--filter", "dc:dc2", "--sort", "leader reverse")); !slices.Equal(got, []string{want[3], want[1]}) {
			t.Errorf("%q", got)
		}
		table := f.run("list", "--datacenter", "all").must(t, exitOK).out
		if !strings.HasPrefix(table, "DC ") || strings.Count(table, "\ndc2 ") != 2 {
			t.Error(table)
		}
		if one := f.run("list").must(t, exitOK).out; !strings.HasPrefix(one, "ELECTION") || strings.Contains(one, "only-dc2") {
			t.Error(one)
		}
		f.run("list", "--datacenter", "dc1,dc2", "nothing").must(t, exitNoElection)
	})
}

// Both datacenters have the same key. An action needs the name of one datacenter, and reaches only that one.
func TestActionsReachOneDatacenter(t *testing.T) {
	f := memoryFederation(t)
	f.both()
	f.run("release", "--yes", "web", "--datacenter", "dc1,dc2").must(t, exitUsage)
	f.run("release", "--yes", "web", "--datacenter", "dc2").must(t, exitOK)
	if f.get("service/web/leader").Session == "" || f.dc2.get("service/web/leader").Session != "" {
		t.Fatal("the release did not change exactly dc2")
	}
	r := f.run("show", "web", "--datacenter", "all").must(t, exitUsage)
	has(t, r.errOut, `"web" exists in the datacenters dc1, dc2; choose one with --datacenter`)
	has(t, f.run("show", "only-dc2", "--datacenter", "all").must(t, exitOK).out, "Datacenter  ", "dc2")
}

func TestWatchSeveralDatacenters(t *testing.T) {
	onFederations(t, func(t *testing.T, f *federation) {
		f.both()
		l := f.follow("watch", "-o", "json", "--datacenter", "all", "web")
		first := []string{l.event()["datacenter"].(string), l.event()["datacenter"].(string)}
		slices.Sort(first)
		if !slices.Equal(first, []string{"dc1", "dc2"}) {
			t.Fatal(first)
		}
		f.unlockHeld("service/web/leader")
		if e := l.until("vacated"); e["datacenter"] != "dc1" || e["leader"] != "web-in-dc1" {
			t.Error(e)
		}
		f.lose()
		if e := l.until("connection_lost"); e["datacenter"] != "dc2" {
			t.Error(e)
		}
		f.acquire("service/web/leader", f.session(nil), "next")
		if e := l.until("elected"); e["datacenter"] != "dc1" || e["leader"] != "next" {
			t.Error(e)
		}
	})
}

// unlockHeld releases a key of dc1.
func (f *federation) unlockHeld(key string) { f.unlock(key, f.get(key).Session) }

func TestCommandsOfOneDatacenterRefuseSeveral(t *testing.T) {
	f := memoryFederation(t)
	for _, args := range [][]string{
		{"release", "web", "--yes"}, {"destroy", "web", "--yes"}, {"wait", "web", "--led"}, {"drain", "node-1", "--yes"}, {"drill", "web", "--yes"}, {"campaign", "k"}, {"rescue"},
	} {
		for _, value := range []string{"dc2, dc1", "all"} {
			r := f.run(append(args, "--datacenter", value)...).must(t, exitUsage)
			want := "electop: --datacenter " + value + ": this command works in one datacenter; name one\n"
			if r.errOut != want {
				t.Errorf("%q: %q, want %q", args, r.errOut, want)
			}
		}
	}
	for _, value := range []string{"dc1,", "all,dc1", ",", "a,b,c,d,e,f,g,h,i,j,k,l"} {
		f.run("list", "--datacenter", value).must(t, exitUsage)
	}
}

// observedDatacenters returns a dashboard of all datacenters, whose observers are idle.
func observedDatacenters(t *testing.T, addr string) *dashboard {
	t.Helper()
	o := &options{consul: consulx.Config{Address: addr, Datacenter: "all", MaxConnections: consulx.DefaultConnections}}
	ls, err := o.open(t.Context(), deps{})
	if err != nil || len(ls.all) != 2 || ls.all[0].client.Datacenter() != "dc1" || ls.all[1].client.Datacenter() != "dc2" {
		t.Fatal(ls, err)
	}
	t.Cleanup(o.opened.close)
	var all []*datacenter
	for _, l := range ls.all {
		c := &datacenter{lookup: l}
		all = append(all, c)
		if n := c.client.KeyQueries(); n > consulx.DefaultConnections/2 {
			t.Errorf("the client of %s may use %d connections, more than its share of --max-watches", c.Datacenter(), n)
		}
		c.observe(newObservers(nil, slog.New(slog.DiscardHandler)), l.patterns)
	}
	return &dashboard{datacenters: all}
}

// unreachable returns the federation while a datacenter does not respond. After restore, the datacenter responds
// again.
func (f *federation) unreachable(name string) (proxied *testConsul, restore func()) {
	var restored atomic.Bool
	proxied = intercept(f.t, f.testConsul, func(w http.ResponseWriter, r *http.Request) bool {
		lost := r.URL.Query().Get("dc") == name && !restored.Load()
		if lost {
			http.Error(w, "No path to datacenter", http.StatusInternalServerError)
		}
		return lost
	})
	return proxied, func() { restored.Store(true) }
}

// The name may exist in the datacenter that cannot be read.
func TestListOfANameWithoutOneDatacenter(t *testing.T) {
	f := memoryFederation(t)
	f.both()
	proxied, _ := f.unreachable("dc2")
	r := proxied.run("list", "only-dc2", "--datacenter", "all").must(t, exitFailed)
	has(t, r.errOut, `"only-dc2" was not found in any datacenter that could be read`, "No path to datacenter")
	r = proxied.run("list", "only-dc1", "--datacenter", "all", "-o", "json").must(t, exitFailed)
	has(t, r.errOut, "datacenter dc2: ")
	has(t, r.out, `"election": "only-dc1"`)
}

// A datacenter that does not respond at the start is observed as soon as it responds.
func TestWatchOfANameWithoutOneDatacenter(t *testing.T) {
	for _, names := range [][]string{{"only-dc2"}, {"/service/only-dc2/leader"}, {"web", "only-dc2"}} {
		f := memoryFederation(t)
		f.both()
		proxied, restore := f.unreachable("dc2")
		l := proxied.follow(append([]string{"watch", "-o", "json", "--datacenter", "all"}, names...)...)
		if e := l.until("connection_lost"); e["datacenter"] != "dc2" {
			t.Error(e)
		}
		restore()
		for range names {
			e := l.until("elected")
			for e["datacenter"] == "dc1" && e["election"] == "web" && len(names) > 1 {
				e = l.until("elected")
			}
			if e["datacenter"] != "dc2" || len(names) == 1 && e["election"] != "only-dc2" {
				t.Error(names, e)
			}
		}
	}
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

func TestAgentWithoutDatacenters(t *testing.T) {
	proxied := intercept(t, memoryFederation(t).testConsul, func(w http.ResponseWriter, r *http.Request) bool {
		empty := r.URL.Path == "/v1/catalog/datacenters"
		if empty {
			fmt.Fprint(w, "[]")
		}
		return empty
	})
	for _, command := range []string{"list", "watch"} {
		r := proxied.run(command, "--datacenter", "all").must(t, exitFailed)
		has(t, r.errOut, "--datacenter all: ", "no datacenter")
	}
}

// The connections of all datacenters together must not exceed --max-watches.
func TestDatacentersShareTheConnections(t *testing.T) {
	f := memoryFederation(t)
	r := f.run("list", "--datacenter", "all", "--max-watches", "15").must(t, exitUsage)
	has(t, r.errOut, "2 datacenters need --max-watches 16 or more")
	f.run("list", "--datacenter", "all", "--max-watches", "16").must(t, exitOK)
	r = f.run("list", "--datacenter", "a,b,c,d,e").must(t, exitUsage)
	has(t, r.errOut, "5 datacenters need --max-watches 40 or more")
}
