package cli

import (
	"strconv"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// A probe is a write to Consul even though it changes no key.
func TestReadOnlyForbidsAProbe(t *testing.T) {
	w := onMemory(t)
	w.acquire("service/web/leader", w.session(nil), "web-1")
	r := w.run("show", "web", "--probe", "--read-only").must(t, exitUsage)
	has(t, r.errOut, "--read-only forbids --probe")
	if r.out != "" {
		t.Errorf("out %q", r.out)
	}
	w.run("show", "web", "--read-only").must(t, exitDone)
}

// raftIndex is the index of the last entry of the agent's Raft log.
func raftIndex(t *testing.T, client *api.Client) int {
	t.Helper()
	self, err := client.Agent().Self()
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(self["Stats"]["raft"].(map[string]any)["last_log_index"].(string))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What the help of `show` says about --probe: no key changes, and Consul writes
// one Raft log entry unless a lock-delay makes it refuse first.
func TestProbesInTheRaftLog(t *testing.T) {
	agent := consultest.Dev(t)
	w := newWorld(t, agent.Addr())
	const probes = 10
	entries := func(state string) int {
		before := raftIndex(t, w.client)
		for range probes {
			has(t, w.run("show", "web", "--probe").must(t, exitDone).out, state)
		}
		n := raftIndex(t, w.client) - before
		t.Logf("%s: %d Raft log entries for %d probes", state, n, probes)
		return n
	}
	key := "service/web/leader"
	s := w.session(func(s *api.SessionEntry) { s.LockDelay = time.Minute })
	w.acquire(key, s, "web-1")
	if n := entries("held by session"); n < probes {
		t.Errorf("held: %d entries", n)
	}
	w.unlock(key, s)
	if n := entries("free: "); n < probes {
		t.Errorf("free: %d entries", n)
	}
	w.acquire(key, s, "web-1")
	if _, err := w.client.Session().Destroy(s, nil); err != nil {
		t.Fatal(err)
	}
	before := w.get(key).ModifyIndex
	if n := entries("lock-delay"); n >= probes {
		t.Errorf("lock-delay: %d entries", n)
	}
	if now := w.get(key).ModifyIndex; now != before {
		t.Errorf("the probes changed the key: ModifyIndex %d, then %d", before, now)
	}
}
