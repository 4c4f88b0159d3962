package board

import (
	"maps"
	"slices"

	"electop/election"
	"electop/ui/internal/scene"
)

// refresh filters and sorts again. The cursor stays on its election, or moves to the one that
// replaces it.
func (m *Model) refresh(s *scene.Scene) {
	m.match = m.filter.On(s.Shown.Elections, s.Sessions(), s.AsOf)
	m.order = m.match.Select(s.Shown.Elections)
	m.sort.Sort(m.order, facts(s))
	m.vacant = nil
	for i, e := range m.order {
		if leaderless(e, s) {
			m.vacant = append(m.vacant, i)
		}
	}
	m.marks = maps.Clone(m.marks)
	maps.DeleteFunc(m.marks, func(id string, _ bool) bool { return s.Live.Find(id) == nil })
	m.relocate()
}

// leaderless reports whether an election is vacant, with or without a lock-delay, and not
// idle.
func leaderless(e *election.Election, s *scene.Scene) bool {
	state := scene.DisplayStateOf(e, s.AsOf)
	return state == scene.StateVacant || state == scene.StateLockDelay
}

// relocate finds the cursor's row in a new order.
func (m *Model) relocate() {
	i := slices.IndexFunc(m.order, func(e *election.Election) bool { return e.ID() == m.cursor })
	if i < 0 {
		i = m.at.Index
	}
	m.moveTo(i)
}

// rows is the number of elections in a table of this height, without the head and the line
// about hidden rows.
func (m Model) rows(height int) int {
	if rows := height - 1; rows >= len(m.order) || rows < 3 {
		return max(0, rows)
	}
	return height - 2
}

// visible returns the elections on a screen of this many rows.
func (m Model) visible(rows int) []*election.Election {
	from := min(m.at.Offset, len(m.order))
	return m.order[from:min(len(m.order), from+max(0, rows))]
}
