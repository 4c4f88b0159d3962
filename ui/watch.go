package ui

import (
	"slices"
	"strings"

	"electop/election"
)

// tell informs the backend when the set of nodes whose checks are needed, the selected election, or the visibility of
// the sessions changes.
func (m *Model) tell() {
	if m.w > 0 {
		names := m.Datacenters
		if len(names) == 0 {
			names = []string{""}
		}
		for _, name := range names {
			m.watchChecks(name)
		}
	}
	var studied election.ID
	datacenter, key := "", ""
	if e := m.scene.Selected; e != nil && m.view == viewElections && m.live.Connection.State != election.Connecting {
		studied, datacenter, key = e.ID(), e.Datacenter, e.Key()
	}
	if studied != m.studied {
		m.studied = studied
		m.opts.Backend.Study(datacenter, key)
	}
	if on := m.view == viewSessions; on != m.listing {
		m.listing = on
		m.opts.Backend.WatchSessions(on)
	}
}

// watchChecks passes the nodes of a datacenter whose checks are needed to the backend. The name is empty if there is only
// one datacenter. The order matters because the
// number of watched nodes is limited: the node of the selected session, those of the selected and the visible leaders, and
// then those of all leaders, because the header counts failed leaders.
func (m *Model) watchChecks(datacenter string) {
	var nodes []string
	here := func(name string) bool { return datacenter == "" || name == datacenter }
	looked := []*election.Election{m.scene.Selected}
	switch session := m.selectedSession(); {
	case session != nil:
		looked = nil
		if here(session.Datacenter) {
			nodes = []string{session.Node}
		}
	case m.view == viewElections && !m.zoom:
		looked = append(looked, m.board.Visible()...)
	}
	for _, e := range looked {
		if e != nil && here(e.Datacenter) && e.Session != nil && e.Pair.Held() {
			nodes = append(nodes, e.Session.Node)
		}
	}
	seen := map[string]bool{}
	nodes = slices.DeleteFunc(append(nodes, m.board.Nodes(datacenter)...), func(node string) bool {
		again := seen[node]
		seen[node] = true
		return again
	})
	if all := strings.Join(nodes, "\x00"); all != m.watched[datacenter] {
		m.watched[datacenter] = all
		m.opts.Backend.WatchChecks(datacenter, nodes)
	}
}
