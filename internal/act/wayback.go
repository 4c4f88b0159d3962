package act

import (
	"slices"
	"strings"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

// Command is a drain in a datacenter that moves some leaders.
type Command struct {
	Datacenter         string
	Old                string // the node where the leaders led before the actions
	elections, drained []string
}

// Words returns the command of electop. A user can append flags, unless the name of a node begins with "-".
func (c Command) Words() []string {
	if slices.ContainsFunc(c.drained, func(node string) bool { return strings.HasPrefix(node, "-") }) {
		return slices.Concat([]string{"electop", "drain"}, c.elections, []string{"--"}, c.drained)
	}
	return slices.Concat([]string{"electop", "drain"}, c.drained, c.elections)
}

// WayBack returns the commands that move the leaders back to where they led before the actions, given the newest action
// first. They are no promise: Consul elects the candidate that acquires the key first. No leader returns to a node that had
// failed.
func WayBack(all []*Item) []Command { return drainNew(all, true) }

// Force returns the commands that move the leaders that led again after the newest release, if another node has a likely
// candidate.
func Force(all []*Item) []Command { return drainNew(all, false) }

// drainNew returns a command for each old node: one command for all could drain a node to which a leader should return.
func drainNew(all []*Item, back bool) (commands []Command) {
	of := map[election.ID][]*Item{}
	for _, i := range all {
		if id := i.Target.ID(); (i.Kind.Applied() || i.Kind == OutcomeMoving) && (!back || i.Kind != OutcomeReturned) {
			of[id] = append(of[id], i)
		}
	}
	for _, last := range all {
		t, acted := last.Target, of[last.Target.ID()]
		if acted == nil || acted[0] != last {
			continue
		}
		first := last
		if back {
			first = acted[len(acted)-1]
		}
		from := first.Target.Node
		// The same leader, not only its node, led again after a release, although another node has a likely candidate.
		resists := last.Action == election.ActionRelease && last.Kind == OutcomeReturned && (t.Term > 0 || last.New.Leader == t.Leader) &&
			slices.ContainsFunc(last.Next, func(c insight.Candidate) bool { return !c.Weak && !election.SameNode(c.Session.Node, last.New.Node) })
		if from == "" || last.New.Node == "" || back == election.SameNode(from, last.New.Node) || back && strings.HasPrefix(first.Note, election.FixOf) || !back && !resists {
			continue
		}
		i := slices.IndexFunc(commands, func(c Command) bool { return c.Datacenter == t.Datacenter && c.Old == from })
		if i < 0 {
			i, commands = len(commands), append(commands, Command{Datacenter: t.Datacenter, Old: from})
		}
		c := &commands[i]
		c.drained = election.Union(c.drained, last.New.Node)
		c.elections = append(c.elections, "--include", sanitize.Line(t.Key, 1000)) // a name depends on the patterns
	}
	return commands
}
