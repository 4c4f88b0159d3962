package act

import (
	"slices"

	"electop/election"
)

// WayBack returns the command that moves the leaders back to the drained node, as words, or nil if no election moved. It
// is no promise: Consul elects the candidate that acquires the key first.
func WayBack(all []Outcome) []string {
	var nodes, names []string
	for _, o := range all {
		if o.Kind != OutcomeMoved || o.New.Node == "" || election.SameNode(o.Target.Node, o.New.Node) {
			continue
		}
		if !slices.Contains(nodes, o.New.Node) {
			nodes = append(nodes, o.New.Node)
		}
		names = append(names, "--include", o.Name())
	}
	if names == nil {
		return nil
	}
	return slices.Concat([]string{"electop", "drain"}, names, []string{"--"}, nodes) // a name may begin with "-"
}
