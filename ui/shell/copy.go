package shell

import "electop/election"

// Item is a part of an election or session that the user can copy. Key selects it in the menu.
type Item struct {
	Key, What, Text string
	Err             error // why there is no text
}

// OfElection lists the parts of an election.
func (c Cluster) OfElection(e *election.Election) []Item {
	get, getErr := c.KVGet(e.Key(), e.Datacenter)
	curl, curlErr := c.CurlKV(e.Key(), e.Datacenter)
	return []Item{
		{"k", "key", e.Key(), nil}, {"n", "name", e.Name, nil}, {"l", "leader", e.Leader, nil}, {"s", "session", e.Pair.Session, nil},
		{"o", "node", e.Node(), nil}, {"v", "value", string(e.Pair.Value), nil}, {"c", "consul command", get, getErr}, {"u", "curl command", curl, curlErr},
	}
}

// OfSession lists the parts of a session in a datacenter.
func (c Cluster) OfSession(s *election.Session, datacenter string) []Item {
	return []Item{{"s", "session ID", s.ID, nil}, {"n", "name", s.Name, nil}, {"o", "node", s.Node, nil}, {"u", "curl command", c.CurlSession(s.ID, datacenter), nil}}
}
