package ui

import (
	"slices"
	"strings"

	"electop/election"
)

// tell notifies the caller when one of these changes: the nodes whose checks are displayed, the selected election,
// the visibility of the sessions.
func (m *Model) tell() {
	if m.opts.WatchChecks != nil && m.window.w > 0 {
		looked := []*election.Election{m.scene.Selected}
		if m.focus.view == viewElections && !m.focus.zoom {
			looked = append(looked, m.board.Visible()...)
		}
		var open *election.Session
		if m.focus.view == viewSessions && m.sessions.Open() {
			open = m.sessions.Selected()
		}
		nodes := watchedNodes(open, looked)
		if all := strings.Join(nodes, "\x00"); all != m.out.watched {
			m.out.watched = all
			m.opts.WatchChecks(nodes)
		}
	}
	studied := ""
	if e := m.scene.Selected; e != nil && m.focus.view == viewElections {
		studied = e.Key()
	}
	if m.opts.Study != nil && studied != m.out.studied {
		m.out.studied = studied
		m.opts.Study(studied)
	}
	if on := m.focus.view == viewSessions; m.opts.WatchSessions != nil && on != m.out.listing {
		m.out.listing = on
		m.opts.WatchSessions(on)
	}
}

// watchedNodes returns each node of the open session once, or else of the elections. The order matters because the
// number of watched nodes is limited.
func watchedNodes(open *election.Session, looked []*election.Election) []string {
	if open != nil {
		return []string{open.Node}
	}
	var nodes []string
	for _, e := range looked {
		if e != nil && e.Session != nil && e.Pair.Held() && len(e.Session.NodeChecks)+len(e.Session.ServiceChecks) > 0 {
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
