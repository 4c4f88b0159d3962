package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/internal/act"
)

// countElections returns "1 election", "2 elections" and so on.
func countElections(n int) string {
	return election.Plural(uint64(n), "election") //nolint:gosec // not negative
}

// changed returns a function that writes a line when the status of an election changes.
func (c *drainCommand) changed() func(act.Result) {
	last := map[*act.Item]act.Status{}
	return func(r act.Result) {
		before := last[r.Item]
		last[r.Item] = r.Status
		if r.Status.Final() && r.Status != before {
			c.line(r)
		} else if r.Status == act.Moving && r.Status != before && c.output != "json" {
			fmt.Fprintf(c.d.stderr, "%s: moving, %s\n", r.Item.Name(), r.Progress())
		}
	}
}

// connection writes that the connection was lost, with the reason err, or that it was restored if err is "".
func (c *drainCommand) connection(err string) {
	text := "connection to Consul restored"
	if err != "" {
		text = "connection to Consul lost: " + err + "; the drain continues when the connection is restored"
	}
	c.d.warn(text)
}

// line reports one election: JSON to stdout, or text. The text of a failed or unfinished election goes to stderr, other
// text to stdout. The plan contains the text of a skipped election.
func (c *drainCommand) line(r act.Result) {
	var err error
	switch {
	case c.output == "json":
		err = writeJSONLine(c.d.stdout, drainResultJSON(r))
	case r.Status == act.Skipped && slices.Contains(c.plan.Items, r.Item):
		return
	case r.Status == act.Failed || r.Status == act.Skipped || !r.Status.Final():
		fmt.Fprintf(c.d.stderr, "electop: %s: %s\n", r.Item.Name(), r.Text())
	default:
		_, err = fmt.Fprintf(c.d.stdout, "%s: %s\n", r.Item.Name(), r.Text())
	}
	c.written = cmp.Or(c.written, err)
}

type drainLineJSON struct {
	Election  string          `json:"election"`
	Key       string          `json:"key"`
	Result    act.Status      `json:"result"`
	Rounds    int             `json:"rounds"`
	Destroyed bool            `json:"destroyed,omitempty"`
	Old       insight.Holder  `json:"old"`
	New       *insight.Holder `json:"new,omitempty"`
	VacancyMS *int64          `json:"vacancy_ms,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Better    string          `json:"better,omitempty"`
}

func drainResultJSON(r act.Result) drainLineJSON {
	j := drainLineJSON{
		Election: r.Item.Target.Election, Key: r.Item.Target.Key, Result: r.Status, Rounds: r.Rounds, Destroyed: r.Destroyed,
		Old: insight.Outcome{Target: r.Item.Target}.Old(), Reason: r.Reason,
	}
	if r.Leader.Session != "" && r.Status != act.Skipped && r.Status != act.Waiting {
		j.New = &r.Leader
	}
	if r.VacancyKnown {
		ms := r.Vacancy.Milliseconds()
		j.VacancyMS = &ms
	}
	switch {
	case !r.Status.Final():
		j.Reason = "interrupted"
	case r.Status == act.Skipped:
		j.Better = r.Item.Effect.Better
	}
	return j
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
	// Verified is set if a second plan was read completely after the last change.
	Verified bool `json:"verified"`
}

// finish reports the interrupted elections and the summary. It returns an error with the exit code.
func (c *drainCommand) finish(results []act.Result, unverified error, elapsed time.Duration) error {
	const unfinished = act.Status("unfinished")
	n, releases := map[act.Status]int{}, 0
	for _, r := range results {
		releases += r.Rounds
		if !r.Status.Final() {
			c.line(r)
			r.Status = unfinished
		}
		n[r.Status]++
	}
	elections := len(results) - n[act.Skipped]
	if c.output == "json" {
		c.written = cmp.Or(c.written, writeJSONLine(c.d.stdout, drainSummaryJSON{
			true, c.plan.Nodes, elections, n[act.Moved], n[act.Stayed], n[act.Vacant], n[act.Failed], n[unfinished],
			n[act.Skipped], releases, elapsed.Milliseconds(), unverified == nil,
		}))
	}
	texts := []string{fmt.Sprintf("%d moved", n[act.Moved])}
	for _, status := range []act.Status{act.Stayed, act.Vacant, act.Failed, unfinished, act.Skipped} {
		if n[status] > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", n[status], status))
		}
	}
	fmt.Fprintf(c.d.stderr, "electop: %s (%s: %s; %s in %s)\n", c.verdict(results, unverified), countElections(elections),
		strings.Join(texts, ", "), act.Releases(releases), election.FormatDuration(elapsed))
	return cmp.Or(drainExit(results, unverified), c.written)
}

// verdict describes whether sessions on the nodes still lead elections of the drain.
func (c *drainCommand) verdict(results []act.Result, unverified error) string {
	leads := 0
	for _, r := range results {
		if r.Here && (r.Status != act.Skipped || r.Failure != "") {
			leads++
		}
	}
	nodes, lead := c.plan.NodesText(), "leads"
	if len(c.plan.Nodes) > 1 {
		lead = "lead"
	}
	switch {
	case leads > 0 && unverified != nil:
		return fmt.Sprintf("%s still %s %s; not verified whether more: %s", nodes, lead, countElections(leads), consulx.Describe(unverified))
	case leads > 0:
		return fmt.Sprintf("%s still %s %s", nodes, lead, countElections(leads))
	case unverified != nil:
		return fmt.Sprintf("not verified whether %s %s an election: %s", nodes, lead, consulx.Describe(unverified))
	}
	return nodes + " " + lead + " no election of the drain"
}

// drainExit returns an error with the most severe exit code, or nil if the drain succeeded and this was verified.
func drainExit(results []act.Result, unverified error) error {
	codes := map[int]bool{}
	for _, r := range results {
		switch {
		case r.Failure != "":
			codes[outcomeExit(insight.Outcome{Kind: r.Failure}, true)] = true
		case r.Status == act.Stayed:
			codes[exitSameLeader] = true
		case !r.Status.Final():
			codes[exitFailed] = true
		}
	}
	switch {
	case errors.Is(unverified, consulx.ErrDenied):
		codes[exitDenied] = true
	case unverified != nil:
		codes[exitFailed] = true
	}
	return worstOf(codes)
}
