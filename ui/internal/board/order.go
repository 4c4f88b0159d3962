package board

import (
	"maps"
	"slices"

	"electop/election"
	"electop/ui/internal/scene"
)

// refresh filters and sorts the elections. The cursor stays on its election. If the election is no longer listed, the
// cursor moves to the next row.
func (m *Model) refresh(s *scene.Scene) {
	m.order = make([]*election.Election, 0, len(s.Shown.Elections))
	for _, e := range s.Shown.Elections {
		if m.filter.Match(e, s.AsOf) {
			m.order = append(m.order, e)
		}
	}
	sortElections(m.order, m.sort, s)
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

// leaderless reports whether an election is vacant, with or without a lock-delay. Idle elections do not count.
func leaderless(e *election.Election, s *scene.Scene) bool {
	state := scene.DisplayStateOf(e, s.AsOf)
	return state == scene.StateVacant || state == scene.StateLockDelay
}

func (m *Model) relocate() {
	i := slices.IndexFunc(m.order, func(e *election.Election) bool { return e.ID() == m.cursor })
	if i < 0 {
		i = m.at.Index
	}
	m.moveTo(i)
}

// rows is the number of elections that fit below the column titles and above the line about hidden rows.
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
