package cli

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/internal/consultest"
)

// storeOfLocks creates one lock of each kind under a prefix where its software allows that,
// and returns the software by key.
func storeOfLocks(w *testConsul, p string) map[string]string {
	w.t.Helper()
	held := func(key string, flags uint64, value string, change func(*api.SessionEntry)) {
		acquireWith(w, api.KVPair{Key: key, Session: w.session(change), Flags: flags, Value: []byte(value)})
	}
	named := func(name string) func(*api.SessionEntry) {
		return func(e *api.SessionEntry) { e.Name = name }
	}
	patroni := func(e *api.SessionEntry) {
		e.Name, e.TTL, e.LockDelay, e.Behavior = "db-pg1", "20s", time.Millisecond, api.SessionBehaviorDelete
	}
	unnamed := func(e *api.SessionEntry) { e.Name, e.LockDelay = "", time.Millisecond }
	slots := func(folder, session string) {
		id := w.session(named(session))
		acquireWith(w, api.KVPair{Key: folder + "/" + id, Session: id, Flags: election.SemaphoreFlag})
		putKey(w, folder+"/.lock", fmt.Sprintf(`{"Limit":2,"Holders":{%q:true}}`, id), election.SemaphoreFlag)
	}
	held(p+"/web/leader", 0, `{"Node":"web-1"}`, nil)
	held(p+"/api/lock", election.LockFlag, "", named("Consul API Lock"))
	held(p+"/jobs/night/.lock", election.LockFlag, "", named("Consul lock for 'sleep 1' at '"+p+"/jobs/night'"))
	held(p+"/jobs/day/.lock", election.LockFlag, "", func(e *api.SessionEntry) { e.Name, e.TTL, e.LockDelay = "day", "15s", 15*time.Second })
	slots(p+"/slots", "Consul lock for 'sleep 1' at '"+p+"/slots'")
	slots(p+"/semaphore", "Consul API Semaphore")
	held(p+"/db/leader", 0, "pg1", patroni)
	held(p+"/db/members/pg1", 0, `{"conn_url":"postgres://10.0.0.1/postgres"}`, patroni)
	held(p+"/vault/core/lock", election.LockFlag, "uuid", named("Vault Lock"))
	held(p+"/campaign", 0, "x", named("electop campaign"))
	held(p+"/state/.lock", election.LockFlag, "", named("Consul API Lock"))
	putKey(w, p+"/state/.lockinfo", "{}", 0)
	held(p+"/custom/x", 0, "y", nil)
	kinds := map[string]string{
		p + "/web/leader": "Consul guide", p + "/api/lock": "api.Lock", p + "/jobs/night/.lock": "consul lock",
		p + "/jobs/day/.lock": "consul lock", p + "/slots/.lock": "consul lock -n", p + "/semaphore/.lock": "api.Semaphore",
		p + "/db/leader": "Patroni", p + "/db/members/pg1": "Patroni member", p + "/vault/core/lock": "Vault",
		p + "/campaign": "electop campaign", p + "/state/.lock": "Terraform", p + "/custom/x": "other",
	}
	for key, software := range map[string]string{
		"stolon/cluster/" + p + "/sentinel-leader": "stolon", "traefik/leader": "Traefik", "docker/swarm/leader": "Docker Swarm",
		"consul-template/dedup/" + p + "/lock": "consul-template", "nomad-snapshot/lock": "Nomad snapshot agent",
		"consul-snapshot/lock": "Consul snapshot agent", "camel/" + p: "Camel", "leadership/" + p: "Micronaut", p + "-leader": "ShedLock",
	} {
		held(key, 0, "x", unnamed)
		kinds[key] = software
	}
	s := w.session(nil)
	w.acquire(p+"/old/leader", s, "x")
	w.unlock(p+"/old/leader", s)
	putKey(w, p+"/left/lock", "", election.LockFlag)
	kinds[p+"/old/leader"], kinds[p+"/left/lock"] = "Consul guide", "api.Lock"
	return kinds
}

type discoveredGroups struct {
	Scanned, Locks, Unwatched int
	Incomplete                bool
	Flags                     []string
	Groups                    []struct {
		Pattern           string
		Election          bool
		Locked, Unlocked  int
		Semaphores        int
		Software          map[string]int
		Presets, Excluded []string
		Keys, Flags       []string
	}
}

func parseDiscovered(t *testing.T, r result) (found discoveredGroups) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.out), &found); err != nil {
		t.Fatalf("%v: %s", err, r.out)
	}
	return found
}

func TestDiscoverNamesEveryKindOfLock(t *testing.T) {
	onOwn(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		kinds := storeOfLocks(w, p)
		unrelated := fillStore(w, p, 10_000)
		found := parseDiscovered(t, w.run("discover", "-o", "json").must(t, exitOK))
		if found.Scanned < unrelated || found.Incomplete {
			t.Errorf("scanned %d of more than %d keys; incomplete: %v", found.Scanned, unrelated, found.Incomplete)
		}
		software := map[string]bool{}
		for _, g := range found.Groups {
			for name := range g.Software {
				software[name] = true
			}
			for _, key := range g.Keys {
				want, known := kinds[key]
				if g.Software[want] == 0 {
					t.Errorf("%s: %v, want %q (known: %v)", key, g.Software, want, known)
				}
				delete(kinds, key)
			}
		}
		if len(kinds) > 0 || len(software) < 20 {
			t.Errorf("missing %v; %d kinds: %v", kinds, len(software), software)
		}
		// The flags select the elections and no other key.
		listed := w.run(append([]string{"list", "-o", "json"}, found.Flags...)...).must(t, exitOK)
		var all []struct{ Key string }
		if err := json.Unmarshal([]byte(listed.out), &all); err != nil {
			t.Fatal(err)
		}
		if len(all) != found.Locks {
			t.Errorf("the flags select %d keys, want %d: %q", len(all), found.Locks, found.Flags)
		}
		text := w.run("discover").must(t, exitOK)
		has(t, text.out, "Patroni", "not elections", "Flags that watch all of them:", "-k "+p+"/vault/core/lock")
		has(t, text.errOut, "searched")
		if strings.Contains(text.out+text.errOut, "unrelated") {
			t.Errorf("the output contains unrelated keys: %s", text.out)
		}
	})
}

// onOwn runs a test on an in-process agent and on a real one, each with a store of its own. A test that registers a
// node with the check serfHealth needs its own agent: Consul removes such a node every minute if it is not a member.
func onOwn(t *testing.T, test func(t *testing.T, w *testConsul)) {
	t.Run("memconsul", func(t *testing.T) { test(t, onMemory(t)) })
	t.Run("consul", func(t *testing.T) { test(t, newTestConsul(t, consultest.Dev(t).Addr())) })
}

// fillStore creates keys that were never locked, in all folders of a prefix.
func fillStore(w *testConsul, p string, n int) int {
	w.t.Helper()
	folders := []string{p + "/unrelated", p + "/web", p + "/db", "service/unrelated", "unrelated", "config/unrelated/leader"}
	var workers sync.WaitGroup
	defer workers.Wait()
	for worker := range 4 {
		workers.Go(func() {
			for i := worker * 64; i < n; i += 4 * 64 {
				var ops api.TxnOps
				for j := i; j < min(n, i+64); j++ {
					key := fmt.Sprintf("%s/unrelated-%d", folders[j%len(folders)], j)
					ops = append(ops, &api.TxnOp{KV: &api.KVTxnOp{Verb: api.KVSet, Key: key, Value: []byte(`{"leader":"x"}`)}})
				}
				if ok, answer, _, err := w.client.Txn().Txn(ops, nil); err != nil || !ok {
					w.t.Errorf("%v %v", answer, err)
					return
				}
			}
		})
	}
	return n
}

func TestDiscoverUnderAPrefix(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		w.acquire(p+"/a/leader", w.session(nil), "x")
		w.acquire(p+"/b/leader", w.session(nil), "x")
		putKey(w, p+"/b/config", "x", 0)
		found := parseDiscovered(t, w.run("discover", "/"+p+"/b", "-o", "json", "-k", p+"/*/leader").must(t, exitOK))
		if len(found.Groups) != 1 || found.Groups[0].Keys[0] != p+"/b/leader" || found.Scanned != 2 || found.Unwatched != 0 {
			t.Errorf("%+v", found)
		}
		none := w.run("discover", p+"/nothing").must(t, exitOK)
		has(t, none.errOut, "no locks found under")
		if found := parseDiscovered(t, w.run("discover", p+"/nothing", "-o", "json").must(t, exitOK)); found.Groups == nil || found.Flags == nil {
			t.Errorf("%+v", found)
		}
	})
}

func TestDiscoverFailures(t *testing.T) {
	w := onMemory(t)
	w.run("discover", "a", "b").must(t, exitUsage)
	w.run("discover", "-o", "yaml").must(t, exitUsage)
	w.run("discover", "--http-addr", "127.0.0.1:1").must(t, exitFailed)
}

func TestDiscoverWithoutAllRights(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	root := newTestConsul(t, agent.Addr())
	root.run("discover").must(t, exitDenied)
	has(t, root.run("discover", "--token", "00000000-0000-0000-0000-000000000000").must(t, exitDenied).errOut, "token")
}

func TestShellWords(t *testing.T) {
	args := []string{"-k", "a/*/leader", "it's", "$(x)", "a b", "", "plain/key.x", "!x"}
	out, err := exec.Command("sh", "-c", "printf '%s\\n' "+shellWords(args)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"); !slices.Equal(got, args) {
		t.Errorf("%q, want %q", got, args)
	}
}

func TestPresetsAndExclusions(t *testing.T) {
	onOwn(t, func(t *testing.T, w *testConsul) {
		w.acquire("vault/core/lock", w.session(nil), "x")
		w.acquire("service/web/leader", w.session(nil), "web-1")
		w.acquire("service/backup/leader", w.session(nil), "backup-1")
		names := func(args ...string) string {
			r := w.run(append([]string{"list", "-o", "json"}, args...)...).must(t, exitOK)
			var all []struct{ Election string }
			if err := json.Unmarshal([]byte(r.out), &all); err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(all)
		}
		for want, args := range map[string][]string{
			"[{backup} {web}]":                   nil,
			"[{web}]":                            {"-k", "!service/backup/*"},
			"[{vault/core/lock}]":                {"--preset", "vault"},
			"[{backup} {web} {vault/core/lock}]": {"--preset", "vault,patroni"},
			"[{web} {vault/core/lock}]":          {"--preset", "vault", "--preset", "patroni", "-k", "!service/backup/leader"},
			"[]":                                 {"--preset", "semaphore"},
		} {
			if got := names(args...); got != want {
				t.Errorf("%q: %s, want %s", args, got, want)
			}
		}
		has(t, w.run("list", "--preset", "vauld").must(t, exitUsage).errOut, "vauld", "patroni, vault, consul-lock, semaphore")
		has(t, w.run("--help").must(t, exitOK).out, "consul-lock", "**/.lock")
		has(t, w.run("discover", "--help").must(t, exitOK).out, "consul-lock", "**/.lock")
		has(t, w.run("doctor", "-k", "!service/backup/*").must(t, exitOK).out, "keys service/*/leader", "1 election;", "keys !service/backup/*", "not watched")
	})
}

func acquireWith(w *testConsul, p api.KVPair) {
	w.t.Helper()
	if ok, _, err := w.client.KV().Acquire(&p, nil); err != nil || !ok {
		w.t.Fatalf("acquire %s: %v %v", p.Key, ok, err)
	}
}

func putKey(w *testConsul, key, value string, flags uint64) {
	w.t.Helper()
	if _, err := w.client.KV().Put(&api.KVPair{Key: key, Value: []byte(value), Flags: flags}, nil); err != nil {
		w.t.Fatal(err)
	}
}

type discoveredIn struct {
	discoveredGroups
	Datacenter, Error string
}

func TestDiscoverInSeveralDatacenters(t *testing.T) {
	onFederations(t, func(t *testing.T, f *federation) {
		f.both()
		r := f.run("discover", "--datacenter", "dc1,dc2").must(t, exitOK)
		first, second, found := strings.Cut(r.out, "\n\nDatacenter dc2\n●")
		if !found || !strings.HasPrefix(first, "Datacenter dc1\n●") {
			t.Fatal(r.out)
		}
		has(t, first, "service/*/leader", "\n  electop --datacenter dc1 -k 'service/*/leader'")
		has(t, second, "service/*/leader", "\n  electop --datacenter dc2 -k 'service/*/leader'")
		has(t, r.errOut, "  datacenter dc1: searched 2 of 2 keys\n", "  datacenter dc2: searched 2 of 2 keys\n")
		search := func(code int, value string) (all []discoveredIn) {
			r := f.run("discover", "-o", "json", "--datacenter", value).must(t, code)
			if err := json.Unmarshal([]byte(r.out), &all); err != nil || len(all) != 2 || all[0].Datacenter != "dc1" || all[1].Datacenter != "dc2" {
				t.Fatalf("%v: %s", err, r.out)
			}
			return all
		}
		all := search(exitOK, "all")
		if all[0].Locks != 2 || all[1].Locks != 2 || !slices.Contains(all[1].Groups[0].Keys, "service/only-dc2/leader") {
			t.Errorf("%+v", all)
		}
		r = f.run("discover", "service/only-dc2/", "--datacenter", "all").must(t, exitOK)
		has(t, r.errOut, "electop: datacenter dc1: no locks found under service/only-dc2/\n")
		if !strings.HasPrefix(r.out, "Datacenter dc2\n") {
			t.Error(r.out)
		}
		f.lose()
		r = f.run("discover", "--datacenter", "dc2,dc1").must(t, exitFailed)
		has(t, r.out, "Datacenter dc1\n")
		has(t, r.errOut, "electop: datacenter dc2: ")
		if all = search(exitFailed, "dc1,dc2"); all[0].Locks != 2 || all[1].Error == "" || all[1].Groups == nil {
			t.Errorf("%+v", all)
		}
	})
}
