package ui

import (
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"electop/election/sanitize"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// promptKind is what the line under the header is typed for.
type promptKind uint8

const (
	promptFilter promptKind = iota
	promptCommand
)

// prompt is the line that is being typed.
type prompt struct {
	kind  promptKind
	input term.Input
	// cursor is the election or session that the cursor was on before the filter
	// moved it.
	cursor string
}

func (m *Model) openPrompt(kind promptKind) {
	m.mode = modePrompt
	m.prompt = prompt{kind: kind, cursor: m.table.cursor}
	if m.view == viewSessions {
		m.prompt.cursor = m.sessions.Cursor()
	}
	if kind == promptFilter {
		m.prompt.input.Set(m.currentFilter().Text)
	}
}

// promptKey handles the keys that end the line and gives it all others.
func (m *Model) promptKey(msg tea.KeyPressMsg) tea.Cmd {
	filters := m.prompt.kind == promptFilter
	switch name := msg.String(); {
	case name == "enter":
		m.mode = modeBoard
		if !filters {
			return m.command(m.prompt.input.String())
		}
	case name == "esc", name == "ctrl+c":
		m.mode = modeBoard
		if filters {
			m.setFilter("")
			m.returnCursor()
		}
	case filters && name == "up":
		m.walk(-1)
	case filters && name == "down":
		m.walk(1)
	case name == "backspace" && m.prompt.input.String() == "":
		m.mode = modeBoard
	default:
		m.edit(func(in *term.Input) { in.Press(msg) })
	}
	return nil
}

// walk moves the cursor while the filter is typed.
func (m *Model) walk(step int) {
	switch m.view {
	case viewEvents:
		m.events.moveTo(m.events.index + step)
	case viewSessions:
		m.toSessions(scene.Moved{Step: step})
		m.prompt.cursor = m.sessions.Cursor()
	default:
		m.selectRow(m.table.index + step)
		m.prompt.cursor = m.table.cursor
	}
}

// returnCursor puts the cursor back to the election it was on before the filter
// moved it.
func (m *Model) returnCursor() {
	switch {
	case m.view == viewSessions:
		m.toSessions(scene.GoTo{ID: m.prompt.cursor})
	case m.shown.Find(m.prompt.cursor) != nil:
		m.table.cursor = m.prompt.cursor
		m.table.relocate()
	}
}

// edit changes the line. A filter works while it is typed.
func (m *Model) edit(change func(*term.Input)) {
	before := m.prompt.input.String()
	change(&m.prompt.input)
	if text := m.prompt.input.String(); m.prompt.kind == promptFilter && text != before {
		m.setFilter(text)
	}
}

func (p *prompt) lead() string {
	if p.kind == promptCommand {
		return " : "
	}
	return " / "
}

// visible is the typed text before the cursor, as much of its end as fits, and
// the text after it. What was pasted may hold anything: it is sanitised.
func (p *prompt) visible(width int) (before, after string) {
	before = sanitize.Text(string(p.input.Text[:p.input.At]))
	after = sanitize.Text(string(p.input.Text[p.input.At:]))
	for term.Width(before) > width-12 {
		_, size := utf8.DecodeRuneInString(before)
		before = before[size:]
	}
	return before, after
}

// cursorX is the column of the cursor.
func (p *prompt) cursorX(width int) int {
	before, _ := p.visible(width)
	return min(width-1, term.Width(p.lead())+term.Width(before))
}

// draw draws the line with what it does at its right.
func (p *prompt) draw(pt *term.Painter, width int, view view, result string) string {
	l := term.NewLine(pt, width)
	before, after := p.visible(width)
	l.Texts(term.Span{term.Accent, p.lead()}, term.Span{term.Strong, before + after})
	hint := commandNames
	if p.kind == promptFilter {
		hint = "text  !text  state:vacant  node:NAME   " + result
		if view == viewSessions {
			hint = "text  !text  state:orphan  node:NAME   " + result
		}
		if l.Room() < term.Width(hint)+3 {
			hint = result
		}
	}
	if n := term.Width(hint); l.Room() > n+3 {
		l.To(width - n - 1)
		l.Text(term.Quiet, hint)
	}
	return l.Done()
}
