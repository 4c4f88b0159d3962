package cli

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// An unset shell variable must not select more elections.
func TestEmptySelectorsAreUsageErrors(t *testing.T) {
	w := onMemory(t)
	s := w.session(nil)
	w.acquire("service/web/leader", s, "web-1")
	w.acquire("service//leader", s, "nameless")
	for _, line := range []string{
		"release web --node=", "destroy web --node=", "destroy --node=", "destroy web --session=", "destroy --session= --node=node-1",
		"destroy --session=", "release --key= web", "release ", "release  --node=node-1", "destroy web ", "show ", "list ",
		"release / --key=service/**/leader",
	} {
		args := strings.Split(line, " ")
		if !strings.HasPrefix(line, "show") && !strings.HasPrefix(line, "list") {
			args = append(args, "--yes")
		}
		r := w.run(args...).must(t, exitUsage)
		has(t, r.errOut, "empty")
		if r.out != "" || w.get("service/web/leader").Session != s {
			t.Errorf("%q: out %q", line, r.out)
		}
	}
}

// If the first read does not return the session, electop reads it again. It reports only a denied read as denied.
func TestNodeOfALeaderWhoseSessionWasNotRead(t *testing.T) {
	for _, tt := range []struct {
		name          string
		first, second int // HTTP status of a read; 0 forwards the request to Consul, 200 returns an empty list
		code          int
		errOut        string
	}{
		{"the read fails", 500, 500, exitFailed, "500"},
		{"denied", 403, 403, exitDenied, "permission denied"},
		{"the session has ended", 200, 200, exitNoElection, "no session on node node-1 leads an election"},
		{"the second read succeeds", 200, 0, exitOK, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := onMemory(t)
			s := w.session(nil)
			w.acquire("service/web/leader", s, "web-1")
			var reads atomic.Int64
			proxied := intercept(t, w, func(rw http.ResponseWriter, r *http.Request) bool {
				status := 0
				if r.URL.Path == "/v1/session/info/"+s {
					if status = tt.first; reads.Add(1) > 1 {
						status = tt.second
					}
				}
				if status == 0 {
					return false
				}
				rw.Header().Set("X-Consul-Index", "1")
				rw.WriteHeader(status)
				body := "[]"
				if status == 403 {
					body = "Permission denied"
				}
				_, _ = rw.Write([]byte(body))
				return true
			})
			r := proxied.run("release", "--node", "node-1", "--yes").must(t, tt.code)
			has(t, r.errOut, tt.errOut)
			if released := w.get("service/web/leader").Session == ""; released != (tt.code == exitOK) {
				t.Errorf("released: %v", released)
			}
		})
	}
}
