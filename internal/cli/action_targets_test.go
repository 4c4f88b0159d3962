package cli

import (
	"net/http"
	"strings"
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

// If the first read did not return the session, it is read again. Only a denied read is
// reported as denied.
func TestNodeOfALeaderWhoseSessionWasNotRead(t *testing.T) {
	for _, tt := range []struct {
		name       string
		info, list int // HTTP status; 0 forwards the request to Consul, 200 returns an empty list
		code       int
		errOut     string
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
			answers := map[string]int{"/v1/session/info/" + s: tt.info, "/v1/session/list": tt.list}
			proxied := intercept(t, w, func(rw http.ResponseWriter, r *http.Request) bool {
				status := answers[r.URL.Path]
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

// dc2 does not allow this token to read sessions, so node-1 may also lead an election there.
func TestNodeIsNotLocatedIfADatacenterCannotBeChecked(t *testing.T) {
	for _, denied := range []string{"dc1", "dc2"} {
		f := memoryFederation(t)
		f.both()
		proxied := intercept(t, f.testConsul, func(w http.ResponseWriter, r *http.Request) bool {
			refuse := r.URL.Query().Get("dc") == denied && strings.HasPrefix(r.URL.Path, "/v1/session/")
			if refuse {
				http.Error(w, "Permission denied", http.StatusForbidden)
			}
			return refuse
		})
		for _, action := range []string{"release", "destroy"} {
			r := proxied.run(action, "--yes", "--node", "node-1", "--datacenter", "all").must(t, exitDenied)
			has(t, r.errOut, "datacenter "+denied+": ")
		}
		f.unchanged()
	}
}

// unchanged checks that both datacenters still have the elections of both.
func (f *federation) unchanged() {
	f.t.Helper()
	for name, w := range map[string]*testConsul{"dc1": f.testConsul, "dc2": f.dc2} {
		if w.get("service/web/leader").Session == "" || w.get("service/only-"+name+"/leader").Session == "" {
			f.t.Errorf("an action changed %s", name)
		}
	}
}
