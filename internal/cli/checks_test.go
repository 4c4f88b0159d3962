package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
)

// list and show report a leader on a failed node if the leader's session does not depend on the node's health.
func TestAFailedLeaderIsReported(t *testing.T) {
	w := onMemory(t)
	p := prefix(t)
	k, node := "-k"+p+"/*/leader", "failed-"+strings.ToLower(p)
	if _, err := w.client.Catalog().Register(&api.CatalogRegistration{
		Node: node, Address: "10.0.0.9", Check: &api.AgentCheck{Node: node, CheckID: "serfHealth", Name: "Serf Health Status", Status: "critical"},
	}, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.client.Catalog().Deregister(&api.CatalogDeregistration{Node: node}, nil) })
	lasting := w.session(func(s *api.SessionEntry) { s.Node, s.LockDelay = node, time.Second })
	expiring := w.session(func(s *api.SessionEntry) { s.Node, s.LockDelay, s.TTL = node, time.Second, "1h" })
	w.acquire(p+"/alone/leader", w.session(nil), "alone-1")
	w.acquire(p+"/web/leader", lasting, "web-1")
	w.acquire(p+"/mail/leader", expiring, "mail-1")
	for _, args := range [][]string{{"show", "web", k}, {"show", "mail", k}, {"list", "--advice", k}} {
		has(t, w.run(args...).must(t, exitOK).out, node+" has failed (serfHealth is critical)")
	}
	if out := w.run("show", "alone", k).must(t, exitOK).out; strings.Contains(out, "has failed") {
		t.Errorf("show reports a failed leader, although the leader is healthy: %s", out)
	}
	if out := w.run("list", "--filter", "advice:leader_failed", k).must(t, exitOK).out; strings.Count(out, node[:20]) != 2 || strings.Contains(out, "alone") {
		t.Errorf("want the two elections whose leaders have failed, got %s", out)
	}
	out := w.run("list", "--sort", "problems", k).must(t, exitOK).out
	if strings.Index(out, "alone-1") < max(strings.Index(out, "web-1"), strings.Index(out, "mail-1")) {
		t.Errorf("want the healthy election after the others, got %s", out)
	}
}

// list reports that it cannot read the checks with which it finds failed leaders.
func TestUnreadableChecksAreReported(t *testing.T) {
	w := onMemory(t)
	w.acquire("service/web/leader", w.session(nil), "web-1")
	addr := unhealthy(t, w.addr)
	for _, args := range [][]string{{"--advice"}, {"--filter", "advice:leader_failed"}, {"--sort", "problems"}} {
		r := w.run(append([]string{"list", "--http-addr", addr}, args...)...).must(t, exitOK)
		if !strings.Contains(r.errOut, "the checks of 1 node cannot be read: leaders") {
			t.Errorf("%v: %q", args, r.errOut)
		}
	}
}
