package cli

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// A node that only lost its network for a moment keeps its leader. A node that stays lost does not.
func TestRescueOfANodeThatIsLost(t *testing.T) {
	server := consultest.Server(t)
	agent := consultest.Client(t, []*consultest.Agent{server}, consultest.WithNode("node-9"))
	w := newTestConsul(t, server.Addr())
	becomes := func(status string) {
		eventually(t, "node check that is "+status, func() bool {
			checks, _, err := w.client.Health().Node("node-9", nil)
			return err == nil && checks.AggregatedStatus() == status
		})
	}
	becomes(api.HealthPassing)
	s := w.session(func(s *api.SessionEntry) { s.Node = "node-9" })
	w.acquire("service/web/leader", s, "web-1")
	if err := syscall.Kill(agent.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	becomes(api.HealthCritical)
	reads := 0
	addr := consultest.ReverseProxy(t, w.addr, func(rw http.ResponseWriter, r *http.Request, forward http.Handler) {
		if isChecksRead(r) {
			if reads++; reads == 2 { // the read before the destroy
				if err := syscall.Kill(agent.PID(), syscall.SIGCONT); err != nil {
					t.Error(err)
				}
				becomes(api.HealthPassing)
			}
		}
		forward.ServeHTTP(rw, r)
	})
	d := deps{stdin: strings.NewReader(""), seen: 500 * time.Millisecond}
	has(t, w.runWith(d, "rescue", "--yes", "--http-addr", addr).must(t, exitChanged).errOut, "the node check of node-9 changed")
	w.alive(s)

	if err := agent.Kill(); err != nil {
		t.Fatal(err)
	}
	becomes(api.HealthCritical)
	has(t, w.runWith(d, "rescue", "--yes").must(t, exitOK).out, "web: web-1 on node-9: its session was destroyed")
	if w.get("service/web/leader").Session != "" {
		t.Error("the failed leader still holds the key")
	}
}
