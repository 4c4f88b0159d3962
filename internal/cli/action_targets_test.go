package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"electop/consulx"
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

// unchanged checks that the elections in both datacenters still have leaders.
func (f *federation) unchanged() {
	f.t.Helper()
	for name, w := range map[string]*testConsul{"dc1": f.testConsul, "dc2": f.dc2} {
		if w.get("service/web/leader").Session == "" || w.get("service/only-"+name+"/leader").Session == "" {
			f.t.Errorf("an action ended a term in %s", name)
		}
	}
}

// knownLeader sets the headers of a response of Consul.
func knownLeader(w http.ResponseWriter) {
	for _, name := range []string{"X-Consul-Index", "X-Consul-LastContact"} {
		w.Header().Set(name, "1")
	}
	w.Header().Set("X-Consul-Knownleader", "true")
}

// filtered returns the federation for a token that cannot read the keys of dc2 that begin with a prefix.
func (f *federation) filtered(prefix string) *testConsul {
	return intercept(f.t, f.testConsul, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("dc") != "dc2" {
			return false
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return false
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer, status := "", http.StatusOK
		switch {
		case strings.HasPrefix(r.URL.Path, "/v1/kv/"):
			w.Header().Set("X-Consul-Results-Filtered-By-Acls", "true")
			status = http.StatusNotFound // as Consul does for an empty list
		case r.URL.Path == "/v1/txn" && strings.Contains(string(body), prefix):
			answer = `{"Results":[],"Errors":null}`
		default:
			return false
		}
		knownLeader(w)
		w.WriteHeader(status)
		fmt.Fprint(w, answer)
		return true
	})
}

// If the token cannot read all keys of dc2, an action must not choose dc1.
func TestActionsChooseNoDatacenterBecauseKeysAreHidden(t *testing.T) {
	f := memoryFederation(t)
	f.both()
	proxied := f.filtered("service/web/")
	for _, args := range [][]string{
		{"release", "--yes", "web"}, {"destroy", "--yes", "service/web/leader"}, {"release", "--yes", "only-dc1"},
		{"release", "--yes", "--node", "node-1"}, {"show", "web"},
	} {
		r := proxied.run(append(args, "--datacenter", "all")...).must(t, exitDenied)
		has(t, r.errOut, "this token cannot read all keys of datacenter dc2", "there too; choose a datacenter with --datacenter")
	}
	f.unchanged()
	proxied.run("show", "web", "--datacenter", "dc1").must(t, exitOK)
	// The token can read this key in dc2, where it does not exist.
	proxied.run("release", "--yes", "service/only-dc1/leader", "--wait", "1ms", "--datacenter", "all").must(t, exitFailed)
	if f.get("service/only-dc1/leader").Session != "" {
		t.Error("the key is still held after the release")
	}
	r := proxied.run("list", "nothing", "--datacenter", "all").must(t, exitNoElection)
	has(t, r.errOut, "keys may be hidden")
}

// Without a token, Consul sets no header if it hides keys of dc2.
func TestNodeIsNotLocatedWithoutAToken(t *testing.T) {
	f := memoryFederation(t)
	f.both()
	f.dc2.node("node-2")
	f.dc2.acquire("service/far/leader", f.dc2.sessionOn("node-2"), "far")
	proxied := intercept(t, f.testConsul, func(w http.ResponseWriter, r *http.Request) bool {
		asked := r.URL.Query().Get("dc") == "dc1" && r.URL.Path == "/v1/session/info/"+consulx.NoSession
		if asked {
			knownLeader(w)
			w.Header().Set("X-Consul-Default-Acl-Policy", "deny")
			fmt.Fprint(w, "[]")
		}
		return asked
	})
	for _, action := range []string{"release", "destroy"} {
		r := proxied.run(action, "--yes", "--node", "node-2", "--datacenter", "all").must(t, exitDenied)
		has(t, r.errOut, "without a token, Consul does not report hidden keys of datacenter dc1, and sessions on node node-2 may lead elections there too; choose a datacenter with --datacenter")
	}
	f.unchanged()
	if f.dc2.get("service/far/leader").Session == "" {
		t.Error("the key of dc2 was released although dc1 may hide elections on the node")
	}
	proxied.run("release", "--yes", "--node", "node-2", "--datacenter", "dc2").must(t, exitOK)
	if f.dc2.get("service/far/leader").Session != "" {
		t.Error("the key of dc2 is still held after the release")
	}
	proxied.run("release", "--yes", "--node", "node-2", "--datacenter", "all").must(t, exitNoElection)
}

// If a response lacks the header about filtered results, as for anonymous requests, the read of the key shows that it
// is hidden.
func TestActionsReadTheKeyInTheOtherDatacenters(t *testing.T) {
	f := memoryFederation(t)
	f.both()
	proxied := intercept(t, f.testConsul, func(w http.ResponseWriter, r *http.Request) bool {
		body, status := "", http.StatusNotFound // as Consul does for an empty list
		switch {
		case r.URL.Query().Get("dc") != "dc2":
			return false
		case r.URL.Path == "/v1/txn":
			body, status = `{"Results":[],"Errors":null}`, http.StatusOK
		case !strings.HasPrefix(r.URL.Path, "/v1/kv/"):
			return false
		}
		knownLeader(w)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
		return true
	})
	r := proxied.run("release", "--yes", "web", "--datacenter", "all").must(t, exitDenied)
	has(t, r.errOut, "datacenter dc2")
	f.unchanged()
}
