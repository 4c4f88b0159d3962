package act

import (
	"slices"

	"electop/election"
	"electop/election/sanitize"
)

// WayBack returns the command that moves the leaders back to the drained node, as words, or nil if no election moved. It
// is no promise: Consul elects the candidate that acquires the key first.
func WayBack(all []Outcome) []string {
	return drainNew(all, func(o Outcome) bool { return o.Kind == OutcomeMoved && !election.SameNode(o.Target.Node, o.New.Node) })
}

// Force returns the command that moves the leaders that lead again after a release, as words, or nil if none does.
func Force(all []Outcome) []string {
	return drainNew(all, func(o Outcome) bool { return o.Kind == OutcomeReturned && o.Action == election.ActionRelease })
}

func drainNew(all []Outcome, chosen func(Outcome) bool) []string {
	var nodes, names []string
	for _, o := range all {
		if o.New.Node == "" || !chosen(o) {
			continue
		}
		nodes = election.Union(nodes, o.New.Node)
		names = append(names, "--include", sanitize.Line(o.Target.Key, 1000)) // a name depends on the patterns
	}
	if names == nil {
		return nil
	}
	return slices.Concat([]string{"electop", "drain"}, names, []string{"--"}, nodes) // a name may begin with "-"
}
