package act

import (
	"fmt"
	"slices"
	"strings"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

// Name returns the name of the election, safe to print.
func (i *Item) Name() string { return sanitize.Line(i.Target.Election, 100) }

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
	rivals := election.Plural(uint64(i.Rivals), "candidate") + " on the drained node" //nolint:gosec // not negative
	switch {
	case len(i.Next) > 0 && i.Rivals > 0:
		return candidateNames(i.Next) + "; " + rivals
	case len(i.Next) > 0:
		return candidateNames(i.Next)
	case len(i.Unread) > 0:
		return "unknown: " + strings.Join(i.Unread, "; ")
	case i.Rivals > 0:
		return "none was seen: the election may stay (" + rivals + ")"
	}
	return "none was seen: it may stay vacant"
}

// candidateNames names the first candidates and counts the others.
func candidateNames(all []insight.Candidate) string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = insight.Holder{Leader: c.Name, Node: c.Session.Node}.Text()
		if c.Weak {
			names[i] = "perhaps " + names[i]
		}
	}
	return election.NameList(names, nextShown)
}

// NodesText joins the names of the nodes, safe to print.
func (p Plan) NodesText() string {
	return sanitize.Line(strings.Join(p.Nodes, ", "), 200)
}

// Text describes the result of one election in one line.
func (r Result) Text() string {
	old := insight.Outcome{Target: r.Item.Target}.Old().Text()
	var text string
	switch r.Status {
	case Moved:
		text = old + " → " + r.Leader.Text()
		if r.VacancyKnown {
			text += " " + election.AfterVacancy(r.Vacancy)
		}
	case Vacant:
		text = old + " → no leader"
	case Stayed:
		text = "stayed, led by " + r.Leader.Text()
	case Moving:
		text = "interrupted, " + r.present()
	case Waiting:
		text = "interrupted before any release"
	case Skipped:
		return r.Reason
	default:
		text = string(r.Status)
	}
	switch {
	case r.Status == Stayed: // for a leader that stayed, the reason contains the number of releases
	case r.Rounds > 0 && r.Destroyed:
		text += fmt.Sprintf(", %s and a destroy", Releases(r.Rounds))
	case r.Rounds > 0:
		text += ", " + Releases(r.Rounds)
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// WayBack returns the command that moves the leaders back to the drained node, as words, or nil if no election moved. It
// is no promise: Consul elects the candidate that acquires the key first.
func WayBack(all []Result) []string {
	words, names := []string{"electop", "drain"}, []string(nil)
	for _, r := range all {
		if r.Status != Moved {
			continue
		}
		if !slices.Contains(words[2:], r.Leader.Node) {
			words = append(words, r.Leader.Node)
		}
		names = append(names, "--include", r.Item.Name())
	}
	if names == nil {
		return nil
	}
	return append(words, names...)
}

// Tally counts results: "2 moved, 1 failed".
func Tally(results []string) string {
	counts := map[string]int{}
	for _, result := range results {
		counts[result]++
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

// Progress describes the state of an election while the drain runs.
func (r Result) Progress() string {
	text := r.present()
	switch {
	case r.Status.Final():
		return r.Text()
	case r.Rounds > 0 && r.Pausing:
		return Releases(r.Rounds) + " and a pause before the next, " + text
	case r.Rounds > 0:
		return Releases(r.Rounds) + ", " + text
	}
	return text
}

// present describes the current leader.
func (r Result) present() string {
	if r.Leader.Session == "" {
		return "no leader"
	}
	return "led by " + r.Leader.Text()
}

// Releases returns "1 release", "2 releases" and so on.
func Releases(n int) string {
	return election.Plural(uint64(n), "release") //nolint:gosec // not negative
}

// NamedEffect is the effect of an action on the election or session with this name.
type NamedEffect struct {
	Name   string
	Effect insight.Effect
}

// Sentences returns each sentence of the effects once. If a sentence does not apply to all effects, the joined names
// of its effects precede it.
func Sentences(effects []NamedEffect, pick func(insight.Effect) []string, join func(names []string) string) []string {
	var order []string
	about := map[string][]string{}
	for _, e := range effects {
		for _, text := range pick(e.Effect) {
			if text == "" {
				continue
			}
			if about[text] == nil {
				order = append(order, text)
			}
			about[text] = append(about[text], e.Name)
		}
	}
	for i, text := range order {
		if names := about[text]; len(names) < len(effects) {
			order[i] = join(names) + ": " + text
		}
	}
	return order
}
