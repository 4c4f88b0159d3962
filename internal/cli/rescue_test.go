package cli

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/history"
	"electop/internal/history/sqlite"
)

type rescueLine struct {
	Election, Key, Datacenter, Problem, Why, Fix, Do, Session, Result, Reason, Leader string
	LockDelayUntil                                                                    string `json:"lock_delay_until"`
}

// rescueLines returns the objects by election.
func rescueLines(t *testing.T, out string) map[string]rescueLine {
	t.Helper()
	all := map[string]rescueLine{}
	d := json.NewDecoder(strings.NewReader(out))
	d.DisallowUnknownFields()
	for d.More() {
		var l rescueLine
		if err := d.Decode(&l); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		all[l.Election] = l
	}
	return all
}

// identified fails the test unless rescue identifies exactly this problem.
func identified(t *testing.T, w *testConsul, k, name, problem, fix string) {
	t.Helper()
	for _, mode := range [][]string{{"rescue", "--dry-run"}, {"--read-only", "rescue"}} {
		if mode[0] == "--read-only" && problem == "lock_delay" {
			continue // only a probe finds it
		}
		all := rescueLines(t, w.run(append(mode, "-o", "json", k)...).must(t, exitOK).out)
		l := all[name]
		if len(all) != 1 || l.Problem != problem || l.Fix != fix || l.Result != "proposed" || l.Why == "" || l.Do == "" {
			t.Fatalf("%v: %+v", mode, all)
		}
	}
}

func TestRescueWaitsForALockDelay(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		k, key := "-k"+p+"/*/leader", p+"/web/leader"
		lose := func(delay time.Duration) {
			s := w.session(func(s *api.SessionEntry) { s.LockDelay = delay })
			w.acquire(key, s, "web-1")
			if _, err := w.client.Session().Destroy(s, nil); err != nil {
				t.Fatal(err)
			}
		}
		lose(2 * time.Second)
		contend(t, w, key, w.session(nil), "web-2")
		r := w.run("rescue", "--yes", "--wait", "30s", "-o", "json", k).must(t, exitOK)
		// On a slow machine, web-2 may lead before rescue reads the key. The output is then empty.
		if l := rescueLines(t, r.out)["web"]; r.out != "" && (l.Result != "led" || l.Leader != "web-2") {
			t.Errorf("%+v", l)
		}
		key, k = p+"-long/web/leader", "-k"+p+"-long/*/leader"
		lose(time.Minute)
		identified(t, w, k, "web", "lock_delay", "wait")
		has(t, w.run("rescue", "--yes", k).must(t, exitNoLeader).errOut, "web: lock_delay. Wait until the lock-delay ends, in ")
	})
}

func TestRescueSetsTheFlagsThatLocksExpect(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		k, key := "-k"+p+"/*/leader", p+"/web/leader"
		lockSession := func(s *api.SessionEntry) { s.Name = api.DefaultLockSessionName }
		first := w.session(lockSession)
		w.acquire(key, first, "web-1")
		w.client.KV().Release(&api.KVPair{Key: key, Session: first, Value: []byte("web\x00\xff"), Flags: 5}, nil)
		lock, err := w.client.LockOpts(&api.LockOptions{Key: key, Session: w.session(lockSession), Value: []byte("web-2")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lock.Lock(nil); err == nil {
			t.Fatal("Lock accepted the flags")
		}
		identified(t, w, k, "web", "lock_flags", "set_flags")
		has(t, w.run("rescue", "web", "--yes", k).must(t, exitOK).out, "web: set_flags applied (lock_flags)\n")
		if pair := w.get(key); pair.Flags != api.LockFlagValue || string(pair.Value) != "web\x00\xff" {
			t.Errorf("%+v", pair)
		}
		if _, err := lock.Lock(nil); err != nil {
			t.Fatal(err)
		}
		defer lock.Unlock()
		if out := w.run("rescue", "--dry-run", k).must(t, exitOK).out; out != "" {
			t.Error(out)
		}
	})
}

func TestRescueDestroysAnOrphanedSession(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		k, key := "-k"+p+"/*/leader", p+"/web/leader"
		agent := w.client.Agent()
		if err := agent.ServiceRegister(&api.AgentServiceRegistration{Name: p, Check: &api.AgentServiceCheck{TTL: "1h", Status: "passing"}}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = agent.ServiceDeregister(p) })
		s := w.session(func(s *api.SessionEntry) { s.Name, s.LockDelay = p, time.Millisecond })
		w.acquire(key, s, "web-1")
		if out := w.run("rescue", "--dry-run", k).must(t, exitOK).out; out != "" {
			t.Fatalf("healthy: %s", out)
		}
		if err := agent.UpdateTTL("service:"+p, "crashed", "critical"); err != nil {
			t.Fatal(err)
		}
		eventually(t, "critical check", func() bool {
			return w.run("rescue", "--dry-run", k).must(t, exitOK).out != ""
		})
		identified(t, w, k, "web", "orphaned_session", "destroy_session")
		contend(t, w, key, w.session(nil), "web-2")
		r := w.run("rescue", "--yes", "--wait", "30s", "-o", "json", k).must(t, exitOK)
		if l := rescueLines(t, r.out)["web"]; l.Result != "led" || l.Leader != "web-2" || l.Session != s {
			t.Errorf("%+v", l)
		}
	})
}

func TestRescueDestroysTheSessionOfAFailedNode(t *testing.T) {
	onOwn(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		k, node := "-k"+p+"/*/leader", "gone-"+strings.ToLower(p)
		register := func(status string) {
			_, err := w.client.Catalog().Register(&api.CatalogRegistration{
				Node: node, Address: "10.0.0.9",
				Check: &api.AgentCheck{Node: node, CheckID: "serfHealth", Name: "Serf Health Status", Status: status},
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
		}
		register("passing")
		t.Cleanup(func() { w.client.Catalog().Deregister(&api.CatalogDeregistration{Node: node}, nil) })
		s := w.session(func(s *api.SessionEntry) { s.Node = node })
		w.acquire(p+"/web/leader", s, "web-1")
		w.acquire(p+"/mail/leader", s, "mail-1")
		w.acquire(p+"/healthy/leader", w.session(nil), "healthy-1")
		if out := w.run("rescue", "--dry-run", k).must(t, exitOK).out; out != "" {
			t.Fatalf("healthy: %s", out)
		}
		register("critical")
		all := rescueLines(t, w.run("rescue", "--dry-run", "-o", "json", k).must(t, exitOK).out)
		if len(all) != 2 || all["web"].Problem != "node_gone" || all["mail"].Fix != "destroy_session" || all["web"].Session != s {
			t.Fatalf("%+v", all)
		}
		r := w.run("rescue", "--yes", "-o", "json", k).must(t, exitOK)
		for name, l := range rescueLines(t, r.out) {
			if l.Result != "applied" {
				t.Errorf("%s: %+v", name, l)
			}
		}
		if w.get(p+"/web/leader").Session != "" || w.get(p+"/mail/leader").Session != "" || w.get(p+"/healthy/leader").Session == "" {
			t.Error("rescue destroyed the wrong sessions")
		}
	})
}

func TestRescueDeletesAReleasedKeyOfPatroni(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		k, key := "-k"+p+"/*/leader", p+"/db/leader"
		leader, _ := cluster(w, p)
		if ok, _, err := w.client.KV().Release(&api.KVPair{Key: key, Session: leader, Value: []byte("pg1")}, nil); err != nil || !ok {
			t.Fatal(ok, err)
		}
		identified(t, w, k, "db", "patroni_released", "delete_key")
		has(t, w.run("rescue", "--yes", k).must(t, exitOK).out, "db: delete_key applied (patroni_released)\n")
		if pair := w.get(key); pair != nil {
			t.Errorf("%+v", pair)
		}
		if w.get(p+"/db/members/pg1").Session != leader {
			t.Error("rescue changed another key")
		}
	})
}

func TestRescueNamesElectionsWithoutACandidate(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		k := "-k" + p + "/*/leader"
		s := w.session(nil)
		w.acquire(p+"/billing/leader", s, "billing-1")
		w.unlock(p+"/billing/leader", s)
		if _, err := w.client.Session().Destroy(s, nil); err != nil {
			t.Fatal(err)
		}
		identified(t, w, k, "billing", "no_candidate", "manual")
		r := w.run("rescue", k).must(t, exitNoLeader) // if no fix writes, rescue requests no confirmation
		has(t, r.errOut, `service "billing" has no candidate`, "Start an instance of service \"billing\".")
		w.run("rescue", "billing", "nothing", k).must(t, exitNoElection)
	})
}

func TestRescueAsksAndActsOnTheExactState(t *testing.T) {
	w := onMemory(t)
	leader, _ := cluster(w, "service")
	key := "service/db/leader"
	release := func() {
		w.client.KV().Release(&api.KVPair{Key: key, Session: leader, Value: []byte("pg1")}, nil)
	}
	release()
	has(t, w.run("rescue").must(t, exitUsage).errOut, "--yes")
	r := w.runWith(deps{stdin: strings.NewReader("n\n"), interactive: true}, "rescue").must(t, exitFailed)
	has(t, r.errOut, "db (key service/db/leader)", "  problem   patroni_released", "  fix       Delete the key", "Apply 1 fix? [y/N]", "nothing was done")
	if w.get(key) == nil {
		t.Fatal("the key was deleted")
	}
	changed := &changingReader{change: func() { w.acquire(key, leader, "pg1") }}
	r = w.runWith(deps{stdin: changed, interactive: true}, "rescue").must(t, exitChanged)
	has(t, r.errOut, "db: delete_key was not applied (changed)")
	if pair := w.get(key); pair == nil || pair.Session != leader {
		t.Errorf("%+v", pair)
	}
}

// changingReader answers yes after a change.
type changingReader struct{ change func() }

func (r *changingReader) Read(p []byte) (int, error) {
	r.change()
	return copy(p, "y\n"), nil
}

func TestRescueReadsTheChecksAgainBeforeADestroy(t *testing.T) {
	w := onMemory(t)
	agent := w.client.Agent()
	if err := agent.ServiceRegister(&api.AgentServiceRegistration{Name: "web", Check: &api.AgentServiceCheck{TTL: "1h", Status: "critical"}}); err != nil {
		t.Fatal(err)
	}
	s := w.session(nil)
	w.acquire("service/web/leader", s, "web-1")
	recovers := &changingReader{change: func() {
		if err := agent.UpdateTTL("service:web", "", "passing"); err != nil {
			t.Error(err)
		}
	}}
	r := w.runWith(deps{stdin: recovers, interactive: true}, "rescue").must(t, exitChanged)
	has(t, r.errOut, "problem   orphaned_session", "web: destroy_session was not applied (changed): the leader's checks changed")
	if w.get("service/web/leader").Session != s {
		t.Error("the session was destroyed")
	}
}

func TestRescueProposesNothingForHealthyElections(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		cluster(w, p)
		w.acquire(p+"/ttl/leader", w.session(func(s *api.SessionEntry) { s.TTL = "20s" }), "ttl-1")
		w.acquire(p+"/bare/leader", w.session(nil), "bare-1")
		opts := &api.SemaphoreOptions{Prefix: p + "/jobs", Limit: 1}
		sem, err := w.client.SemaphoreOpts(opts)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sem.Acquire(nil); err != nil {
			t.Fatal(err)
		}
		defer sem.Release()
		r := w.run("rescue", "--yes", "-k", p+"/**").must(t, exitOK)
		if r.out != "" {
			t.Errorf("%+v", r)
		}
		all := rescueLines(t, w.run("rescue", "--dry-run", "-o", "json", "-k", p+"/*/leader", "-k", p+"/*/members/*", "-k", p+"/*/.lock").must(t, exitOK).out)
		if len(all) != 0 {
			t.Errorf("%+v", all)
		}
	})
}

func TestRescueRecordsEveryWrite(t *testing.T) {
	onOwn(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		file := historyFile(t)
		leader, _ := cluster(w, p)
		w.client.KV().Release(&api.KVPair{Key: p + "/db/leader", Session: leader, Value: []byte("pg1")}, nil)
		lock := w.session(func(s *api.SessionEntry) { s.Name = api.DefaultLockSessionName })
		w.acquire(p+"/web/leader", lock, "web-1")
		w.client.KV().Release(&api.KVPair{Key: p + "/web/leader", Session: lock, Value: []byte("web"), Flags: 5}, nil)
		node := "gone-" + strings.ToLower(p)
		if _, err := w.client.Catalog().Register(&api.CatalogRegistration{
			Node: node, Address: "10.0.0.9", Check: &api.AgentCheck{Node: node, CheckID: "serfHealth", Name: "Serf Health Status", Status: "critical"},
		}, nil); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.client.Catalog().Deregister(&api.CatalogDeregistration{Node: node}, nil) })
		orphan := w.session(func(s *api.SessionEntry) { s.Node = node })
		w.acquire(p+"/mail/leader", orphan, "mail-1")
		w.acquire(p+"/post/leader", orphan, "post-1")
		w.run("rescue", "--yes", "-k", p+"/*/leader", "--history", file).must(t, exitOK)
		f, err := sqlite.OpenFile(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		actions, err := f.Actions(t.Context(), history.Range{})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, a := range actions {
			got[strings.TrimPrefix(a.Key, p)] = string(a.Kind) + " " + a.Session + " " + a.Result
		}
		want := map[string]string{"/db/leader": "delete_key  done", "/web/leader": "set_flags  done", "/mail/leader": "destroy " + orphan + " done", "/post/leader": "destroy " + orphan + " done"}
		if !maps.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}
