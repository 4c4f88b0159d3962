package report_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/internal/report"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	flag.BoolVar(&update, "update", false, "write the golden files")
	flag.Parse()
	os.Exit(m.Run())
}

var update bool

const key = "service/billing/leader"

func at(minute int) time.Time {
	return time.Date(2026, 11, 20, 3, minute, 0, 120_000_000, time.UTC)
}

func period(from, to int) history.Range { return history.Range{Since: at(from), Until: at(to)} }

// incident is one hour with three terms, a gap and an operator's action. The election has no leader at the end.
func incident() *report.Incident {
	term := func(number uint64, leader, node string, start int) history.Term {
		return history.Term{
			Election: "billing", Key: key, Datacenter: "dc1",
			Term: election.Term{Number: number, Leader: leader, Node: node, Session: "s-" + leader, Start: at(start), StartKnown: true},
		}
	}
	first, second, third := term(117, "billing-1", "node-1", 0), term(118, "billing-2", "node-2", 12), term(119, "billing|3", "", 30)
	first.StartKnown, first.End, first.Cause, first.Evidence = false, at(10), election.CheckCritical, "service:billing on node-1: HTTP GET http://10.0.0.3/*: 503"
	first.LockDelayUntil, first.Vacancy = at(11), new(history.Seconds(2*time.Minute))
	second.End, second.SeenUntil, second.Cause, second.Guess = at(30), at(20), election.NodeGone, true
	third.End, third.Cause, third.Evidence, third.By = at(40), election.OperatorRelease, "released with electop by ana@bastion", "ana@bastion"
	return &report.Incident{
		Name: "billing", Key: key, Range: period(0, 60), Terms: []history.Term{first, second, third},
		Events: []election.Event{
			{Time: at(10), Type: election.Vacated, Election: "billing", Key: key, Leader: "billing-1", Term: 117, Held: 10 * time.Minute},
			{
				Time: at(10), Type: election.Explained, Election: "billing", Key: key, Leader: "billing-1", Term: 117,
				Cause: election.CheckCritical, Evidence: first.Evidence, LockDelayUntil: at(11),
			},
			{Time: at(30), Type: election.Deleted, Election: "billing", Key: key, Leader: "\x1b[31m<script>", Term: 119},
		},
		Gaps: []history.Range{period(20, 30)},
		Actions: []history.Action{{
			Time: at(40), By: "ana@bastion", Kind: election.ActionRelease, Key: key, Session: "s-billing|3", Leader: "billing|3", Result: history.ResultDone,
		}},
		Summary: history.Summary{
			Terms: 3, Missed: 2, Observed: history.Seconds(50 * time.Minute), Led: history.Seconds(28 * time.Minute), Vacancies: 1, VacancyMax: history.Seconds(2 * time.Minute),
		},
		ObservedUntil: at(60),
	}
}

func TestMarkdown(t *testing.T) {
	led := incident()
	led.Terms = led.Terms[:2]
	led.Terms[1].End, led.Terms[1].SeenUntil, led.Terms[1].Cause = time.Time{}, time.Time{}, ""
	led.Actions, led.Gaps, led.Cut, led.ObservedUntil = nil, nil, true, at(50)
	unobserved := &report.Incident{Name: "billing", Key: key, Range: period(0, 60), Terms: led.Terms[1:], Gaps: []history.Range{period(0, 60)}}
	gap := &report.Incident{
		Name: "billing", Key: key, Range: period(20, 60), Terms: led.Terms[1:], Gaps: []history.Range{period(50, 60)},
		Summary: history.Summary{Terms: 1, Observed: history.Seconds(30 * time.Minute), Led: history.Seconds(30 * time.Minute)}, ObservedUntil: at(50),
	}
	slots := &report.Incident{Name: "gpu", Key: "service/gpu/.lock", Range: period(0, 60), ObservedUntil: at(60), Events: []election.Event{
		{Time: at(1), Type: election.Entered, Election: "gpu", Key: "service/gpu/.lock", Session: "a", Holders: 1, Limit: 2},
	}}
	for name, i := range map[string]*report.Incident{
		"incident": incident(), "led": led, "semaphore": slots, "unobserved": unobserved, "gap": gap,
		"nothing": {Name: "web", Key: "a`b", Range: period(0, 60), Gaps: []history.Range{period(0, 60)}},
	} {
		got := string(i.Markdown())
		path := filepath.Join("testdata", name+".md")
		if update {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || got != string(want) {
			t.Errorf("%v\n%s\nwant\n%s", err, got, want)
		}
		if strings.ContainsAny(got, "\x1b") {
			t.Errorf("%s: unsafe text", name)
		}
	}
}
