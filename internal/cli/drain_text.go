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
	"electop/internal/act"
	"electop/internal/output"
)

// planText writes the elections as a table, then the effects and the skipped elections.
func (c *drainCommand) planText(w io.Writer) error {
	var b strings.Builder
	planned := c.plan.Planned()
	fmt.Fprintf(&b, "Drain %s: %s to move, %d skipped.\n", c.plan.NodesText(), countElections(len(planned)), len(c.plan.Items)-len(planned))
	if err := planTable(&b, planned); err != nil {
		return err
	}
	for _, line := range c.planNotes(planned) {
		if !strings.HasPrefix(line, commandLabel) {
			line = output.Wrap(line, cmp.Or(terminalWidth(w), output.DefaultWidth))
		}
		fmt.Fprintln(&b, line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func planTable(w io.Writer, planned []*act.Item) error {
	if len(planned) == 0 {
		return nil
	}
	table := output.NewTable(w)
	fmt.Fprintln(table, "  ELECTION\tLEADER\tNODE\tNEXT, ON OTHER NODES")
	for _, item := range planned {
		t := item.Target
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", itemName(item), election.ShortLeader(t.Leader), sanitize.Line(t.Node, 60), item.NextText())
	}
	return table.Flush()
}

// itemName returns the name of an election, marked if no pattern matches its key.
func itemName(item *act.Item) string {
	name := item.Name()
	if !item.Watched {
		name += " (not watched)"
	}
	return name
}

// planNotes returns the lines below the table.
func (c *drainCommand) planNotes(planned []*act.Item) []string {
	var lines, names []string
	var releases, destroys []insight.Effect
	for _, item := range planned {
		names = append(names, item.Name())
		releases, destroys = append(releases, item.Effect), append(destroys, item.Last)
	}
	if len(planned) > 0 {
		lines = append(lines, effectLines(names, releases)...)
		if c.Destroy {
			lines = append(lines, "After "+act.Releases(c.Rounds)+" without success, electop destroys the leader's session:")
			lines = append(lines, effectLines(names, destroys)...)
		}
	}
	lines = append(lines, skippedLines(c.plan.Items)...)
	if c.noScan {
		lines = append(lines, "Keys that match no pattern were not searched (--no-scan).")
	}
	if c.plan.Incomplete != "" {
		lines = append(lines, c.plan.Incomplete)
	}
	return lines
}

// skippedLines returns lines that say why the drain skips elections, and what the user can do instead.
func skippedLines(all []*act.Item) (lines []string) {
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
func (c *drainCommand) planJSON(w io.Writer) error {
	for _, item := range c.plan.Items {
		j := drainPlanJSON{
			Election: item.Target.Election, Key: item.Target.Key, Result: "planned", Old: insight.Outcome{Target: item.Target}.Old(),
			Watched: item.Watched, Next: []drainNextJSON{}, Warnings: item.Effect.Warnings, Better: item.Effect.Better,
		}
		if item.Skip != "" {
			j.Result, j.Reason, j.Warnings = string(act.Skipped), item.Skip, nil
		}
		for _, next := range item.Next {
			j.Next = append(j.Next, drainNextJSON{next.Name, next.Session.Node, next.Reason, next.Weak})
		}
		if err := writeJSONLine(w, j); err != nil {
			return err
		}
	}
	planned := len(c.plan.Planned())
	return writeJSONLine(w, struct {
		Summary  bool     `json:"summary"`
		DryRun   bool     `json:"dry_run"`
		Nodes    []string `json:"nodes"`
		Planned  int      `json:"elections"`
		Skipped  int      `json:"skipped"`
		Complete bool     `json:"complete"`
	}{true, true, c.plan.Nodes, planned, len(c.plan.Items) - planned, c.plan.Incomplete == "" && !c.noScan})
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
