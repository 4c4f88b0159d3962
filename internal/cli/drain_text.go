package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/internal/drain"
	"electop/internal/output"
)

// nextShown is the maximum number of candidates that a row of the plan names.
const nextShown = 2

// showPlan writes the plan to standard error.
func (r *drainRun) showPlan() {
	_ = r.planText(r.d.stderr, terminalWidth(r.d.stderr)) // a failed write of the plan must not stop the drain
}

// writePlan writes the plan as the result of --dry-run.
func (r *drainRun) writePlan() error {
	if r.output == "json" {
		return r.planJSON(r.d.stdout)
	}
	return r.planText(r.d.stdout, terminalWidth(r.d.stdout))
}

// planText writes the elections as a table, then the effects and the skipped elections.
func (r *drainRun) planText(w io.Writer, width int) error {
	var b strings.Builder
	planned := r.plan.Planned()
	fmt.Fprintf(&b, "Drain %s: %s to move, %d skipped.\n", nodeNames(r.plan.Nodes), countElections(len(planned)), len(r.plan.Items)-len(planned))
	if err := planTable(&b, planned); err != nil {
		return err
	}
	for _, line := range r.planNotes(planned) {
		if !strings.HasPrefix(line, commandLabel) {
			line = output.Wrap(line, cmp.Or(width, output.DefaultWidth))
		}
		fmt.Fprintln(&b, line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func planTable(w io.Writer, planned []*drain.Item) error {
	if len(planned) == 0 {
		return nil
	}
	table := output.NewTable(w)
	fmt.Fprintln(table, "  ELECTION\tLEADER\tNODE\tNEXT, ON OTHER NODES")
	for _, item := range planned {
		t := item.Target
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", itemName(item), election.ShortLeader(t.Leader), sanitize.Line(t.Node, 60), nextElsewhere(item))
	}
	return table.Flush()
}

// itemName returns the name of an election, marked if no pattern matches its key.
func itemName(item *drain.Item) string {
	name := targetName(item.Target)
	if !item.Watched {
		name += " (not watched)"
	}
	return name
}

// nextElsewhere names the likely candidates on other nodes in one line.
func nextElsewhere(item *drain.Item) string {
	rivals := election.Plural(uint64(item.Rivals), "candidate") + " on the drained node" //nolint:gosec // not negative
	switch unread := item.Around.Unread(); {
	case len(item.Next) > 0:
		text := candidateNames(item.Next)
		if item.Rivals > 0 {
			text += "; " + rivals
		}
		return text
	case len(unread) > 0:
		return "unknown: " + strings.Join(unread, "; ")
	case item.Rivals > 0:
		return "none was seen: the election may stay (" + rivals + ")"
	}
	return "none was seen: it may stay vacant"
}

// candidateNames names the first candidates and counts the others.
func candidateNames(all []insight.Candidate) string {
	names := make([]string, 0, nextShown)
	for _, c := range all[:min(len(all), nextShown)] {
		name := election.ShortLeader(c.Name)
		if c.Session.Node != "" && !election.NamesNode(name, c.Session.Node) {
			name += " on " + sanitize.Line(c.Session.Node, 60)
		}
		if c.Weak {
			name = "perhaps " + name
		}
		names = append(names, name)
	}
	text := strings.Join(names, ", ")
	if more := len(all) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// planNotes returns the lines below the table.
func (r *drainRun) planNotes(planned []*drain.Item) []string {
	var lines, names []string
	var releases, destroys []insight.Effect
	for _, item := range planned {
		names = append(names, targetName(item.Target))
		releases, destroys = append(releases, item.Effect), append(destroys, item.Last)
	}
	if len(planned) > 0 {
		lines = append(lines, effectLines(names, releases)...)
	}
	if len(planned) > 0 && r.destroy {
		lines = append(lines, "After "+releaseCount(r.rounds)+" without success, electop destroys the leader's session:")
		lines = append(lines, effectLines(names, destroys)...)
	}
	lines = append(lines, skippedLines(r.plan.Items)...)
	if r.noScan {
		lines = append(lines, "Keys that match no pattern were not searched (--no-scan).")
	}
	if r.incomplete != "" {
		lines = append(lines, r.incomplete)
	}
	return lines
}

// skippedLines returns lines that say why the drain skips elections, and what the user can do instead.
func skippedLines(all []*drain.Item) (lines []string) {
	for _, item := range all {
		if item.Skip == "" {
			continue
		}
		lines = append(lines, fmt.Sprintf("Skipped %s: %s", itemName(item), sanitize.Line(item.Skip, 1000)))
		if item.Effect.Better != "" && item.Failure == insight.OutcomeRefused {
			lines = append(lines, commandLabel+item.Effect.Better)
		}
	}
	return lines
}

type drainPlanJSON struct {
	Election string          `json:"election"`
	Key      string          `json:"key"`
	Result   string          `json:"result"`
	Old      insight.Holder  `json:"old"`
	Watched  bool            `json:"watched"`
	Next     []drainNextJSON `json:"next"`
	Warnings []string        `json:"warnings,omitempty"`
	Better   string          `json:"better,omitempty"`
	Reason   string          `json:"reason,omitempty"`
}

type drainNextJSON struct {
	Leader string `json:"leader"`
	Node   string `json:"node"`
	Reason string `json:"reason"`
	Weak   bool   `json:"weak"`
}

// planJSON writes one object per election, and a summary.
func (r *drainRun) planJSON(w io.Writer) error {
	for _, item := range r.plan.Items {
		j := drainPlanJSON{
			Election: item.Target.Election, Key: item.Target.Key, Result: "planned", Old: insight.Outcome{Target: item.Target}.Old(),
			Watched: item.Watched, Next: []drainNextJSON{}, Warnings: item.Effect.Warnings, Better: item.Effect.Better,
		}
		if item.Skip != "" {
			j.Result, j.Reason, j.Warnings = string(drain.Skipped), item.Skip, nil
		}
		for _, c := range item.Next {
			j.Next = append(j.Next, drainNextJSON{c.Name, c.Session.Node, c.Reason, c.Weak})
		}
		if err := writeJSONLine(w, j); err != nil {
			return err
		}
	}
	planned := len(r.plan.Planned())
	return writeJSONLine(w, struct {
		Summary  bool     `json:"summary"`
		DryRun   bool     `json:"dry_run"`
		Nodes    []string `json:"nodes"`
		Planned  int      `json:"elections"`
		Skipped  int      `json:"skipped"`
		Complete bool     `json:"complete"`
	}{true, true, r.plan.Nodes, planned, len(r.plan.Items) - planned, r.incomplete == "" && !r.noScan})
}

// writeJSONLine writes a value as one line, safe to show.
func writeJSONLine(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", sanitize.JSON(text))
	return err
}
