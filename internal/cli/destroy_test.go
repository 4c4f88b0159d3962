package cli

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"electop/internal/consultest"
)

// intercept puts a proxy in front of the Consul of w. before receives each request and
// reports whether it has responded to it.
func intercept(t *testing.T, w *testConsul, before func(http.ResponseWriter, *http.Request) bool) *testConsul {
	t.Helper()
	proxied := *w
	proxied.Addr = consultest.ReverseProxy(t, w.Addr, func(rw http.ResponseWriter, r *http.Request, forward http.Handler) {
		if !before(rw, r) {
			forward.ServeHTTP(rw, r)
		}
	})
	return &proxied
}

// A server that lags behind would hide leaders from a plan.
func TestCommandsThatWriteNeverReadStaleData(t *testing.T) {
	t.Parallel()
	slow(t)
	w := onMemory(t)
	var drains atomic.Bool
	proxied := intercept(t, w, func(_ http.ResponseWriter, r *http.Request) bool {
		// With Consul's option discovery_max_stale, reads of checks are stale unless they are consistent. A leader that has
		// lost its role answers other reads.
		evidence := strings.HasPrefix(r.URL.Path, "/v1/health/node/") || r.URL.Path == "/v1/session/list" && drains.Load()
		if q := r.URL.Query(); q.Has("stale") || evidence && !q.Has("consistent") {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		return false
	})
	for _, command := range [][]string{
		{"release", "--node", "NODE-1", "--yes"}, {"destroy", "web-destroy", "--yes"}, {"drill", "web-drill", "--times", "1", "--wait", "1s", "--yes"},
		{"drain", "node-1", "--yes", "--wait", "10ms", "--rounds", "1"}, {"rescue", "--yes"},
	} {
		key := "service/web-" + command[0] + "/leader" // after a destroy, a lock-delay is active
		w.acquire(key, w.session(), "web-1")
		drains.Store(command[0] == "drain")
		proxied.run(append(command, "--stale")...)
		if w.Get(key).Session != "" && command[0] != "rescue" {
			t.Errorf("%s did nothing", command)
		}
	}
}
