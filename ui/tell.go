package ui

import (
	"slices"
	"strings"

	"electop/election"
)

// tell calls functions of Options when the set of nodes whose checks are needed, the selected election, or the
// visibility of the sessions changes.
func (m *Model) tell() {
	if m.window.w > 0 {
		looked := []*election.Election{m.scene.Selected}
		if m.focus.view == viewElections && !m.focus.zoom {
			looked = append(looked, m.board.Visible()...)
		}
		var open *election.Session
		if m.focus.view == viewSessions && m.sessions.Open() {
			open = m.sessions.Selected()
		}
		watchChecks(m, open, looked)
	}
	var studied election.ID
	datacenter, key := "", ""
	if e := m.scene.Selected; e != nil && m.focus.view == viewElections && m.feed.live.Connection.State != election.Connecting {
		studied, datacenter, key = e.ID(), e.Datacenter, e.Key()
	}
	if studied != m.out.studied {
		m.out.studied = studied
		m.opts.Backend.Study(datacenter, key)
	}
	if on := m.focus.view == viewSessions; on != m.out.listing {
		m.out.listing = on
		m.opts.Backend.WatchSessions(on)
	}
}

// watchChecks passes the nodes of each datacenter to WatchChecks. If there is only one datacenter, its name is "".
func watchChecks(m *Model, open *election.Session, looked []*election.Election) {
	names := m.scene.Datacenters
	if len(names) == 0 {
		names = []string{""}
	}
	for _, name := range names {
		of, session := looked, open
		if name != "" {
			of = slices.DeleteFunc(slices.Clone(looked), func(e *election.Election) bool { return e == nil || e.Datacenter != name })
		}
		if name != "" && open != nil && open.Datacenter != name {
			of, session = nil, nil
		}
		// All views need these nodes, because the header counts failed leaders.
		nodes := distinct(append(watchedNodes(session, of), m.board.Nodes(name)...))
		if all := strings.Join(nodes, "\x00"); all != m.out.watched[name] {
			m.out.watched[name] = all
			m.opts.Backend.WatchChecks(name, nodes)
		}
	}
}

// watchedNodes returns the node of the open session or, if no session is open, the nodes of the elections' leaders,
// each once. The order matters because the number of watched nodes is limited.
func watchedNodes(open *election.Session, looked []*election.Election) []string {
	if open != nil {
		return []string{open.Node}
	}
	var nodes []string
	for _, e := range looked {
		if e != nil && e.Session != nil && e.Pair.Held() {
			nodes = append(nodes, e.Session.Node)
		}
	}
	return distinct(nodes)
}

// distinct removes duplicates and keeps the order.
func distinct(nodes []string) []string {
	seen := make(map[string]bool, len(nodes))
	return slices.DeleteFunc(nodes, func(node string) bool {
		again := seen[node]
		seen[node] = true
		return again
	})
}
