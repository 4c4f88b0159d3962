package ui

import (
	"electop/ui/internal/scene"
	"electop/ui/internal/term"

	tea "charm.land/bubbletea/v2"
)

// clicked selects what was clicked on: a row, a column to sort by, a page.
func (m *Model) clicked(at tea.Mouse) {
	if m.mode != modeBoard || at.Button != tea.MouseLeft || tooSmall(m.width, m.height) {
		return
	}
	sc := m.where()
	switch {
	case m.view == viewEvents && sc.body.Contains(at.X, at.Y) && at.Y > sc.body.Y:
		m.events.moveTo(m.events.offset + at.Y - sc.body.Y - 1)
	case m.view == viewSessions && sc.body.Contains(at.X, at.Y):
		m.toSessions(scene.Clicked{X: at.X - sc.body.X, Y: at.Y - sc.body.Y})
	case sc.table.Contains(at.X, at.Y) && at.Y == sc.table.Y:
		m.clickedHead(at.X-sc.table.X, sc.table.W)
	case sc.table.Contains(at.X, at.Y):
		if row := at.Y - sc.table.Y - 1; row < min(m.table.rows(sc.table.H), len(m.table.order)-m.table.offset) {
			m.selectRow(m.table.offset + row)
		}
	case sc.pane.Contains(at.X, at.Y) && at.Y == sc.pane.Y:
		m.pane.turn(1)
	}
}

func (m *Model) clickedHead(x, width int) {
	at := term.LeadIn
	for _, c := range fitColumns(width, m.table.widths, m.table.wide) {
		if x >= at && x < at+c.width {
			m.sortByColumn(c.id)
			return
		}
		at += c.width + term.ColumnGap
	}
}

// sortByColumn sorts by a column, and the other way round at the second time.
func (m *Model) sortByColumn(id columnID) {
	for k := range sortKeyCount {
		if k == byState || k.column() != id {
			continue
		}
		m.setSort(sorting{key: k, reverse: m.table.sort.key == k && !m.table.sort.reverse})
		return
	}
}

// wheelStep is how many lines a turn of the mouse's wheel moves.
const wheelStep = 3

// wheeled scrolls what is under the pointer.
func (m *Model) wheeled(at tea.Mouse) {
	step := wheelStep
	switch {
	case at.Button == tea.MouseWheelUp:
		step = -wheelStep
	case at.Button != tea.MouseWheelDown:
		return
	}
	if tooSmall(m.width, m.height) {
		return
	}
	sc := m.where()
	switch {
	case m.mode == modeHelp:
		m.help.scroll(step)
	case m.mode == modeDialog:
		m.toDialog(scene.Wheeled{Step: step})
	case m.mode == modeResults:
		m.toLog(scene.Wheeled{Step: step})
	case m.mode != modeBoard:
	case m.view == viewEvents:
		m.events.moveTo(m.events.index + step)
	case m.view == viewSessions:
		m.toSessions(scene.Wheeled{Step: step})
	case sc.pane.Contains(at.X, at.Y):
		m.scrollPane(step)
	default:
		m.selectRow(m.table.index + step)
	}
}
