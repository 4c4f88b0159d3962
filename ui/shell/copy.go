package shell

import "electop/election"

// Item is a part of an election or session that the user can copy. Key selects it in the menu.
type Item struct{ Key, What, Text string }

// OfElection lists the parts of an election.
func (c Cluster) OfElection(e *election.Election) []Item {
	return []Item{
		{"k", "key", e.Key()}, {"n", "name", e.Name}, {"l", "leader", e.Leader}, {"s", "session", e.Pair.Session},
		{"o", "node", e.Node()}, {"v", "value", string(e.Pair.Value)}, {"c", "consul command", c.KVGet(e.Key(), e.Datacenter)},
	}
}

// OfSession lists the parts of a session.
func OfSession(s *election.Session) []Item {
	return []Item{{"s", "session ID", s.ID}, {"n", "name", s.Name}, {"o", "node", s.Node}}
}
