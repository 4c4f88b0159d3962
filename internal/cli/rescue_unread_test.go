package cli

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

func TestRescueDoesNotWaitForALeaderThatMayHaveFailed(t *testing.T) {
	w := onMemory(t)
	s := w.session(nil)
	w.acquire("service/web/leader", s, "web-1")
	addr := unhealthy(t, w.addr)
	const why = "It is unknown whether the leader has failed: the checks of node-1 could not be read (Permission denied)"
	for _, wait := range [][]string{nil, {"--wait", "1h"}} {
		r := w.run(append([]string{"rescue", "web", "--yes", "--http-addr", addr}, wait...)...).must(t, exitNoLeader)
		has(t, r.errOut, "electop: web: "+why)
	}
	w.alive(s)
}

func isChecksRead(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/v1/health/node/") }

// unhealthy returns the address of a proxy that denies the reads of checks.
func unhealthy(t *testing.T, addr string) string {
	return consultest.ReverseProxy(t, addr, func(rw http.ResponseWriter, r *http.Request, forward http.Handler) {
		if isChecksRead(r) {
			http.Error(rw, "Permission denied", http.StatusForbidden)
			return
		}
		forward.ServeHTTP(rw, r)
	})
}

// If a token cannot read the session or the checks of a leader, rescue reports that the leader may have failed.
func TestRescueReportsUnreadableEvidence(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	w := newTestConsul(t, agent.Addr())
	w.client = agent.Client()
	w.nodeHealth("node-4", api.HealthPassing)
	w.acquire("service/web/leader", w.session(func(s *api.SessionEntry) { s.Node = "node-4" }), "web-1")
	w.acquire("service/ttl/leader", w.session(func(s *api.SessionEntry) { s.Node, s.TTL = "node-4", "1h" }), "ttl-1")
	const keys, sessions, nodes = `key_prefix "" { policy = "read" } `, `session_prefix "" { policy = "read" } `, `node_prefix "" { policy = "read" } `
	for rules, want := range map[string]map[string]string{ // the reason by election
		keys + sessions + nodes: nil,
		keys + nodes:            {"web": "its session could not be read", "ttl": "its session could not be read"},
		keys + sessions:         {"web": "the checks of node-4 could not be read (not readable with this token)"},
	} {
		secret := token(t, w.client, fmt.Sprint("t", len(rules)), rules)
		all := rescueLines(t, w.run("--read-only", "rescue", "-o", "json", "--token", secret).must(t, exitOK).out)
		if len(all) != len(want) {
			t.Errorf("%s: %+v", rules, all)
		}
		for election, reason := range want {
			if l := all[election]; l.Problem != "unknown" || l.Fix != "manual" || l.Result != "proposed" || !strings.Contains(l.Why, reason) {
				t.Errorf("%s: %s: %+v", rules, election, l)
			}
		}
	}
}
