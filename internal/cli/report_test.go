package cli

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/internal/history/sqlite"
	"electop/ui"
)

const incidentReport = `# Incident report: web

- Key: 'service/web/leader'
- Datacenter: 'dc1'
- Period: 2026-11-20 01:00:00 to 2026-11-20 02:10:00 (1h10m0s)
- Times: by the observer's clock, time zone ZONE

## What happened

The leader was lost 1 time. The election was observed for 58m43s and had no leader for 10m0s of that time.

1. **between 2026-11-20 01:44:36 and 01:45:53**: web-1 on n (term 1) was lost after at least 34m36s. Cause: 'unknown': the session could not be read: Consul did not respond within 1s. The next observed leader was web-2 on n (term 2).

When observation ended, at 2026-11-20 02:00:00.000, the leader was web-2 on n (term 2). Its term began between 2026-11-20 01:44:36 and 01:45:53.

## Timeline

| time | event | detail |
| --- | --- | --- |
| 2026-11-20 01:10:00.000 | elected | web-1, term 1, n |
| 2026-11-20 01:45:53.000 | vacated | web-1, term 1 · led for at least 34m36s · between 01:44:36 and 01:45:53 |
| 2026-11-20 01:45:53.000 | elected | web-2, term 2, n · between 01:44:36 and 01:45:53 |
| 2026-11-20 02:00:00.000 | explained | web-1, term 1 · unknown · the session could not be read: Consul did not respond within 1s |

## Gaps in observation

- No observer was running from 2026-11-20 01:44:36.000 to 2026-11-20 01:45:53.000 (1m17s).
- No observer was running from 2026-11-20 02:00:00.000 to 2026-11-20 02:10:00.000 (10m0s).

## Actions of operators

- 2026-11-20 01:50:00.000: release by ana\_b@bastion, session web-2: failed, denied \<b\>␛\[2J
`

func TestReportOfAnIncident(t *testing.T) {
	w, file := newTestConsul(t, "127.0.0.1:1"), killed(t, history.Action{
		Time: noon("01:50:00"), By: "ana_b@bastion", Kind: "release", Datacenter: "dc1", Key: "service/web/leader", Session: "web-2", Result: history.ResultFailed, Detail: "denied <b>\x1b[2J",
	})
	period := func(from, to string) []string {
		return []string{"--since", noon(from).Format(time.RFC3339), "--until", noon(to).Format(time.RFC3339), "--history", file}
	}
	want := strings.ReplaceAll(strings.Replace(incidentReport, "ZONE", noon("02:10:00").Format("MST (-07:00)"), 1), "'", "`")
	want = strings.Replace(want, "observer`s", "observer's", 1)
	if r := w.run(append([]string{"report", "web"}, period("01:00:00", "02:10:00")...)...).must(t, exitOK); r.out != want {
		t.Errorf("%s\nwant\n%s", r.out, want)
	}
	for _, tt := range []struct{ from, to, want string }{
		{"01:20:00", "01:40:00", "The leader was not lost. The election was observed for 20m0s and had no leader for 0s of that time.\n\nAt the end of the period, the leader was web-1 on n (term 1). Its term began 2026-11-20 01:10:00.000."},
		{"02:01:00", "02:10:00", "Whether the leader was lost is unknown.\n\nNo observer was running in this period."},
		{"00:10:00", "00:20:00", "No term was observed in this period."},
	} {
		has(t, w.run(append([]string{"report", "web"}, period(tt.from, tt.to)...)...).must(t, exitOK).out, tt.want, "No operator actions were recorded")
	}
	for want, args := range map[string][]string{
		"report requires exactly one NAME": {"web", "mail"}, `--since "noon"`: {"web", "--since", "noon"},
	} {
		has(t, w.run(append([]string{"report", "--history", file}, args...)...).must(t, exitUsage).errOut, want)
	}
	has(t, w.run("report", "mail", "--history", file).must(t, exitNoElection).errOut, "no such election in the history: mail")
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
		has(t, r.out, "# Incident report: only-dc2\n", "- Datacenter: `dc2`\n")
		r = f.run("report", "web", "--history", file, "--datacenter", value).must(t, exitUsage)
		has(t, r.errOut, "exists in the datacenters dc1, dc2; choose one with --datacenter")
	}
	has(t, f.run("report", "web", "--history", file, "--datacenter", "typo").must(t, exitNoElection).errOut, "no such election in the history of datacenter typo")
	if r := f.run("history", "--terms", "--history", file, "--datacenter", "dc1").must(t, exitOK); strings.Contains(r.out, "dc2") || !strings.Contains(r.out, "only-dc1") {
		t.Errorf("--datacenter dc1 prints another datacenter:\n%s", r.out)
	}
}

// cutSource is a history with more events than a report may contain.
type cutSource struct{ history.Source }

func (c cutSource) Events(ctx context.Context, q history.EventQuery) (history.EventPage, error) {
	limit := q.Limit
	q.Limit = 3
	page, err := c.Source.Events(ctx, q)
	page.More = page.More && limit == 10_000
	return page, err
}

func TestReportContainsTheLatestEvents(t *testing.T) {
	source, err := sqlite.OpenFile(t.Context(), killed(t))
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	i, err := readIncident(t.Context(), cutSource{source}, ui.Subject{Key: "service/web/leader"}, history.Range{Since: noon("01:00:00"), Until: noon("02:10:00")})
	if err != nil {
		t.Fatal(err)
	}
	text := string(i.markdown())
	has(t, text, "The table contains the latest 3 events. Older events are omitted.", "| 2026-11-20 02:00:00.000 | explained |")
}

// E in the dashboard writes the reports to a new file.
func TestReportFiles(t *testing.T) {
	source, err := sqlite.OpenFile(t.Context(), killed(t))
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	t.Chdir(t.TempDir())
	const web = "service/web/leader"
	for _, tt := range []struct {
		keys []string
		want string
	}{
		{[]string{web}, "electop-report-web-20261120-0200.md"},
		{[]string{web, "unknown"}, "electop-report-web-20261120-0200-2.md"},
		{[]string{web, web}, "electop-report-2-elections-20261120-0200.md"},
		{[]string{"unknown"}, ""},
	} {
		var of []ui.Subject
		for _, key := range tt.keys {
			of = append(of, ui.Subject{Key: key})
		}
		file, err := writeIncidents(t.Context(), source, of, history.Range{Since: noon("01:00:00"), Until: noon("02:00:00")})
		if file != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%v: %q, %v", tt.keys, file, err)
			continue
		}
		if info, err := os.Stat(file); err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", file, info)
		}
	}
	if folder, err := os.Getwd(); err != nil || os.RemoveAll(folder) != nil {
		t.Fatal(err)
	}
	if file, err := writeIncidents(t.Context(), source, []ui.Subject{{Key: web}}, history.Range{Until: noon("02:00:00")}); err == nil {
		t.Errorf("%s was written to a folder that does not exist", file)
	}
}

// incidents is a history of one election of dc2.
type incidents struct {
	history.Source // the methods that a report does not call
	events         history.EventPage
	terms          []history.Term
	observed       []history.Observation
}

func (h *incidents) Stats(context.Context, history.Filter) (history.Stats, error) {
	return history.Stats{Elections: []history.Summary{{Datacenter: "dc2"}}}, nil
}

func (h *incidents) Events(context.Context, history.EventQuery) (history.EventPage, error) {
	return h.events, nil
}

func (h *incidents) Terms(context.Context, history.TermQuery) (history.TermPage, error) {
	return history.TermPage{Terms: h.terms}, nil
}

func (h *incidents) Observations(context.Context, history.Range) ([]history.Observation, error) {
	return h.observed, nil
}

func (h *incidents) Actions(context.Context, history.Range) ([]history.Action, error) {
	return nil, nil
}

// A report states a gap although an observer of another datacenter was running, what it omits, and lock-delays.
func TestReportStatesWhatIsMissing(t *testing.T) {
	from, to := noon("01:00:00"), noon("02:00:00")
	observed := func(datacenter string, to time.Time) history.Observation {
		return history.Observation{Datacenter: datacenter, Patterns: []string{"service/*/leader"}, From: from, To: to}
	}
	source := &incidents{
		events: history.EventPage{Events: []election.Event{{Time: from, Type: election.Elected, Election: "web"}}, Cursors: history.Cursors{More: true}},
		terms: []history.Term{{
			Election: "web", LockDelayUntil: noon("01:10:15"),
			Term: election.Term{Number: 1, Leader: "web-1", Start: from, StartKnown: true, End: noon("01:10:00"), Cause: election.CheckCritical, Guess: true},
		}},
		observed: []history.Observation{observed("dc1", to), observed("dc2", noon("01:20:00"))},
	}
	i, err := readIncident(t.Context(), source, ui.Subject{Key: "service/web/leader"}, history.Range{Since: from, Until: to})
	if err != nil {
		t.Fatal(err)
	}
	text := string(i.markdown())
	has(t, text, "- Datacenter: `dc2`", "The table contains the latest 1 event. Older events are omitted.",
		"Cause: probably `check_critical`. A lock-delay followed until about 2026-11-20 01:10:15.000. No later leader was observed in this period.",
		"No observer was running from 2026-11-20 01:20:00.000 to 2026-11-20 02:00:00.000 (40m0s).", "When observation ended, at 2026-11-20 01:20:00.000, there was no leader.")
	if strings.Contains(text, "for the whole period") {
		t.Errorf("the report claims that an observer was always running:\n%s", text)
	}
	source.observed[1].To = to
	if i, err = readIncident(t.Context(), source, ui.Subject{Key: "service/web/leader"}, history.Range{Since: from, Until: to}); err != nil {
		t.Fatal(err)
	}
	has(t, string(i.markdown()), "An observer was running for the whole period.", "At the end of the period, there was no leader.")
}
