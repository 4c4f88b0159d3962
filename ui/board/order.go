package board

import (
	"maps"
	"slices"
	"time"

	"electop/election"
	"electop/ui/scene"
)

// refresh filters and sorts the elections. The cursor stays on its election. If the election is no longer listed, the
// cursor moves to the next row.
func (m *Model) refresh(s *scene.Scene) {
	m.match = m.filter.After(m.match, s.Shown.Elections, s.Sessions(), facts(s))
	m.order = m.match.Select(s.Shown.Elections)
	// The sort order and a filter by advice depend on the checks of these nodes, so the selection must not depend on the
	// sort order, and includes nodes of hidden elections.
	m.nodes = firstNodes(len(s.Datacenters) > 0, m.order, s.Shown.Elections)
	m.sort.Sort(m.order, facts(s))
	m.vacant = nil
	for i, e := range m.order {
		if leaderless(e, s) {
			m.vacant = append(m.vacant, i)
		}
	}
	m.marks = maps.Clone(m.marks)
	maps.DeleteFunc(m.marks, func(id election.ID, _ bool) bool { return s.Live.Find(id) == nil })
	m.relocate()
}

// mostNodes is the maximum number of nodes per datacenter whose checks are watched.
const mostNodes = 16

// firstNodes returns up to mostNodes nodes of leaders for each datacenter. Nodes of listed elections come first. If
// named is false, all nodes are under the key "".
func firstNodes(named bool, listed, all []*election.Election) map[string][]string {
	nodes := map[string][]string{}
	add := func(es []*election.Election) {
		for _, e := range es {
			name := ""
			if named {
				name = e.Datacenter
			}
			if known := nodes[name]; len(known) < mostNodes && e.Session != nil && e.Pair.Held() && !slices.Contains(known, e.Session.Node) {
				nodes[name] = append(known, e.Session.Node)
			}
		}
	}
	add(listed)
	if len(listed) < len(all) {
		add(all)
	}
	return nodes
}

// leaderless reports whether an election is vacant, with or without a lock-delay. It is false for idle elections.
func leaderless(e *election.Election, s *scene.Scene) bool {
	state := scene.DisplayStateOf(e, s.AsOf)
	return state == scene.StateVacant || state == scene.StateLockDelay
}

// highlightTime is how long the row of an election stays highlighted after its leader changed.
const highlightTime = 5 * time.Second

// justChanged reports whether an election lost or gained a leader less than highlightTime ago. A clock tick ends the
// highlight.
func justChanged(e *election.Election, s *scene.Scene) bool {
	if s.Past != nil || len(e.Terms) == 0 {
		return false
	}
	t := e.Terms[len(e.Terms)-1]
	at, known := t.Start, t.StartKnown
	if t.Over() {
		at, known = t.End, t.SeenUntil.IsZero()
	}
	ago := s.Now.Sub(at)
	return known && ago >= 0 && ago < highlightTime
}

// relocate finds the cursor's row in a new order.
func (m *Model) relocate() {
	i := slices.IndexFunc(m.order, func(e *election.Election) bool { return m.cursor.Of(e) })
	if i < 0 {
		i = m.at.Index
	}
	m.moveTo(i)
}

// rows returns how many elections fit between the column titles and the line about hidden rows.
func (m Model) rows(height int) int {
	if rows := height - 1; rows >= len(m.order) || rows < 3 {
		return max(0, rows)
	}
	return height - 2
}

func (m Model) visible(rows int) []*election.Election {
	from := min(m.at.Offset, len(m.order))
	return m.order[from:min(len(m.order), from+max(0, rows))]
}
