package cli

import (
	"testing"

	"electop/election"
	"electop/internal/act"
)

// newDrains connects drains of a dashboard to a Consul.
func newDrains(t *testing.T, addr string) *dashboard {
	t.Helper()
	b := idle(t, "--http-addr", addr)
	b.ctx = t.Context()
	c := b.datacenters[0]
	c.observer = &told{observer: c.observer, note: func(a election.OperatorAction) {
		if a.By != userAtHost() {
			t.Errorf("the action of %q", a.By)
		}
	}}
	t.Cleanup(b.drains.Wait)
	return b
}

func noProgress(int, int) {}

// follow returns the last result of each election, and what was not verified.
func follow(d *act.Running) (last map[string]act.Outcome, unverified string) {
	last = map[string]act.Outcome{}
	for more := true; more; {
		var changes []act.Outcome
		changes, unverified, more = d.Next()
		for _, r := range changes {
			last[r.Target.Key] = r
		}
	}
	return last, unverified
}

func TestAStoppedDrainOfTheDashboardReportsEachElection(t *testing.T) {
	w := onMemory(t)
	a, _, _ := threeNodes(t, w)
	w.acquire("service/web/leader", w.sessionOn(a), "web-1")
	p, err := newDrains(t, w.Addr).PlanDrain(t.Context(), "", []string{a}, noProgress)
	must(t, err)
	d := p.Start(false)
	for w.Get("service/web/leader").Session != "" { // no candidate follows
		if _, _, more := d.Next(); !more {
			t.Fatal("the drain ended before the release")
		}
	}
	d.Stop()
	last, unverified := follow(d)
	if r := last["service/web/leader"]; r.Kind != act.OutcomeMoving || r.Summary() != "interrupted, no leader, 1 release" || unverified != "interrupted" {
		t.Errorf("%+v %s", r, unverified)
	}
}

func TestADrainOfTheDashboardFollowsTheChoice(t *testing.T) {
	w := onMemory(t)
	a, _, _ := threeNodes(t, w)
	excluded, here := w.sessionOn(a), w.sessionOn(a)
	w.acquire("service/mail/leader", excluded, "mail-1")
	w.acquire("service/web/leader", here, "web-1")
	contend(t, w, "service/web/leader", "web-1", here)
	p, err := newDrains(t, w.Addr).PlanDrain(t.Context(), "", []string{a}, noProgress)
	must(t, err)
	p.Items[0].Refuse("", "excluded in the plan")
	d := p.Start(true)
	for exists := true; exists; { // after the last round, the drain destroys the session
		if _, _, more := d.Next(); !more {
			t.Fatal("the drain ended before the session was destroyed")
		}
		entry, _, err := w.API.Session().Info(here, nil)
		exists = entry != nil || err != nil
	}
	d.Stop()
	last, _ := follow(d)
	if r := last["service/mail/leader"]; r.Kind != act.OutcomeSkipped || r.Summary() != "excluded in the plan" {
		t.Errorf("%+v", r)
	}
	if pair := w.Get("service/mail/leader"); pair.Session != excluded {
		t.Errorf("%+v", pair)
	}
}
