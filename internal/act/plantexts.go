package act

import (
	"fmt"
	"strings"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

// Title returns the name of the election, marked if no pattern matches its key.
func (i *Item) Title() string {
	if i.Watched {
		return i.Name()
	}
	return i.Name() + " (not watched)"
}

// nextShown is the maximum number of candidates that a row of the plan names.
const nextShown = 2

// NextText names the likely candidates on other nodes in one line.
func (i *Item) NextText() string {
	rivals := election.Plural(i.Rivals, "candidate") + " on the drained node"
	switch {
	case len(i.Next) > 0 && i.Rivals > 0:
		return candidateNames(i.Next) + "; " + rivals
	case len(i.Next) > 0:
		return candidateNames(i.Next)
	case len(i.Around.Unread()) > 0:
		return "unknown: " + strings.Join(i.Around.Unread(), "; ")
	case i.Rivals > 0:
		return "none seen; " + rivals
	}
	return "none seen"
}

// candidateNames names the first candidates and counts the others.
func candidateNames(all []insight.Candidate) string {
	var names []string
	for _, c := range all {
		name := election.Holder{Leader: c.Name, Node: c.Session.Node}.Text()
		if c.Weak {
			name = "perhaps " + name
		}
		names = election.Union(names, name) // the sessions of one program may have one name
	}
	return election.NameList(names, nextShown)
}

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
