package cli

import (
	"net/http"
	"strings"
	"testing"

	"electop/consulx"
	"electop/internal/consultest"
)

func TestDoctorWithAllRights(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		r := w.run("doctor").must(t, exitOK)
		has(t, r.out, "address  ", "consensus leader", "keys service/*/leader", "sessions")
		report := decoded[diagnosed](t, w.run("doctor", "-o", "json", "-k", "a/*", "-k", "b").must(t, exitOK).out)
		if report.Datacenter != "dc1" || report.ConsensusLeader == "" || report.Address == "" || len(report.Rows) < 6 {
			t.Errorf("%+v", report)
		}
	})
}

func TestDoctorNamesTheMissingRule(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	w := newTestConsul(t, agent.Addr())
	r := w.run("doctor").must(t, exitDenied)
	has(t, r.out, "denied", `key_prefix "service/" { policy = "read" }`, `session_prefix "" { policy = "read" }`)
	if strings.Contains(r.errOut, "electop:") {
		t.Errorf("standard error repeats what the table contains: %q", r.errOut)
	}
}

func TestDoctorWithoutConsul(t *testing.T) {
	w := onMemory(t)
	r := w.run("doctor", "--http-addr", "127.0.0.1:1").must(t, exitFailed)
	if r.out != "" || !strings.Contains(r.errOut, "cannot reach Consul") {
		t.Errorf("%q %q", r.out, r.errOut)
	}
	w.run("doctor", "extra").must(t, exitUsage)
}

// diagnosed is an entry of doctor -o json.
type diagnosed struct {
	Address, Datacenter, Error string
	ConsensusLeader            string `json:"consensus_leader"`
	Rows                       []struct{ Subject, Status string }
}

func diagnose(t *testing.T, r result) []diagnosed { return decoded[[]diagnosed](t, r.out) }

func TestDoctorOfSeveralDatacenters(t *testing.T) {
	f := memoryFederation(t)
	for _, value := range []string{"dc1,dc2", "all"} {
		r := f.run("doctor", "--datacenter", value).must(t, exitOK)
		has(t, r.out, "dc1: address ", "dc1: keys service/*/leader", "\ndc2: address ", "\ndc2: consensus leader", "\ndc2: keys service/*/leader")
	}
	all := diagnose(t, f.run("doctor", "-o", "json", "--datacenter", "dc2,dc1").must(t, exitOK))
	if len(all) != 2 || all[0].Datacenter != "dc2" || all[1].Datacenter != "dc1" {
		t.Fatalf("%+v", all)
	}
	for _, r := range all {
		if r.ConsensusLeader == "" || len(r.Rows) < 6 || r.Error != "" {
			t.Errorf("%+v", r)
		}
	}
	if one := diagnose(t, f.run("doctor", "-o", "json", "--datacenter", "dc2,dc2").must(t, exitOK)); len(one) != 1 || one[0].Datacenter != "dc2" {
		t.Errorf("%+v", one)
	}
	f.lose()
	r := f.run("doctor", "--datacenter", "dc1,dc2").must(t, exitFailed)
	has(t, r.errOut, "electop: datacenter dc2: ")
	has(t, r.out, "dc1: address ")
	lacks(t, r.out, "dc2: ")
	all = diagnose(t, f.run("doctor", "-o", "json", "--datacenter", "dc1,dc2").must(t, exitFailed))
	if len(all) != 2 || len(all[0].Rows) < 6 || all[1].Rows == nil || all[1].Error == "" || all[1].Datacenter != "dc2" {
		t.Errorf("%+v", all)
	}
}

func TestDoctorOfSeveralDatacentersReturnsTheMostSevereCode(t *testing.T) {
	f := memoryFederation(t)
	for _, tt := range []struct {
		denied, lost string
		want         int
	}{{"dc1", "", exitDenied}, {"dc2", "", exitDenied}, {"dc1", "dc2", exitFailed}, {"dc2", "dc1", exitFailed}} {
		proxied := intercept(t, f.testConsul, func(w http.ResponseWriter, r *http.Request) bool {
			switch dc := r.URL.Query().Get("dc"); {
			case dc == tt.lost:
				http.Error(w, "No path to datacenter", http.StatusInternalServerError)
			case dc == tt.denied && strings.HasPrefix(r.URL.Path, "/v1/kv/"):
				http.Error(w, "Permission denied", http.StatusForbidden)
			default:
				return false
			}
			return true
		})
		proxied.run("doctor", "--datacenter", "dc1,dc2").must(t, tt.want)
	}
}

func TestDoctorWithoutAConsensusLeader(t *testing.T) {
	rows := []consulx.Row{{Subject: "sessions", Status: consulx.StatusDenied}, {Subject: "consensus leader", Status: consulx.StatusDenied}}
	if got := doctorExit(consulx.Report{Rows: rows}); got != exitFailed {
		t.Errorf("exit code %d", got)
	}
}
