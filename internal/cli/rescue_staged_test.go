package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
)

// lostLeader is a leader on a node of its own, whose session depends on checks of the node and of a service.
type lostLeader struct {
	w                  *testConsul
	node, key, session string
}

// stageLeader creates the leader of an election.
func (w *testConsul) stageLeader(key string, entry api.SessionEntry) *lostLeader {
	w.t.Helper()
	l := &lostLeader{w: w, node: "node-of-" + key, key: key}
	l.check("disk", "", api.HealthPassing)
	l.check("service:web", "web", api.HealthPassing)
	w.t.Cleanup(func() { l.deregister(api.CatalogDeregistration{}) })
	entry.Name, entry.Node, entry.NodeChecks, entry.ServiceChecks = "web", l.node, []string{"disk"}, []api.ServiceCheck{{ID: "service:web"}}
	id, _, err := w.client.Session().Create(&entry, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	l.session = id
	w.t.Cleanup(func() { w.client.Session().Destroy(id, nil) })
	w.acquire(key, id, "web-1")
	return l
}

func (l *lostLeader) check(id, service, status string) {
	l.w.t.Helper()
	r := &api.CatalogRegistration{
		Node: l.node, Address: "10.9.9.9", Check: &api.AgentCheck{Node: l.node, CheckID: id, Name: id, Status: status, ServiceID: service},
	}
	if service != "" {
		r.Service = &api.AgentService{ID: service, Service: service}
	}
	if _, err := l.w.client.Catalog().Register(r, nil); err != nil {
		l.w.t.Fatal(err)
	}
}

func (l *lostLeader) deregister(what api.CatalogDeregistration) {
	what.Node = l.node
	_, _ = l.w.client.Catalog().Deregister(&what, nil)
}

func (l *lostLeader) destroy() { _, _ = l.w.client.Session().Destroy(l.session, nil) }

func (l *lostLeader) delete() { _, _ = l.w.client.KV().Delete(l.key, nil) }

// losses contains ways of losing a leader that cause a lock-delay.
func losses() map[string]func(*lostLeader) {
	return map[string]func(*lostLeader){
		"destroyed":              (*lostLeader).destroy,
		"destroyed-and-deleted":  func(l *lostLeader) { l.destroy(); l.delete() },
		"service-check-critical": func(l *lostLeader) { l.check("service:web", "web", api.HealthCritical) },
		"node-deregistered":      func(l *lostLeader) { l.deregister(api.CatalogDeregistration{}) },
	}
}

// stageLosses ends the leader of one election per loss, and returns after all have ended. A history records the
// elections, so that deleted keys are known.
func stageLosses(t *testing.T, w *testConsul, p string) (history string) {
	t.Helper()
	all, history := losses(), historyFile(t)
	leaders := map[string]*lostLeader{}
	for name := range all {
		leaders[name] = w.stageLeader(p+"/"+name+"/leader", api.SessionEntry{LockDelay: time.Minute})
	}
	events := w.follow("watch", "-o", "json", "--history", history, "-k", p+"/*/leader")
	for range all {
		events.until("elected")
	}
	for name, end := range all {
		end(leaders[name])
	}
	for range all {
		events.until("explained")
	}
	events.stop()
	for name, l := range leaders {
		if pair := w.get(l.key); pair != nil && pair.Session != "" {
			t.Fatalf("%s: the leader was not lost", name)
		}
	}
	return history
}

func TestRescueIdentifiesEveryLockDelay(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		history := stageLosses(t, w, p)
		all := rescueLines(t, w.run("rescue", "--dry-run", "-o", "json", "--history", history, "-k", p+"/*/leader").must(t, exitOK).out)
		for name := range losses() {
			if l := all[name]; l.Problem != "lock_delay" || l.Fix != "wait" || l.LockDelayUntil == "" {
				t.Errorf("%s: %+v", name, l)
			}
		}
	})
}

// deletedKeys deletes the keys of two leaders, and returns the history. web has two candidates that do not acquire the
// key, the former leader and another one. job has none.
func deletedKeys(t *testing.T, w *testConsul, p string) (history, waiting string) {
	t.Helper()
	history = historyFile(t)
	job := w.session(func(s *api.SessionEntry) { s.Name, s.LockDelay = "job-1", time.Millisecond })
	w.acquire(p+"/job/leader", job, "job-1")
	leader := w.session(func(s *api.SessionEntry) { s.Name = "web-1" })
	w.acquire(p+"/web/leader", leader, "web-1")
	events := w.follow("watch", "-o", "json", "--history", history, "-k", p+"/*/leader")
	events.until("elected")
	events.until("elected")
	waiting = w.session(func(s *api.SessionEntry) { s.Name = "web-2" })
	for _, name := range []string{"job", "web"} {
		if _, err := w.client.KV().Delete(p+"/"+name+"/leader", nil); err != nil {
			t.Fatal(err)
		}
		events.until("explained")
	}
	events.stop()
	w.client.Session().Destroy(job, nil)
	return history, waiting
}

func TestRescueFindsADeletedKeyThatCandidatesWaitFor(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		file, waiting := deletedKeys(t, w, p)
		past := []string{"--history", file, "-k", p + "/*/leader"}
		all := rescueLines(t, w.run(append(past, "rescue", "--dry-run", "-o", "json")...).must(t, exitOK).out)
		if l := all["web"]; len(all) != 1 || l.Problem != "candidates_idle" || l.Fix != "manual" {
			t.Fatalf("%+v", all)
		}
		has(t, all["web"].Why, "because its key was deleted. 2 likely candidates seen, but none acquires the key.")
		r := w.run(append(past, "rescue", "job", "--yes")...).must(t, exitNoLeader)
		has(t, r.errOut, `job: no_candidate. Start an instance of service "job".`)
		contend(t, w, p+"/web/leader", waiting, "web-2") // the operator restarts the candidate
		r = w.run(append(past, "rescue", "web", "--yes", "--wait", "30s")...).must(t, exitOK)
		if r.out != "" && r.out != "web: web-2 leads\n" { // on a slow machine, web-2 may already have led
			t.Error(r.out)
		}
		eventually(t, "leader", func() bool { return w.get(p+"/web/leader") != nil })
		if out := w.run(append(past, "rescue", "--dry-run")...).must(t, exitOK).out; out != "" {
			t.Errorf("healthy: %s", out)
		}
	})
}

// Candidates that do not acquire a free key must be restarted.
func TestRescueFindsCandidatesThatDoNotAcquireTheKey(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		k, key := "-k"+p+"/*/leader", p+"/web/leader"
		named := func(name string) string { return w.session(func(s *api.SessionEntry) { s.Name = name }) }
		first := named("web-1")
		w.acquire(key, first, "web-1")
		second := named("web-2")
		w.unlock(key, first)
		identified(t, w, k, []string{"web"}, "candidates_idle", "manual")
		contend(t, w, key, second, "web-2")
		r := w.run("rescue", "--yes", "--wait", "30s", k).must(t, exitOK)
		if r.out != "" && r.out != "web: web-2 leads\n" { // on a slow machine, web-2 may already have led
			t.Error(r.out)
		}
	})
}

// healthyKeys creates a leader for each kind of software of docs/actions.md that sets no other key.
func healthyKeys(w *testConsul, p string) {
	w.t.Helper()
	for key, s := range map[string]struct {
		flags uint64
		entry api.SessionEntry
	}{
		"consul-lock/.lock": {api.LockFlagValue, api.SessionEntry{Name: "Consul lock for 'run' at 'consul-lock'", TTL: "15s", LockDelay: 15 * time.Second}},
		"npm/leader":        {api.LockFlagValue, api.SessionEntry{Name: "Consul API Lock", TTL: "15s", LockDelay: 3 * time.Second}},
		"flags/leader":      {5, api.SessionEntry{Name: api.DefaultLockSessionName, TTL: "15s"}},
		"vault/core/lock":   {0, api.SessionEntry{Name: "Vault Lock", TTL: "15s"}},
		"stolon/leader":     {0, api.SessionEntry{TTL: "20s", LockDelay: time.Millisecond, Behavior: api.SessionBehaviorDelete}},
		"traefik/leader":    {0, api.SessionEntry{TTL: "20s", LockDelay: time.Millisecond}},
		"campaign/leader":   {0, api.SessionEntry{Name: "electop campaign", TTL: "15s"}},
		"recipe/leader":     {0, api.SessionEntry{Name: "recipe"}},
	} {
		id := w.session(func(e *api.SessionEntry) { *e = s.entry })
		pair := &api.KVPair{Key: p + "/" + key, Value: []byte("leader-1"), Flags: s.flags, Session: id}
		if ok, _, err := w.client.KV().Acquire(pair, nil); err != nil || !ok {
			w.t.Fatal(key, ok, err)
		}
	}
	if _, err := w.client.KV().Put(&api.KVPair{Key: p + "/recipe/leader", Value: []byte("overwritten")}, nil); err != nil {
		w.t.Fatal(err)
	}
}

func TestRescueProposesNothingForAnyKindOfHealthyElection(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		cluster(w, p)
		healthyKeys(w, p)
		lock, err := w.client.LockKey(p + "/lock/leader")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lock.Lock(nil); err != nil {
			t.Fatal(err)
		}
		defer lock.Unlock()
		bound := w.stageLeader(p+"/bound/leader", api.SessionEntry{})
		bound.check("service:web", "web", api.HealthWarning)
		bound.check("service:mail", "mail", api.HealthCritical) // another service
		instances := w.stageLeader(p+"/instances/leader", api.SessionEntry{})
		instances.check("service:web-2", "web-2", api.HealthCritical)
		for limit, name := range map[int]string{1: "full", 2: "free"} {
			sem, err := w.client.SemaphoreOpts(&api.SemaphoreOptions{Prefix: p + "/" + name, Limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := sem.Acquire(nil); err != nil {
				t.Fatal(err)
			}
			defer sem.Release()
		}
		unused := &api.KVPair{Key: p + "/unused/.lock", Flags: api.SemaphoreFlagValue, Value: []byte(`{"Limit":1,"Holders":{}}`)}
		if _, err := w.client.KV().Put(unused, nil); err != nil {
			t.Fatal(err)
		}
		patterns := []string{"-k", p + "/**/leader", "-k", p + "/**/.lock", "-k", p + "/**/lock", "-k", p + "/*/members/*"}
		listed := w.run(append(patterns, "list", "-o", "json")...).must(t, exitOK).out
		if n := strings.Count(listed, `"election":`); n != 17 {
			t.Errorf("%d elections: %s", n, listed)
		}
		for _, mode := range []string{"--dry-run", "--read-only", "--yes"} {
			if out := w.run(append(patterns, "rescue", mode, "-o", "json")...).must(t, exitOK).out; out != "" {
				t.Errorf("%s: %s", mode, out)
			}
		}
	})
}
