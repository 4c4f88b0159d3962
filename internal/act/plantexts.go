package act

import (
	"fmt"
	"strings"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

// NodesText joins the names of the nodes, safe to print.
func (p Plan) NodesText() string {
	return sanitize.Line(strings.Join(p.Nodes, ", "), 200)
}

// Tally counts the kinds of outcomes: "2 moved, 1 failed".
func Tally(all []Outcome) string {
	counts := map[string]int{}
	for _, o := range all {
		counts[string(o.Kind)]++
	}
	var parts []string
	for result := range strings.FieldsSeq(
		"moved done destroyed same_leader stayed vacant unknown refused denied changed no_leader failed interrupted moving waiting skipped",
	) {
		if n := counts[result]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ReplaceAll(result, "_", " ")))
		}
	}
	return strings.Join(parts, ", ")
}

// NamedEffect is the effect of an action on the election or session with this name.
type NamedEffect struct {
	Name   string
	Effect insight.Effect
}

// Sentences returns each of these sentences of the effects once; see [insight.Effect.Sentences]. If a sentence does not
// apply to all effects, up to limit names of its effects precede it.
func Sentences(effects []NamedEffect, limit int, labels ...string) []string {
	var order []string
	about := map[string][]string{}
	for _, e := range effects {
		for _, label := range labels {
			for _, text := range e.Effect.Sentences(label) {
				if about[text] == nil {
					order = append(order, text)
				}
				about[text] = append(about[text], e.Name)
			}
		}
	}
	for i, text := range order {
		if names := about[text]; len(names) < len(effects) {
			order[i] = election.NameList(names, limit) + ": " + text
		}
	}
	return order
}
