package ui

import (
	tea "charm.land/bubbletea/v2"

	"electop/ui/internal/board"
	"electop/ui/internal/term"
)

// clicked selects what was clicked on: a row, a column to sort by, a page.
func (m *Model) clicked(at tea.Mouse) {
	if m.mode != modeBoard || at.Button != tea.MouseLeft || tooSmall(m.width, m.height) {
		return
	}
	sc := m.where()
	switch {
	case m.view == viewEvents && sc.body.Contains(at.X, at.Y) && at.Y > sc.body.Y:
		m.events.MoveTo(m.events.Offset + at.Y - sc.body.Y - 1)
	case m.view == viewSessions:
		head := sc.body.H - m.visibleSessions()
		if row := at.Y - sc.body.Y - head; !m.sessions.open && row >= 0 && sc.body.Contains(at.X, at.Y) {
			m.sessions.moveTo(m.sessions.offset + row)
		}
	case sc.table.Contains(at.X, at.Y) && at.Y == sc.table.Y:
		m.clickedHead(at.X-sc.table.X, sc.table.W)
	case sc.table.Contains(at.X, at.Y):
		if row := at.Y - sc.table.Y - 1; row < min(m.table.Rows(sc.table.H), len(m.table.Order)-m.table.Offset) {
			m.selectRow(m.table.Offset + row)
		}
	case sc.pane.Contains(at.X, at.Y) && at.Y == sc.pane.Y:
		m.pane.Turn(1)
	}
}

func (m *Model) clickedHead(x, width int) {
	at := term.LeadIn
	for _, c := range board.FitColumns(width, m.table.Widths, m.table.Wide) {
		if x >= at && x < at+c.Width {
			m.sortByColumn(c.Id)
			return
		}
		at += c.Width + term.ColumnGap
	}
}

// sortByColumn sorts by a column, and the other way round at the second time.
func (m *Model) sortByColumn(id board.ColumnID) {
	for k := range board.SortKeyCount {
		if k == board.ByState || k.Column() != id {
			continue
		}
		m.setSort(board.Sorting{Key: k, Reverse: m.table.Sort.Key == k && !m.table.Sort.Reverse})
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
		m.dialog.scroll(step)
	case m.mode == modeResults:
		m.results.text.Scroll(step)
	case m.mode != modeBoard:
	case m.view == viewEvents:
		m.events.MoveTo(m.events.Index + step)
	case m.view == viewSessions && m.sessions.open:
		m.sessions.top = max(0, m.sessions.top+step)
	case m.view == viewSessions:
		m.sessions.moveTo(m.sessions.index + step)
	case sc.pane.Contains(at.X, at.Y):
		m.scrollPane(step)
	default:
		m.selectRow(m.table.Index + step)
	}
}
