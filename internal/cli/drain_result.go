package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/internal/drain"
)

// drainText describes the result of one election in one line.
func drainText(r drain.Result) string {
	old := holderOnNode(insight.Outcome{Target: r.Item.Target}.Old())
	var text string
	switch r.Status {
	case drain.Moved:
		text = old + " → " + holderOnNode(r.Leader)
		if r.VacancyKnown {
			text += " " + election.AfterVacancy(r.Vacancy)
		}
	case drain.Vacant:
		text = old + " → no leader"
	case drain.Stayed:
		text = "stayed, led by " + holderOnNode(r.Leader)
	case drain.Moving:
		text = "interrupted, " + presentLeader(r)
	case drain.Waiting:
		text = "interrupted before any release"
	default:
		text = string(r.Status)
	}
	switch {
	case r.Status == drain.Stayed: // for a leader that stayed, the reason contains the number of releases
	case r.Rounds > 0 && r.Destroyed:
		text += fmt.Sprintf(", %s and a destroy", releaseCount(r.Rounds))
	case r.Rounds > 0:
		text += ", " + releaseCount(r.Rounds)
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

func releaseCount(n int) string {
	return election.Plural(uint64(n), "release") //nolint:gosec // not negative
}

type drainLineJSON struct {
	Election  string          `json:"election"`
	Key       string          `json:"key"`
	Result    drain.Status    `json:"result"`
	Rounds    int             `json:"rounds"`
	Destroyed bool            `json:"destroyed,omitempty"`
	Old       insight.Holder  `json:"old"`
	New       *insight.Holder `json:"new,omitempty"`
	VacancyMS *int64          `json:"vacancy_ms,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Better    string          `json:"better,omitempty"`
}

func drainResultJSON(r drain.Result) drainLineJSON {
	j := drainLineJSON{
		Election: r.Item.Target.Election, Key: r.Item.Target.Key, Result: r.Status, Rounds: r.Rounds, Destroyed: r.Destroyed,
		Old: insight.Outcome{Target: r.Item.Target}.Old(), Reason: r.Reason,
	}
	if r.Leader.Session != "" && r.Status != drain.Skipped && r.Status != drain.Waiting {
		j.New = &r.Leader
	}
	if r.VacancyKnown {
		ms := r.Vacancy.Milliseconds()
		j.VacancyMS = &ms
	}
	switch {
	case !r.Status.Final():
		j.Reason = "interrupted"
	case r.Status == drain.Skipped:
		j.Better = r.Item.Effect.Better
	}
	return j
}

// drainCounts counts the elections of a drain by state.
type drainCounts struct {
	elections, moved, stayed, vacant, failed, unfinished, skipped, releases int
}

func (c *drainCounts) add(r drain.Result) {
	c.releases += r.Rounds
	switch r.Status {
	case drain.Skipped:
		c.skipped++
		return
	case drain.Moved:
		c.moved++
	case drain.Stayed:
		c.stayed++
	case drain.Vacant:
		c.vacant++
	case drain.Failed:
		c.failed++
	default:
		c.unfinished++
	}
	c.elections++
}

func (c *drainCounts) done() int { return c.elections - c.unfinished }

func (c *drainCounts) text() string {
	texts := []string{fmt.Sprintf("%d moved", c.moved)}
	for _, state := range []struct {
		n    int
		name string
	}{{c.stayed, "stayed"}, {c.vacant, "vacant"}, {c.failed, "failed"}, {c.unfinished, "unfinished"}, {c.skipped, "skipped"}} {
		if state.n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", state.n, state.name))
		}
	}
	return strings.Join(texts, ", ")
}

type drainSummaryJSON struct {
	Summary    bool     `json:"summary"`
	Nodes      []string `json:"nodes"`
	Elections  int      `json:"elections"`
	Moved      int      `json:"moved"`
	Stayed     int      `json:"stayed"`
	Vacant     int      `json:"vacant"`
	Failed     int      `json:"failed"`
	Unfinished int      `json:"unfinished"`
	Skipped    int      `json:"skipped"`
	Releases   int      `json:"releases"`
	ElapsedMS  int64    `json:"elapsed_ms"`
}

// finish reports the interrupted elections and the summary. It returns an error with the exit code.
func (v *drainView) finish(ctx context.Context, results []drain.Result) error {
	var count drainCounts
	for _, r := range results {
		count.add(r)
		if !r.Status.Final() {
			v.line(r)
		}
	}
	elapsed := time.Since(v.started)
	if v.json {
		v.written = cmp.Or(v.written, writeJSONLine(v.d.stdout, drainSummaryJSON{
			true, v.nodes, count.elections, count.moved, count.stayed, count.vacant, count.failed, count.unfinished,
			count.skipped, count.releases, elapsed.Milliseconds(),
		}))
	}
	fmt.Fprintf(v.d.stderr, "electop: %s (%s: %s; %s in %s)\n", v.verdict(ctx, results), countElections(count.elections), count.text(),
		releaseCount(count.releases), election.FormatDuration(elapsed))
	return cmp.Or(drainExit(results), v.written)
}

// verdict describes whether sessions on the nodes still lead elections of the drain.
func (v *drainView) verdict(ctx context.Context, results []drain.Result) string {
	leads := 0
	for _, r := range results {
		if r.Here && (r.Status != drain.Skipped || r.Failure != "") {
			leads++
		}
	}
	text, verb := nodeNames(v.nodes), "leads"
	if len(v.nodes) > 1 {
		verb = "lead"
	}
	if leads > 0 {
		text += fmt.Sprintf(" still %s %s", verb, countElections(leads))
	} else {
		text += fmt.Sprintf(" %s no election of the drain", verb)
	}
	if ctx.Err() != nil {
		text = "interrupted: " + text
	}
	return text
}

// drainExit returns an error with the most severe exit code, or nil if the drain succeeded.
func drainExit(results []drain.Result) error {
	for _, code := range bySeverity() {
		if code != exitOK && slices.ContainsFunc(results, func(r drain.Result) bool { return resultExit(r) == code }) {
			return exitError(code)
		}
	}
	return nil
}

// resultExit returns the exit code of one result.
func resultExit(r drain.Result) int {
	switch {
	case r.Failure != "":
		return outcomeExit(insight.Outcome{Kind: r.Failure}, true)
	case r.Status == drain.Stayed:
		return exitSameLeader
	case !r.Status.Final():
		return exitFailed
	}
	return exitOK
}
