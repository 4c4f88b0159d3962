package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/internal/consultest"
)

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

func parseDiscovered(t *testing.T, r result) discoveredGroups {
	return decoded[discoveredGroups](t, r.out)
}

func TestDiscoverNamesLocksAndTheirSoftware(t *testing.T) {
	onOwn(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		w.acquire(p+"/web/leader", w.session(nil), `{"Node":"web-1"}`)
		w.acquire(p+"/old/leader", w.session(nil), "x")
		w.unlock(p+"/old/leader", w.get(p+"/old/leader").Session)
		acquireWith(w, api.KVPair{Key: p + "/vault/core/lock", Session: w.session(func(e *api.SessionEntry) { e.Name = "Vault Lock" }), Flags: election.LockFlag})
		id := w.session(func(e *api.SessionEntry) { e.Name = "Consul API Semaphore" })
		acquireWith(w, api.KVPair{Key: p + "/slots/" + id, Session: id, Flags: election.SemaphoreFlag})
		putKey(w, p+"/slots/.lock", fmt.Sprintf(`{"Limit":2,"Holders":{%q:true}}`, id), election.SemaphoreFlag)
		cluster(w, p)
		putKey(w, p+"/unrelated", "x", 0)
		found := parseDiscovered(t, w.run("discover", "-o", "json").must(t, exitOK))
		want := map[string]string{
			"/web/leader": "Consul guide", "/old/leader": "Consul guide", "/vault/core/lock": "Vault", "/slots/.lock": "api.Semaphore", "/db/leader": "Patroni",
		}
		for _, g := range found.Groups {
			for _, key := range g.Keys {
				name := strings.TrimPrefix(key, p)
				if want[name] == "" || g.Software[want[name]] == 0 {
					t.Errorf("%s: %v, want %q", name, g.Software, want[name])
				}
				delete(want, name)
			}
		}
		if len(want) > 0 || found.Incomplete {
			t.Errorf("not found: %v", want)
		}
		if all := list(t, w, found.Flags...); len(all) != found.Locks {
			t.Errorf("the flags select %d keys, want %d: %q", len(all), found.Locks, found.Flags)
		}
		text := w.run("discover").must(t, exitOK)
		has(t, text.out, "Patroni", "Flags that watch all of them:", "-k "+p+"/vault/core/lock")
		lacks(t, text.out+text.errOut, "unrelated", "members")
	})
}

// onOwn runs a test on an in-process agent and on a real one, each with a store of its own. A test that registers a
// node with the check serfHealth needs its own agent: Consul removes such a node every minute if it is not a member.
func onOwn(t *testing.T, test func(t *testing.T, w *testConsul)) {
	t.Run("memconsul", func(t *testing.T) { test(t, onMemory(t)) })
	t.Run("consul", func(t *testing.T) { test(t, newTestConsul(t, consultest.Dev(t).Addr())) })
}

func TestDiscoverUnderAPrefix(t *testing.T) {
	w := onMemory(t)
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
}

func TestDiscoverWithoutAllRights(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	root := newTestConsul(t, agent.Addr())
	has(t, root.run("discover").must(t, exitDenied).errOut, `keys with the prefix "" cannot be read with this token`)
	has(t, root.run("discover", "--token", "00000000-0000-0000-0000-000000000000").must(t, exitDenied).errOut, "token")
}

func TestPresetsAndExclusions(t *testing.T) {
	w := onMemory(t)
	w.acquire("vault/core/lock", w.session(nil), "x")
	w.acquire("service/web/leader", w.session(nil), "web-1")
	w.acquire("service/backup/leader", w.session(nil), "backup-1")
	names := func(args ...string) string {
		r := w.run(append([]string{"list", "-o", "json"}, args...)...).must(t, exitOK)
		return fmt.Sprint(decoded[[]struct{ Election string }](t, r.out))
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
	has(t, w.run("list", "--preset", "vauld").must(t, exitUsage).errOut, "vauld", "patroni vault consul-lock semaphore")
	has(t, w.run("--help").must(t, exitOK).out, "consul-lock", "**/.lock")
	has(t, w.run("discover", "--help").must(t, exitOK).out, "consul-lock", "**/.lock")
	has(t, w.run("doctor", "-k", "!service/backup/*").must(t, exitOK).out, "keys service/*/leader", "1 election readable", "keys !service/backup/*", "not watched")
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
	f := memoryFederation(t)
	f.both()
	r := f.run("discover", "--datacenter", "dc1,dc2").must(t, exitOK)
	first, second, found := strings.Cut(r.out, "\n\nDatacenter dc2\n●")
	if !found || !strings.HasPrefix(first, "Datacenter dc1\n●") {
		t.Fatal(r.out)
	}
	has(t, first, "service/*/leader", "\n  electop --datacenter dc1 -k 'service/*/leader'")
	has(t, second, "service/*/leader", "\n  electop --datacenter dc2 -k 'service/*/leader'")
	search := func(code int, value string) (all []discoveredIn) {
		r := f.run("discover", "-o", "json", "--datacenter", value).must(t, code)
		if all = decoded[[]discoveredIn](t, r.out); len(all) != 2 || all[0].Datacenter != "dc1" || all[1].Datacenter != "dc2" {
			t.Fatal(r.out)
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
}
