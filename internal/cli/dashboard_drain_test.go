package cli

import (
	"log/slog"
	"strings"
	"testing"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/election/insight"
	"electop/internal/drain"
	"electop/ui"
)

// newDrains connects drains of a dashboard to a Consul.
func newDrains(t *testing.T, addr string) *dashboardDrains {
	t.Helper()
	ps, err := election.ParsePatterns([]string{"service/*/leader"})
	if err != nil {
		t.Fatal(err)
	}
	connect := func() (*consulx.Client, error) { return consulx.NewClient(consulx.Config{Address: addr}) }
	client, err := connect()
	if err != nil {
		t.Fatal(err)
	}
	c := &datacenter{client: client, connect: connect}
	c.observe(observe.Options{Patterns: ps, OnEvents: func([]election.Event) {}})
	x := newDashboardDrains(t.Context(), dashboard{
		patterns: ps, log: slog.New(slog.DiscardHandler),
		datacenters: []*datacenter{c},
	}, func(election.OperatorAction) {})
	t.Cleanup(x.close)
	return x
}

func noProgress(int, int) {}

// follow returns the last step of each election.
func follow(d ui.Drain) map[string]ui.DrainStep {
	last := map[string]ui.DrainStep{}
	for more := true; more; {
		var steps []ui.DrainStep
		steps, more = d.Next()
		for _, s := range steps {
			last[s.Key] = s
		}
	}
	return last
}

func TestTheDashboardDrainsANode(t *testing.T) {
	w := onMemory(t)
	a, b, _ := threeNodes(t, w)
	here := w.sessionOn(a)
	w.acquire("service/web/leader", here, "web-1")
	w.acquire("jobs/backup", here, "backup")
	contend(t, w, "service/web/leader", w.sessionOn(b), "web-2")
	contend(t, w, "jobs/backup", w.sessionOn(b), "backup-2")
	p, err := newDrains(t, w.addr).plan(t.Context(), "", a, noProgress)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Items) != 2 || p.Items[0].Name != "jobs/backup" || p.Items[0].Watched || !p.Items[1].Watched || len(p.Gaps) > 0 {
		t.Fatalf("%+v", p)
	}
	for key, s := range follow(p.Start(ui.DrainChoice{})) {
		if s.Status != "moved" || !followed(s.Text, " on "+b) {
			t.Errorf("%s: %+v", key, s)
		}
	}
	if pair := w.get("jobs/backup"); string(pair.Value) != "backup-2" || pair.Session == here {
		t.Errorf("%+v", pair)
	}
}

func TestAStoppedDrainOfTheDashboardReportsEachElection(t *testing.T) {
	w := onMemory(t)
	a, _, _ := threeNodes(t, w)
	w.acquire("service/web/leader", w.sessionOn(a), "web-1")
	p, err := newDrains(t, w.addr).plan(t.Context(), "", a, noProgress)
	if err != nil {
		t.Fatal(err)
	}
	d := p.Start(ui.DrainChoice{})
	for w.get("service/web/leader").Session != "" { // no candidate follows
		if _, more := d.Next(); !more {
			t.Fatal("the drain ended before the release")
		}
	}
	d.Stop()
	if s := follow(d)["service/web/leader"]; s.Status != ui.DrainInterrupted || s.Text != "interrupted, no leader, 1 release" {
		t.Errorf("%+v", s)
	}
}

func TestThePlanOfAnUnknownNodeFails(t *testing.T) {
	w := onMemory(t)
	threeNodes(t, w)
	_, err := newDrains(t, w.addr).plan(t.Context(), "", "node-x", noProgress)
	if err == nil || !strings.Contains(err.Error(), "no such node: node-x") {
		t.Errorf("%v", err)
	}
}

func TestAPauseOfADrainIsExplained(t *testing.T) {
	item := &drain.Item{Target: election.Target{Key: "service/web/leader"}}
	r := drain.Result{Item: item, Status: drain.Moving, Rounds: 10, Pausing: true, Leader: insight.Holder{Leader: "web-2", Session: "s", Node: "node-2"}}
	if s := stepOf(r); s.Text != "10 releases and a pause before the next, led by web-2 on node-2" {
		t.Errorf("%q", s.Text)
	}
}

func TestADrainOfTheDashboardFollowsTheChoice(t *testing.T) {
	w := onMemory(t)
	a, _, _ := threeNodes(t, w)
	excluded, here := w.sessionOn(a), w.sessionOn(a)
	w.acquire("service/mail/leader", excluded, "mail-1")
	w.acquire("service/web/leader", here, "web-1")
	contend(t, w, "service/web/leader", here, "web-1")
	p, err := newDrains(t, w.addr).plan(t.Context(), "", a, noProgress)
	if err != nil {
		t.Fatal(err)
	}
	d := p.Start(ui.DrainChoice{Exclude: map[string]bool{"service/mail/leader": true}, Destroy: true})
	for exists := true; exists; { // after the last round, the drain destroys the session
		if _, more := d.Next(); !more {
			t.Fatal("the drain ended before the session was destroyed")
		}
		entry, _, err := w.client.Session().Info(here, nil)
		if err != nil {
			t.Fatal(err)
		}
		exists = entry != nil
	}
	d.Stop()
	if s := follow(d)["service/mail/leader"]; s.Status != "skipped" || s.Text != ui.DrainExcluded {
		t.Errorf("%+v", s)
	}
	if pair := w.get("service/mail/leader"); pair.Session != excluded {
		t.Errorf("%+v", pair)
	}
}
