package board

import (
	"slices"

	"electop/election"
)

// mostNodes is the maximum number of nodes per datacenter whose checks are watched.
const mostNodes = 16

// firstNodes returns up to mostNodes nodes of leaders for each datacenter. Nodes of listed elections come first. If
// named is false, all nodes are under the key "".
func firstNodes(named bool, listed, all []*election.Election) map[string][]string {
	nodes := map[string][]string{}
	if len(listed) == len(all) {
		all = nil
	}
	for _, e := range slices.Concat(listed, all) {
		name := ""
		if named {
			name = e.Datacenter
		}
		if known := nodes[name]; len(known) < mostNodes && e.Session != nil && e.Pair.Held() {
			nodes[name] = election.Union(known, e.Session.Node)
		}
	}
	return nodes
}

// WatchedNodes returns the nodes of a datacenter whose checks are watched. The name of the only datacenter is empty. The
// order matters because the number of watched nodes is limited: the node of the selected session or, without one, those
// of the leaders that the user looks at, and then those of all leaders, because the header counts failed leaders.
func (m *Model) WatchedNodes(datacenter string, session *election.Session, looked []*election.Election) (nodes []string) {
	here := func(name string) bool { return datacenter == "" || name == datacenter }
	if session != nil {
		looked = nil
		if here(session.Datacenter) {
			nodes = []string{session.Node}
		}
	}
	for _, e := range looked {
		if e != nil && here(e.Datacenter) && e.Session != nil && e.Pair.Held() {
			nodes = election.Union(nodes, e.Session.Node)
		}
	}
	return election.Union(nodes, m.nodes[datacenter]...)
}
