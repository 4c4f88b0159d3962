package act

import (
	"slices"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

// Command is a drain in a datacenter that moves some leaders.
type Command struct {
	Datacenter         string
	from               string // the old node
	elections, drained []string
}

// Words returns the command of electop.
func (c Command) Words() []string {
	return slices.Concat([]string{"electop", "drain"}, c.elections, []string{"--"}, c.drained) // a name may begin with "-"
}

// WayBack returns the commands that move the leaders back to where they led before the actions, given the newest action
// first. They are no promise: Consul elects the candidate that acquires the key first.
func WayBack(all []*Item) []Command {
	return drainNew(all, func(from string, acted []*Item) bool {
		return from != "" && !election.SameNode(from, acted[0].New.Node)
	})
}

// Force returns the commands that move the leaders that led again after each action, if another node has a likely
// candidate.
func Force(all []*Item) []Command {
	return drainNew(all, func(from string, acted []*Item) bool {
		return acted[0].Action == election.ActionRelease && election.SameNode(from, acted[0].New.Node) &&
			!slices.ContainsFunc(acted, func(i *Item) bool { return i.Kind != OutcomeReturned }) &&
			slices.ContainsFunc(acted[0].Next, func(c insight.Candidate) bool { return !c.Weak && !election.SameNode(c.Session.Node, from) })
	})
}

// drainNew returns a command for each old node: one command for all could drain a node to which a leader should return.
// acted contains the actions on an election, newest first, and from is its node before them.
func drainNew(all []*Item, chosen func(from string, acted []*Item) bool) (commands []Command) {
	of := map[election.ID][]*Item{}
	for _, i := range all {
		if id := i.Target.ID(); i.Kind.Applied() {
			of[id] = append(of[id], i)
		}
	}
	for _, last := range all {
		t, acted := last.Target, of[last.Target.ID()]
		if acted == nil || acted[0] != last || last.New.Node == "" {
			continue
		}
		from := acted[len(acted)-1].Target.Node
		if !chosen(from, acted) {
			continue
		}
		i := slices.IndexFunc(commands, func(c Command) bool { return c.Datacenter == t.Datacenter && c.from == from })
		if i < 0 {
			i, commands = len(commands), append(commands, Command{Datacenter: t.Datacenter, from: from})
		}
		c := &commands[i]
		c.drained = election.Union(c.drained, last.New.Node)
		c.elections = append(c.elections, "--include", sanitize.Line(t.Key, 1000)) // a name depends on the patterns
	}
	return commands
}
