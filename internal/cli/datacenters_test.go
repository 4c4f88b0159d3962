package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
	"electop/internal/act"
	"electop/internal/consultest"
	"electop/internal/etcdtest"
	"electop/internal/history"
	"electop/internal/memconsul"
)

// federation is a Consul with two datacenters, which tests access through an agent of dc1.
type federation struct {
	*testConsul             // in dc1
	dc2         *testConsul // the same agent, for requests about dc2
	lose        func()      // ends dc2
}

func newFederation(t *testing.T, addr string, lose func()) *federation {
	t.Helper()
	conf := api.DefaultNonPooledConfig()
	conf.Address, conf.Datacenter = addr, "dc2"
	client, err := api.NewClient(conf)
	must(t, err)
	return &federation{newTestConsul(t, addr), &testConsul{Backend: consultest.Backend{T: t, Addr: addr, API: client}}, lose}
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
		must(t, agents[1].Kill())
	})
}

// both holds the same key in both datacenters, and one key in each.
func (f *federation) both() {
	for name, w := range map[string]*testConsul{"dc1": f.testConsul, "dc2": f.dc2} {
		s := w.session()
		w.acquire("service/web/leader", s, "web-in-"+name)
		w.acquire("service/only-"+name+"/leader", s, "one")
	}
}

// observedDatacenters returns a dashboard of all datacenters, whose observers are idle.
func observedDatacenters(t *testing.T, addr string) *dashboard {
	t.Helper()
	b := idle(t, "--http-addr", addr, "--datacenter", "all")
	if all := b.datacenters; len(all) != 2 || all[0].Datacenter() != "dc1" || all[1].Datacenter() != "dc2" {
		t.Fatal(all)
	}
	for _, c := range b.datacenters {
		if n := c.client().KeyQueries(); n > consulx.DefaultConnections/2 {
			t.Errorf("the client of %s may use %d connections, more than its share of --max-watches", c.Datacenter(), n)
		}
	}
	return b
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
	rows, err := observedDatacenters(t, proxied.Addr).Doctor(ctx)
	if err == nil || !strings.HasPrefix(err.Error(), "datacenter dc1: ") || !strings.Contains(err.Error(), "No path to datacenter") {
		t.Error(err)
	}
	if len(rows) == 0 || !strings.HasPrefix(rows[0].Subject, "dc2: ") {
		t.Error(rows)
	}
}

// idle returns a dashboard of a command line, whose observers are idle.
func idle(t *testing.T, args ...string) *dashboard {
	t.Helper()
	o := resolved(t, args...)
	ls, err := o.open(t.Context())
	must(t, err)
	t.Cleanup(o.close)
	b := &dashboard{options: o}
	_, b.patterns = ls.watched()
	for _, l := range ls.all {
		c := &datacenter{lookup: l}
		c.observe(newObservers(nil, &options{log: slog.New(slog.DiscardHandler)}))
		b.datacenters = append(b.datacenters, c)
	}
	return b
}

func TestContextsOfTwoKindsOfStores(t *testing.T) {
	w, lose := onMemoryThatEnds(t)
	etcd := etcdtest.Start(t, 1)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	endpoint := etcd.Endpoints()[0]
	withConfig(t, "contexts:\n  consul: {http-addr: "+w.Addr+"}\n  etcd: {endpoints: "+endpoint+"}\n  several: {datacenter: all}\n")
	session := w.session()
	w.acquire("service/web/leader", session, "web-1")
	first := candidate(t, etcd, "/svc/web", "queue-1")
	candidate(t, etcd, "/svc/web", "queue-2")
	t.Setenv(contextEnv, "etcd,consul,etcd")
	runPlain(t, "list").must(exitOK).has("DC ", "consul  web ", "etcd    /svc/web ", "web-1", "queue-1")
	runPlain(t, "list", "-k", "/svc/*").must(exitOK).has("etcd  web ", "-           /svc/web")
	runPlain(t, "__completeNoDesc", "list", "--context", "etcd,c").has("etcd,consul\n")
	runPlain(t, "show", "/svc/web").must(exitOK).has("Datacenter   etcd", "queue-2")
	runPlain(t, "doctor").must(exitOK).has("consul: keys service/*/leader", "etcd: keys **")
	runPlain(t, "doctor", "-o", "json").must(exitOK).has(`"datacenter": "consul"`, `"datacenter": "etcd"`)
	runPlain(t, "discover").must(exitOK).has("Context etcd", "electop --context etcd -k /svc/web")

	for command, want := range map[string]string{
		"release --yes web":             "--context consul,etcd: this command works in one context; name one",
		"wait web --led":                "this command works in one context",
		"drain node-1":                  "etcd does not record the node",
		"list --datacenter dc1":         "etcd has no datacenters",
		"list --http-addr h":            "--http-addr and several contexts are mutually exclusive",
		"list --context consul,x":       `context "x" is unknown`,
		"list --context consul,several": "context several selects several datacenters; use it without other contexts",
	} {
		runPlain(t, strings.Fields(command)...).must(exitUsage).hasErr(want)
	}

	watch := withoutConsul(t).background("watch", "-o", "json")
	seen := func(parts ...string) {
		t.Helper()
		eventually(t, "an event", func() bool {
			for line := range strings.Lines(watch.out.String()) {
				if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
					return true
				}
			}
			return false
		})
	}
	seen(`"elected"`, `"datacenter":"consul"`, "web-1")
	seen(`"elected"`, `"datacenter":"etcd"`, "queue-1")
	w.Release("service/web/leader", session)
	seen(`"vacated"`, `"datacenter":"consul"`, "web-1")
	lose()
	seen(`"connection_lost"`, `"datacenter":"consul"`)
	_, err := etcd.Delete(t.Context(), first)
	must(t, err)
	seen(`"elected"`, `"datacenter":"etcd"`, "queue-2")
	watch.stop().must(exitOK)
	runPlain(t, "history", "-k", "/svc/*", "-k", "service/**", "-o", "json").must(exitOK).has(`"datacenter":"consul"`, `"datacenter":"etcd"`)
	listed := runPlain(t, "list").must(exitFailed)
	listed.has("queue-2")
	listed.hasErr("context consul: cannot reach Consul")

	b := idle(t)
	has(t, b.Cluster("etcd").Electop([]string{"electop", "destroy"}, "/svc/web"), "--context=etcd --endpoints="+endpoint)
	has(t, b.Cluster("consul").Electop([]string{"electop", "release"}, "web"), "--context=consul --http-addr=http://"+w.Addr+" web") // the default selects the keys
	if got := b.Cluster("consul").KVGet("a", "consul"); got != "consul kv get -http-addr=http://"+w.Addr+" -detailed a" {
		t.Error(got)
	}
	if env := b.commandEnvironment("etcd"); entryOf(env, "ETCDCTL_ENDPOINTS=") == "" || entryOf(env, contextEnv+"=") != contextEnv+"=etcd" {
		t.Error(env)
	}
	ps := consultest.Patterns(t, append(b.patterns, "other/*")...)
	for i, want := range []string{"service/*/leader other/*", "** other/*"} {
		replaced := &told{observer: b.datacenters[i].observer}
		b.datacenters[i].observer = replaced
		if b.SetPatterns(ps); strings.Join(replaced.patterns.Strings(), " ") != want {
			t.Errorf("%v, want %s", replaced.patterns, want)
		}
	}
}

// told is an observer that keeps what it is told.
type told struct {
	observer
	patterns election.Patterns
	snapshot election.Snapshot
	note     func(election.OperatorAction)
}

func (*told) Run(context.Context)                {}
func (o *told) SetPatterns(ps election.Patterns) { o.patterns = ps }
func (o *told) Note(a election.OperatorAction)   { o.note(a) }
func (o *told) Snapshot() *election.Snapshot     { return &o.snapshot }

// asked records the requests to one datacenter.
type asked struct {
	observer
	calls string
}

func (a *asked) called(what string, args ...any) { a.calls += what + fmt.Sprint(args...) + ", " }

func (a *asked) WatchChecks(nodes []string) { a.called("checks ", nodes) }
func (a *asked) Study(key string)           { a.called("study ", key) }
func (a *asked) WatchSessions(on bool)      { a.called("sessions ", on) }

func (a *asked) Release(_ context.Context, t election.Target) error {
	a.called("release ", t.Key)
	return nil
}

func (a *asked) DestroySession(_ context.Context, d election.Destroy) error {
	a.called("destroy ", d.Key)
	return nil
}

func (a *asked) Rights(context.Context, election.Target) (election.MissingRules, error) {
	a.called("rights")
	return nil, nil
}

// asking returns a dashboard of datacenters that record the requests.
func asking(t *testing.T, names ...string) (b *dashboard, all []*asked) {
	t.Helper()
	b = &dashboard{}
	for _, name := range names {
		client, err := consulx.NewClient(consulx.Config{Address: "127.0.0.1:1", Datacenter: name})
		must(t, err)
		a := &asked{}
		all = append(all, a)
		b.datacenters = append(b.datacenters, &datacenter{lookup: lookup{store: consul{client}}, observer: a, writer: writer{operator: a}})
	}
	return b, all
}

// A target of an unknown datacenter is refused.
func TestRequestsReachTheirDatacenter(t *testing.T) {
	b, all := asking(t, "dc1", "dc2")
	target := func(name string) election.Destroy {
		return election.Destroy{Target: election.Target{Datacenter: name, Key: "web"}}
	}
	b.Act(t.Context(), election.ActionRelease, target("dc2"))
	b.Act(t.Context(), election.ActionDestroy, target("dc1"))
	for _, name := range []string{"", "dc3"} {
		d := target(name)
		if o := b.Act(t.Context(), election.ActionRelease, d); o.Kind != act.OutcomeRefused || o.Target != d.Target {
			t.Errorf("%+v", o)
		}
		if _, err := b.Rights(t.Context(), d.Target); err == nil {
			t.Error("Rights returned no error for an unknown datacenter")
		}
		b.WatchChecks(name, []string{"node-1"})
	}
	_, err := b.Rights(t.Context(), target("dc2").Target)
	must(t, err)
	b.Study("dc1", "a")
	b.Study("dc2", "b")
	b.WatchChecks("dc2", []string{"node-1"})
	b.WatchSessions(true)
	if want := "destroy web, study a, study , sessions true, "; all[0].calls != want {
		t.Errorf("%s, want %s", all[0].calls, want)
	}
	if want := "release web, rights, study , study b, checks [node-1], sessions true, "; all[1].calls != want {
		t.Errorf("%s, want %s", all[1].calls, want)
	}
}

// The name of the only datacenter may be unknown.
func TestTheOnlyDatacenterReceivesAllRequests(t *testing.T) {
	b, all := asking(t, "")
	b.Act(t.Context(), election.ActionRelease, election.Destroy{Target: election.Target{Datacenter: "dc1", Key: "web"}})
	b.Study("dc1", "key")
	b.WatchChecks("", []string{"node"})
	if want := "release web, study key, checks [node], "; all[0].calls != want {
		t.Errorf("%s, want %s", all[0].calls, want)
	}
}

// actionsOf is a history that contains actions.
type actionsOf struct {
	history.Source
	all []history.Action
}

func (h actionsOf) Actions(context.Context, history.Range) ([]history.Action, error) {
	return h.all, nil
}

// A cluster that was restored from the snapshot of another one has the same keys and sessions. A session of the only
// cluster has no datacenter.
func TestAnActionOfAnotherClusterExplainsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var noted []string
	s := newObservers(actionsOf{all: []history.Action{
		{Datacenter: "stage", Result: history.ResultDone, By: "ana"}, {Result: history.ResultDone, By: "of a session"},
	}}, &options{log: slog.New(slog.DiscardHandler)})
	for _, name := range []string{"prod", "stage"} {
		s.all = append(s.all, &told{snapshot: election.Snapshot{Datacenter: name}, note: func(a election.OperatorAction) {
			noted = append(noted, name+" "+a.By)
			cancel()
		}})
	}
	s.lost <- struct{}{}
	if s.run(ctx); !slices.Equal(noted, []string{"stage ana", "prod of a session", "stage of a session"}) {
		t.Error(noted)
	}
}

// Two clusters may have datacenters and keys with the same names. Their history belongs to these two clusters.
func TestContextsWithTheSameDatacenter(t *testing.T) {
	a, b := onMemory(t).identified("a"), onMemory(t).identified("b")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	a.acquire("service/web/leader", a.session(), "of-a")
	b.acquire("service/web/leader", b.session(), "of-b")
	config := func(a, b string) {
		withConfig(t, "contexts:\n  prod: {http-addr: "+a+"}\n  stage: {http-addr: "+b+", read-only: true}\n")
	}
	config(a.Addr, b.Addr)
	runPlain(t, "list", "--context", "prod,stage").must(exitOK).has("prod   web       led    of-a", "stage  web       led    of-b")
	runPlain(t, "show", "web", "--context", "prod,stage").must(exitUsage).hasErr(`"web" exists in the contexts prod, stage; choose one with --context`)
	if !resolved(t, "--context", "prod,stage").readOnly {
		t.Error("read-only of one context is ignored")
	}
	path := filepath.Join(t.TempDir(), "h.db")
	record := withoutConsul(t).background("record", "--context", "prod,stage", "--history", path)
	eventually(t, "the recording", func() bool {
		return strings.Contains(record.errOut.String(), "recording service/*/leader of prod, stage")
	})
	terms := func(context string) string {
		return runPlain(t, "history", "--terms", "-o", "json", "--history", path, "--context", context).must(exitOK).out
	}
	eventually(t, "the terms", func() bool { return strings.Count(terms("prod,stage"), "\n") == 2 })
	if one := terms("prod"); strings.Contains(one, "stage") || !strings.Contains(one, "of-a") {
		t.Errorf("the history of one of two contexts: %s", one)
	}
	config(a.Addr, b.identified("c").Addr)
	record.stop().must(exitOK)
	for _, command := range []string{"record", "list"} {
		runPlain(t, command, "--context", "prod,stage", "--history", path).hasErr("belongs to another")
	}
}
