package cli

import (
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
		has(t, r.out, `"election":"mail"`, `"state":"idle"`)
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
		has(t, r.out, `"election":"web"`, `"leader":"web-1"`)
		vacant := w.background("wait", "web", "--vacant", "--timeout", "0", k)
		if _, err := w.client.Session().Destroy(s, nil); err != nil {
			t.Fatal(err)
		}
		has(t, vacant.wait().must(t, exitOK).out, "web has no leader\n")
	})
}

func TestWaitTimesOut(t *testing.T) {
	slow(t)
	w := onMemory(t)
	s := w.session(nil)
	w.acquire("service/web/leader", s, "web-1")
	r := w.run("wait", "web", "--leader", "web-2", "--timeout", "300ms", "-o", "json").must(t, exitFailed)
	has(t, r.errOut, "electop: timeout after 300ms: web is led by web-1")
	has(t, r.out, `"state":"led"`)
	r = w.run("wait", "mail", "--led", "--timeout", "300ms").must(t, exitNoElection)
	has(t, r.errOut, "electop: no such election: mail did not appear within 300ms\n")
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

// While Consul does not respond, a state that was reached before is no result.
func TestWaitIgnoresAnOldState(t *testing.T) {
	w := &waitCommand{vacant: true, election: &election.Election{Exists: true}}
	if !w.reached() {
		t.Error("not reached")
	}
	if w.unknown = "Consul does not respond"; w.reached() {
		t.Error("an old state counts")
	}
}
