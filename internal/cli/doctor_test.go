package cli

import (
	"encoding/json"
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
		r = w.run("doctor", "-o", "json", "-k", "a/*", "-k", "b").must(t, exitOK)
		var report struct {
			Address, Datacenter string
			ConsensusLeader     string `json:"consensus_leader"`
			Rows                []struct{ Subject, Status, Detail, Rule string }
		}
		if err := json.Unmarshal([]byte(r.out), &report); err != nil {
			t.Fatalf("%v: %s", err, r.out)
		}
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
	Datacenter, Error string
	ConsensusLeader   string `json:"consensus_leader"`
	Rows              []struct{ Subject, Status string }
}

func diagnose(t *testing.T, r result) (all []diagnosed) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.out), &all); err != nil {
		t.Fatalf("%v: %s", err, r.out)
	}
	return all
}

func TestDoctorOfSeveralDatacenters(t *testing.T) {
	f := memoryFederation(t)
	for _, value := range []string{"dc1,dc2", "all"} {
		r := f.run("doctor", "--datacenter", value).must(t, exitOK)
		_, second, found := strings.Cut(r.out, "\n\nDatacenter dc2\naddress")
		if !strings.HasPrefix(r.out, "Datacenter dc1\naddress") || !found {
			t.Error(r.out)
		}
		has(t, second, "consensus leader", "keys service/*/leader")
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
	if !strings.HasPrefix(r.out, "Datacenter dc1\n") || strings.Contains(r.out, "Datacenter dc2") {
		t.Error(r.out)
	}
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

func TestDoctorResult(t *testing.T) {
	row := func(subject string, status consulx.Status) consulx.Row {
		return consulx.Row{Subject: subject, Status: status}
	}
	tests := []struct {
		name string
		rows []consulx.Row
		want int
	}{
		{"all well", []consulx.Row{row("sessions", consulx.StatusOK)}, exitOK},
		{"limits are reported and are no failure", []consulx.Row{row("agent", consulx.StatusLimited)}, exitOK},
		{"observing is denied", []consulx.Row{row("keys service/*/leader", consulx.StatusDenied)}, exitDenied},
		{"acting is denied", []consulx.Row{row("release service/*/leader", consulx.StatusDenied), row("destroy", consulx.StatusDenied)}, exitOK},
		{"no consensus leader", []consulx.Row{row("consensus leader", consulx.StatusDenied)}, exitFailed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := doctorExit(consulx.Report{Rows: tt.rows})
			if got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
		})
	}
}
