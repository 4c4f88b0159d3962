package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/internal/consultest"
)

func TestWaitEndsAtOnceIfTheStateIsReached(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		k := "-k" + p + "/*/leader"
		s := w.session(nil)
		w.acquire(p+"/web/leader", s, "web-1")
		w.acquire(p+"/mail/leader", s, "mail-1")
		w.unlock(p+"/mail/leader", s)
		has(t, w.run("wait", "web", "--led", k).must(t, exitOK).out, "web is led by web-1, term 1, session "+s)
		w.run("wait", "web", "--leader", "web-1", k).must(t, exitOK)
		w.run("wait", "web", "--leader", s, k).must(t, exitOK)
		r := w.run("wait", p+"/mail/leader", "--vacant", "-o", "json", k).must(t, exitOK)
		var e struct{ Election, State string }
		if err := json.Unmarshal([]byte(r.out), &e); err != nil || e.Election != "mail" || e.State != "idle" {
			t.Errorf("%v: %s", err, r.out)
		}
	})
}

func TestWaitSeesTheState(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		k := "-k" + p + "/*/leader"
		s := w.session(func(s *api.SessionEntry) { s.LockDelay = time.Minute })
		created := w.background("wait", "web", "--leader", "web-1", "-o", "json", k)
		w.acquire(p+"/web/leader", s, "web-1")
		r := created.wait().must(t, exitOK)
		has(t, r.out, `"election": "web"`, `"leader": "web-1"`)
		vacant := w.background("wait", "web", "--vacant", "--timeout", "0", k)
		if _, err := w.client.Session().Destroy(s, nil); err != nil {
			t.Fatal(err)
		}
		has(t, vacant.wait().must(t, exitOK).out, "web has no leader\n")
	})
}

func TestWaitInSeveralDatacenters(t *testing.T) {
	onFederations(t, func(t *testing.T, f *federation) {
		f.both()
		two := []string{"--datacenter", "dc1,dc2"}
		wait := func(args ...string) result { return f.run(append(append([]string{"wait"}, args...), two...)...) }
		r := wait("web", "--led").must(t, exitUsage)
		has(t, r.errOut, `"web" exists in the datacenters dc1, dc2; choose one with --datacenter`)
		r = wait("only-dc2", "--led", "-o", "json").must(t, exitOK)
		has(t, r.out, `"datacenter": "dc2"`, `"election": "only-dc2"`)
		r = wait("new", "--led").must(t, exitNoElection)
		has(t, r.errOut, "no such election: new; to wait for a key that does not exist, name one datacenter, e.g. --datacenter dc1\n")
		if r = wait("new", "--vacant").must(t, exitNoElection); strings.Contains(r.errOut, "does not exist") {
			t.Error(r.errOut)
		}
		vacant := f.background(append([]string{"wait", "only-dc2", "--vacant", "--timeout", "0"}, two...)...)
		key := "service/only-dc2/leader"
		f.dc2.unlock(key, f.dc2.get(key).Session)
		has(t, vacant.wait().must(t, exitOK).out, "only-dc2 has no leader\n")
		f.lose()
		r = wait("only-dc1", "--led").must(t, exitFailed)
		has(t, r.errOut, "a datacenter cannot be read: datacenter dc2: ")
	})
}

func TestWaitTimesOut(t *testing.T) {
	w := onMemory(t)
	s := w.session(nil)
	w.acquire("service/web/leader", s, "web-1")
	r := w.run("wait", "web", "--leader", "web-2", "--timeout", "2s", "-o", "json").must(t, exitFailed)
	has(t, r.errOut, "electop: timeout after 2s: web is led by web-1")
	has(t, r.out, `"state": "led"`)
	r = w.run("wait", "mail", "--led", "--timeout", "2s").must(t, exitNoElection)
	has(t, r.errOut, "electop: no such election: mail did not appear within 2s\n")
}

func TestWaitEndsIfTheTokenCannotReadTheKey(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	w := newTestConsul(t, agent.Addr())
	r := w.run("wait", "web", "--led", "--timeout", "2m").must(t, exitDenied)
	has(t, r.errOut, "this token cannot read service/web/leader")
}

func TestWaitRejectsWhatCannotBeReached(t *testing.T) {
	w := onMemory(t)
	w.acquire("service/web/leader", w.session(nil), "web-1")
	w.run("wait", "mail", "--vacant").must(t, exitNoElection)
	w.run("wait", "a/b", "--led").must(t, exitNoElection)
	has(t, w.run("wait", "web").must(t, exitUsage).errOut, "wait requires exactly one of --led, --vacant and --leader")
	w.run("wait", "web", "--led", "--vacant").must(t, exitUsage)
	w.run("wait", "web", "--leader", "").must(t, exitUsage)
	w.run("wait", "web", "--led", "--timeout", "-1s").must(t, exitUsage)
	w.run("wait", "web", "mail", "--led").must(t, exitUsage)
	if _, err := w.client.KV().Put(&api.KVPair{Key: "service/jobs/leader", Flags: election.SemaphoreFlag, Value: []byte(`{"Limit":2,"Holders":{}}`)}, nil); err != nil {
		t.Fatal(err)
	}
	has(t, w.run("wait", "jobs", "--led").must(t, exitUsage).errOut, "jobs is a semaphore, which has holders and no leader")
}
