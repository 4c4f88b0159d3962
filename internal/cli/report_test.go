package cli

import (
	"strings"
	"testing"
)

func TestReportOfAnIncident(t *testing.T) {
	w := onMemory(t)
	file := historyFile(t)
	s := w.session(nil)
	w.acquire("service/web/leader", s, "a")
	events := w.follow("watch", "-o", "json", "--history", file)
	events.until("elected")
	w.run("release", "web", "--yes", "--history", file).must(t, exitOK)
	events.until("explained")
	w.acquire("service/other/leader", s, "b")
	events.until("elected")
	events.stop()
	r := w.run("report", "web", "--history", file).must(t, exitOK)
	has(t, r.out, "# Incident report: web\n", "- Key: `service/web/leader`\n", "The leader was lost 1 time.",
		"a on node-1 (term 1) was lost after at least ", "Cause: `operator_release`: released with electop by ", "there was no leader. The last term ended ",
		"| a | node-1 | 1 | before ", "## Gaps in observation\n\nNo observer", " | release | a | "+s+" | done |")
	if strings.Contains(r.out, "other") {
		t.Errorf("the report contains another election:\n%s", r.out)
	}
	r = w.run("report", "/service/other/leader", "--history", file).must(t, exitOK)
	has(t, r.out, "# Incident report: other\n", "No loss of the leader was observed.", "No operator actions were recorded in this period.", ", the leader was b on node-1 (term 1). Its term began ")
}

func TestReportUsageErrors(t *testing.T) {
	w := onMemory(t)
	file := historyFile(t)
	watched(w, file, 4, failover(w))
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{nil, exitUsage, "report requires exactly one NAME"},
		{[]string{"web", "mail"}, exitUsage, "report requires exactly one NAME"},
		{[]string{"web", "--since", "noon"}, exitUsage, `--since "noon"`},
		{[]string{"mail"}, exitNoElection, "no such election in the history: mail"},
	} {
		has(t, w.run(append([]string{"report", "--history", file}, tt.args...)...).must(t, tt.code).errOut, tt.want)
	}
}

// The setting datacenter may select several; electop report does not contact Consul.
func TestReportWithSeveralDatacenters(t *testing.T) {
	f := memoryFederation(t)
	f.both()
	file := historyFile(t)
	events := f.follow("watch", "-o", "json", "--history", file, "--datacenter", "all")
	for range 4 {
		events.until("elected")
	}
	events.stop()
	for _, value := range []string{"all", "dc1,dc2"} {
		r := f.run("report", "only-dc2", "--history", file, "--datacenter", value).must(t, exitOK)
		has(t, r.out, "# Incident report: only-dc2\n")
		r = f.run("report", "web", "--history", file, "--datacenter", value).must(t, exitUsage)
		has(t, r.errOut, "exists in the datacenters dc1, dc2; choose one with --datacenter")
	}
	has(t, f.run("report", "web", "--history", file, "--datacenter", "typo").must(t, exitNoElection).errOut, "no such election in the history of datacenter typo")
	if r := f.run("history", "--terms", "--history", file, "--datacenter", "dc1").must(t, exitOK); strings.Contains(r.out, "dc2") || !strings.Contains(r.out, "only-dc1") {
		t.Errorf("--datacenter dc1 prints another datacenter:\n%s", r.out)
	}
}
