package board

import (
	"maps"
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/kit"
	"electop/ui/scene"
)

// markRange is a range of marks from a row to the cursor.
type markRange struct {
	from   election.ID // the election of the row where the range began
	before map[election.ID]bool
}

func (m *Model) markKey(msg tea.KeyPressMsg, s *scene.Scene) (action scene.Action, done bool) {
	k := &m.keys
	switch {
	case !key.Matches(msg, k.Mark, k.MarkRange, k.MarkAll, k.Invert, k.Unmark):
		return nil, false
	case s.Past != nil:
		return scene.Say{Role: kit.Delay, Text: "This is the past: marks are disabled. Press esc to return to now."}, true
	case key.Matches(msg, k.MarkRange):
		return m.toggleRange(), true
	}
	if m.between != nil {
		action = endOfRange()
	}
	switch m.between = nil; {
	case key.Matches(msg, k.Mark):
		m.setMarks(m.order[m.at.Index:min(m.at.Index+1, len(m.order))], func(marked bool) bool { return !marked })
		m.moveTo(m.at.Index + 1)
	case key.Matches(msg, k.MarkAll):
		m.setMarks(m.order, func(bool) bool { return true })
	case key.Matches(msg, k.Invert):
		m.setMarks(m.order, func(marked bool) bool { return !marked })
	default:
		m.marks = nil
	}
	return action, true
}

// setMarks adds or removes the mark of each election. The function mark receives the current mark and returns the new
// mark.
func (m *Model) setMarks(es []*election.Election, mark func(marked bool) bool) {
	marks := maps.Clone(m.marks)
	if marks == nil {
		marks = map[election.ID]bool{}
	}
	for _, e := range es {
		if mark(marks[e.ID()]) {
			marks[e.ID()] = true
		} else {
			delete(marks, e.ID())
		}
	}
	m.marks = marks
}

// toggleRange begins a range at the cursor, or ends it and keeps its marks.
func (m *Model) toggleRange() scene.Action {
	switch {
	case m.between != nil:
		m.between = nil
		return endOfRange()
	case m.Selected() == nil:
		return nil
	}
	m.between = &markRange{from: m.cursor, before: m.marks}
	m.stretch()
	return scene.Say{Role: kit.Quiet, Text: "Move to mark rows; " + m.keys.MarkRange.Help().Key + " keeps the marks, esc discards them."}
}

// endOfRange returns the action that removes the note about the range.
func endOfRange() scene.Action { return scene.Say{} }

// dropRange restores the marks as they were before the range began.
func (m *Model) dropRange() { m.marks, m.between = m.between.before, nil }

func (m *Model) stretch() {
	if m.between == nil {
		return
	}
	from := slices.IndexFunc(m.order, func(e *election.Election) bool { return m.between.from.Of(e) })
	if from < 0 { // the row is hidden, or its election was deleted
		m.between = nil
		return
	}
	m.marks = m.between.before
	m.setMarks(m.order[min(from, m.at.Index):max(from, m.at.Index)+1], func(bool) bool { return true })
}

func (m *Model) unmark(targets []scene.Target) {
	m.marks, m.between = maps.Clone(m.marks), nil
	for _, t := range targets {
		delete(m.marks, t.ID())
	}
}
