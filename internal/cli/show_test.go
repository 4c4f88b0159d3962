package cli

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// shown is the output of `show -o json`.
type shown struct {
	listed
	WhyVacant  string `json:"why_vacant"`
	Candidates []struct {
		Name, Reason string
		Weak         bool
		Session      struct{ ID string }
	}
	Semaphore *struct {
		Limit            int
		Holders, Waiters []struct {
			Session, Name, Node string
			Gone                bool
		}
	}
	Software *struct{ Name, Otherwise string }
	Advice   []struct {
		Code, Why, Do string
		Urgent        bool
	}
	Unread []string
	Probe  *struct {
		State, Session string
		Exists         bool
	}
}

func show1(t *testing.T, w *testConsul, args ...string) shown {
	t.Helper()
	return decoded[shown](t, w.run(append([]string{"show", "-o", "json"}, args...)...).must(t, exitOK).out)
}

func TestShowExplainsAVacancy(t *testing.T) {
	w := onMemory(t)
	p := prefix(t)
	key := p + "/billing/leader"
	s := w.session(func(s *api.SessionEntry) { s.Name = "something else" })
	w.acquire(key, s, "billing-1")
	w.unlock(key, s)
	got := show1(t, w, "billing", "-k", p+"/*/leader")
	has(t, got.WhyVacant, "No leader when electop started", "No candidate was seen.")
	w.session(func(s *api.SessionEntry) { s.Name = "billing-2" })
	got = show1(t, w, "billing", "-k", p+"/*/leader")
	has(t, got.WhyVacant, "A lock-delay may still be active.", "1 likely candidate seen")
	r := w.run("show", "billing", "-k", p+"/*/leader").must(t, exitOK)
	has(t, r.out, "A lock-delay may still be active.", "billing-2 ", "named after the election: billing-2")
}

func TestShowDescribesSemaphores(t *testing.T) {
	w := onMemory(t)
	p := prefix(t)
	held, err := w.client.SemaphorePrefix(p+"/gpu", 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.Acquire(nil); err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	waiter := w.session(func(s *api.SessionEntry) { s.Name, s.Behavior = "waiter", api.SessionBehaviorDelete })
	w.acquire(p+"/gpu/"+waiter, waiter, "")
	got := show1(t, w, p+"/gpu/.lock", "-k", p+"/*/.lock")
	s := got.Semaphore
	if s == nil || s.Limit != 1 || len(s.Holders) != 1 || s.Holders[0].Gone || len(s.Waiters) != 1 || s.Waiters[0].Session != waiter {
		t.Fatalf("%+v", s)
	}
	if len(got.Candidates) != 1 || got.Candidates[0].Session.ID != waiter {
		t.Errorf("%+v", got.Candidates)
	}
	has(t, got.WhyVacant, "1 of 1 slots are taken")
	if _, err := w.client.KV().DeleteTree(p+"/gpu/"+s.Holders[0].Session, nil); err != nil {
		t.Fatal(err)
	}
	r := w.run("show", "gpu", "-k", p+"/*/.lock").must(t, exitOK)
	has(t, r.out, "1 of 1 slot taken  1 with an ended session", "session ended: a contender can take the slot", waiter)
}

func TestShowProbesTheLockDelay(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		key := p + "/web/leader"
		s := w.session(func(s *api.SessionEntry) { s.LockDelay = time.Minute })
		w.acquire(key, s, "web-1")
		// The result of the probe replaces the inference.
		probe := func(why string) (state, session string) {
			got := show1(t, w, "web", "--probe", "-k", p+"/*/leader")
			if got.Probe == nil {
				t.Fatal("the output contains no result of the probe")
			}
			if !strings.Contains(got.WhyVacant, why) || (why == "") != (got.WhyVacant == "") || strings.Contains(got.WhyVacant, "may still be active") {
				t.Errorf("%s: %q", got.Probe.State, got.WhyVacant)
			}
			return got.Probe.State, got.Probe.Session
		}
		if state, session := probe(""); state != "held" || session != s {
			t.Error(state, session)
		}
		w.unlock(key, s)
		if state, _ := probe("No lock-delay is active: a candidate can acquire the key now."); state != "free" {
			t.Error(state)
		}
		w.acquire(key, s, "web-1")
		if _, err := w.client.Session().Destroy(s, nil); err != nil {
			t.Fatal(err)
		}
		if state, _ := probe("A lock-delay is active: Consul rejects every acquire."); state != "delayed" {
			t.Error(state)
		}
		r := w.run("show", "web", "--probe", "-k", p+"/*/leader").must(t, exitOK)
		has(t, r.out, "a lock-delay is active: Consul rejects every acquire")
		if got := show1(t, w, "web", "-k", p+"/*/leader"); got.Probe != nil {
			t.Error("show probed without --probe")
		}
	})
}

// The help of --probe and docs state the cost of a probe.
func TestAProbeWritesOneRaftLogEntry(t *testing.T) {
	w := newTestConsul(t, consultest.Dev(t).Addr())
	const probes = 10
	for _, delayed := range []bool{false, true} {
		s := w.session(func(s *api.SessionEntry) { s.LockDelay = time.Minute })
		if w.acquire("service/web/leader", s, "web-1"); delayed {
			if _, err := w.client.Session().Destroy(s, nil); err != nil {
				t.Fatal(err)
			}
		} else {
			w.unlock("service/web/leader", s)
		}
		index := func() (n int) {
			self, err := w.client.Agent().Self()
			if err == nil {
				n, err = strconv.Atoi(self["Stats"]["raft"].(map[string]any)["last_log_index"].(string))
			}
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		before := index()
		for range probes {
			w.run("show", "web", "--probe").must(t, exitOK)
		}
		// Consul itself writes an entry from time to time.
		if n := index() - before; (n >= probes) == delayed || n > 2*probes {
			t.Errorf("lock-delay %v: %d Raft log entries for %d probes", delayed, n, probes)
		}
	}
}
