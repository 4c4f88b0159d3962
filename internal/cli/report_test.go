package cli

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/internal/history/sqlite"
	"electop/ui/scene"
)

const incidentReport = `Incident report: web

2026-11-20 01:00:00 to 2026-11-20 02:10:00 (ZONE), times by the observer's clock.
The leader was lost 1 time in 1 election.
web: web-1 on n (term 1) was lost between 2026-11-20 01:44:36 and 01:45:53 after at least 34m36s, cause unknown: the session could not be read: Consul did not respond within 1s. The next observed leader was web-2 on n (term 2), outage at most 1m38s (the holder's last sign of life was after 2026-11-20 01:44:15).
At the start: web had no leader until 2026-11-20 01:10:00.
At the end: web is led by web-2 on n (term 2), last observed 2026-11-20 02:00:00.
Also: 2026-11-20 01:44:36 no observer was connected for 1m17s, until 2026-11-20 01:45:53; 2026-11-20 02:00:00 no observer was connected for 10m00s, until 2026-11-20 02:10:00.

Timeline

2026-11-20 01:10:00 web elected web-1, term 1, n
2026-11-20 01:44:36 no observer was connected for 1m17s, until 2026-11-20 01:45:53
2026-11-20 01:45:53 web vacated web-1, term 1 · between 01:44:36 and 01:45:53 · led for at least 34m36s · unknown
2026-11-20 01:45:53 web elected web-2, term 2, n · between 01:44:36 and 01:45:53
2026-11-20 01:50:00 web release by _ana_b@bastion: failed, denied <b>␛[2J
2026-11-20 02:00:00 no observer was connected for 10m00s, until 2026-11-20 02:10:00

Details

web: key service/web/leader in datacenter dc1, observed for 58m43s, without a leader for at least 10m00s, availability 69.107% to 85.714%, 0 terms not observed
`

func TestReportOfAnIncident(t *testing.T) {
	w, file := newTestConsul(t, "127.0.0.1:1"), killed(t, history.Action{
		Time: noon("01:50:00"), By: "_ana_b@bastion", Kind: "release", Datacenter: "dc1", Key: "service/web/leader", Session: "web-2", Result: history.ResultFailed, Detail: "denied <b>\x1b[2J",
	})
	report := func(from, to string, args ...string) result {
		return w.run(append([]string{"report", "--since", noon(from).Format(time.RFC3339), "--until", noon(to).Format(time.RFC3339), "--history", file}, args...)...)
	}
	want := strings.Replace(incidentReport, "ZONE", noon("02:10:00").Format("MST -07:00"), 1)
	if r := report("01:00:00", "02:10:00", "web").must(exitOK); r.out != want {
		t.Errorf("%s\nwant\n%s", r.out, want)
	}
	w.run("history", "--terms", "--since", "2026-11-20", "--history", file).must(exitOK).has("  at most 1m38s\n")
	for _, tt := range []struct{ from, to, want string }{
		{"01:20:00", "01:44:30", "No loss of a leader was observed.\nAt the end: web is led by web-1 on n (term 1), last sign of life after 2026-11-20 01:44:15.\n"},
		{"00:50:00", "01:05:00", "At the end: web has no leader.\n"},
		{"02:01:00", "02:10:00", "At the end: web unknown, no observer saw it."},
	} {
		report(tt.from, tt.to, "web").must(exitOK).has(tt.want)
	}
	report("01:00:00", "02:10:00", "--format", "markdown", "--node", "n", "--filter", "state:led").must(exitOK).has(
		"# Incident report: web · led from n · filter state:led\n", "\n## Timeline\n\n- ", `release by \_ana_b@bastion: failed, denied \<b\>`)
	report("01:00:00", "02:00:05").must(exitOK).has("01:00:00 to 2026-11-20 02:00:00 (") // nothing later is stored
	report("01:00:00", "02:10:00", "--format", "json").must(exitOK).has(`"summary": [`, `"timeline": [`, `"election": "web"`, `"losses": [`)
	for _, args := range [][]string{{"--node", "other"}, {"--filter", "state:vacant"}, {"mail"}, {"web", "--datacenter", "typo"}} {
		report("01:00:00", "02:10:00", args...).must(exitNoElection).hasErr("no such election")
	}
	for want, args := range map[string][]string{"must be one of [text markdown json]": {"--format", "html"}, `"noon" for "--since"`: {"web", "--since", "noon"}} {
		w.run(append([]string{"report", "--history", file}, args...)...).must(exitUsage).hasErr(want)
	}
}

// The setting datacenter may select several; electop report does not contact Consul.
func TestReportOfSeveralElections(t *testing.T) {
	f := memoryFederation(t)
	f.both()
	file := historyFile(t)
	events := f.background("watch", "-o", "json", "--history", file, "--datacenter", "all")
	for range 4 {
		events.until("elected")
	}
	events.stop()
	r := f.run("report", "only-dc2", "web", "--history", file, "--datacenter", "dc1,dc2").must(exitOK)
	r.has("web (dc1) is led by web-in-dc1", "web (dc2) is led by", "key service/only-dc2/leader in datacenter dc2")
	if r := f.run("history", "--terms", "--history", file, "--datacenter", "dc1").must(exitOK); strings.Contains(r.out, "dc2") || !strings.Contains(r.out, "only-dc1") {
		t.Errorf("--datacenter dc1 prints another datacenter:\n%s", r.out)
	}
}

// E in the dashboard writes the reports to a new file.
func TestReportFiles(t *testing.T) {
	source := sqlite.NewFile(killed(t))
	defer source.Close()
	t.Chdir(t.TempDir())
	const web = "service/web/leader"
	at := noon("02:00:00").Local().Format("-20060102-150405.md")
	for _, tt := range []struct {
		keys []string
		want string
	}{
		{[]string{web, "unknown"}, "electop-report-web" + at},
		{[]string{"unknown"}, ""},
		{[]string{web}, ""}, // the file exists
	} {
		var of []scene.Subject
		for _, key := range tt.keys {
			of = append(of, scene.Subject{Key: key})
		}
		file, summary, err := (&dashboard{history: source}).Report(t.Context(), of, history.Range{Since: noon("01:00:00"), Until: noon("02:00:00")})
		if (err == nil) != (tt.want != "") || err == nil && (file != tt.want || !strings.HasPrefix(summary, "web, 2026-11-20 01:00:00 to 2026-11-20 02:00:00 (")) {
			t.Errorf("%v: %q, %q, %v", tt.keys, file, summary, err)
			continue
		}
		if info, err := os.Stat(tt.want); tt.want != "" && (err != nil || info.Mode().Perm() != 0o600) {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
}

// The summary names the longest outages first. A leader that ends its term causes none.
func TestReportNamesTheWorstLosses(t *testing.T) {
	r := &report{Range: history.Range{Since: noon("01:00:00"), Until: noon("02:00:00")}}
	for name, of := range map[string]history.Term{
		"a": {Term: election.Term{Node: "d-1", Cause: election.OperatorRelease, End: noon("01:10:00")}},
		"b": {Term: election.Term{Node: "d-1", Cause: election.CheckCritical, End: noon("01:50:00")}},
		"c": {Term: election.Term{Cause: election.SessionExpiredOrDestroyed, End: noon("01:40:00")}},
		"d": {Term: election.Term{Cause: election.Released, End: noon("01:30:00").Add(900 * time.Millisecond)}},
		"e": {},
	} {
		of.Start = noon("01:00:00")
		r.Elections = append(r.Elections, &reportElection{Summary: history.Summary{Election: name}, History: []history.Term{of}, until: r.Until})
	}
	slices.SortFunc(r.Elections, func(a, b *reportElection) int { return strings.Compare(a.Election, b.Election) })
	const want = "The leader was lost 4 times in 4 of 5 elections between 01:10:00 and 01:50:00, 1 time by an operator."
	var names string
	if got := r.told().Summary[0]; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, s := range r.Summary[1:] {
		names += s[:1]
	}
	if names != "acbTA" {
		t.Error(r.Summary)
	}
}

// cut returns only the newest event of a history, a loss of the connection, and an observer of another datacenter.
type cut struct{ history.Source }

func (c cut) Events(ctx context.Context, q history.EventQuery) (history.EventPage, error) {
	if slices.Contains(q.Types, election.ConnectionLost) {
		return history.EventPage{Items: []election.Event{{Time: noon("01:44:36"), Type: election.ConnectionLost, Error: "no answer"}}}, nil
	}
	q.Limit = 1
	return c.Source.Events(ctx, q)
}

func (c cut) Observations(ctx context.Context, r history.Range) ([]history.Observation, error) {
	all, err := c.Source.Observations(ctx, r)
	return append(all, history.Observation{Datacenter: "dc2", Patterns: all[0].Patterns, From: noon("01:00:00"), To: noon("02:10:00")}), err
}

// A report claims no more than was observed, also while an observer of another datacenter was running.
func TestReportStatesWhatIsMissing(t *testing.T) {
	source := sqlite.NewFile(killed(t))
	defer source.Close()
	r, err := readReport(t.Context(), cut{source}, history.Filter{Range: history.Range{Since: noon("01:00:00"), Until: noon("02:10:00")}}, func(*reportElection) bool { return true })
	must(t, err)
	e := r.Elections[0]
	e.Missed, e.History = 2, []history.Term{{LockDelayUntil: noon("01:10:15"), Term: election.Term{
		Number: 1, Leader: "web-1", Start: noon("01:05:00"), End: noon("01:10:00"), Cause: election.CheckCritical, Guess: true,
	}}}
	if e.History[0].SeenUntil = noon("01:09:00"); !strings.Contains(e.loss(0, 0), " A lock-delay may have followed until 2026-11-20 01:10:15 at the latest.") {
		t.Error(e.loss(0, 0))
	}
	e.History[0].SeenUntil, e.AvailabilityMin = time.Time{}, nil
	has(t, r.text(false), "older events are omitted; electop history prints them", "01:44:36 connection_lost no answer",
		"01:44:36 web no observer was connected for 1m17s, until 2026-11-20 01:45:53\n", "availability at most 85.714%, 2 terms not observed", "after at least 5m00s, cause probably check_critical.",
		" A lock-delay may have followed until about 2026-11-20 01:10:15. No later leader was observed for 50m00s, outage at least 50m00s.", "At the end: web has no leader, last observed 2026-11-20 02:00:00.")
}
