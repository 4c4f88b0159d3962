package act

import (
	"slices"

	"electop/election"
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

// WayBack returns the commands that move the leaders back, given outcomes with the newest outcome of an election first.
// They are no promise: Consul elects the candidate that acquires the key first.
func WayBack(all []Outcome) []Command {
	return drainNew(all, func(o Outcome) bool { return o.Kind == OutcomeMoved && !election.SameNode(o.Target.Node, o.New.Node) })
}

// Force returns the commands that move the leaders that lead again after a release.
func Force(all []Outcome) []Command {
	return drainNew(all, func(o Outcome) bool { return o.Kind == OutcomeReturned && o.Action == election.ActionRelease })
}

// drainNew returns a command for each old node: one command for all could drain a node to which a leader should return.
func drainNew(all []Outcome, chosen func(Outcome) bool) (commands []Command) {
	seen := map[election.ID]bool{}
	for _, o := range all {
		t := o.Target
		if o.New.Node == "" || !chosen(o) || seen[t.ID()] {
			continue
		}
		seen[t.ID()] = true
		i := slices.IndexFunc(commands, func(c Command) bool { return c.Datacenter == t.Datacenter && c.from == t.Node })
		if i < 0 {
			i, commands = len(commands), append(commands, Command{Datacenter: t.Datacenter, from: t.Node})
		}
		c := &commands[i]
		c.drained = election.Union(c.drained, o.New.Node)
		c.elections = append(c.elections, "--include", sanitize.Line(t.Key, 1000)) // a name depends on the patterns
	}
	return commands
}
