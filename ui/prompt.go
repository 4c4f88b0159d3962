package ui

import (
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"electop/election/sanitize"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// promptKind distinguishes a filter from a command.
type promptKind uint8

const (
	promptFilter promptKind = iota
	promptCommand
)

// prompt is the line being typed.
type prompt struct {
	kind  promptKind
	input term.Input
	// cursor is the ID that was selected before the filter moved the cursor.
	cursor string
}

// newPrompt opens a prompt. The prompt of a filter contains the current filter of the view.
func newPrompt(kind promptKind, of list) prompt {
	p := prompt{kind: kind, cursor: of.Cursor()}
	if kind == promptFilter {
		p.input.Set(of.Filter().Text)
	}
	return p
}

// promptKey handles the keys that close the prompt. Other keys edit the line.
func (m *Model) promptKey(msg tea.KeyPressMsg) tea.Cmd {
	filters := m.focus.prompt.kind == promptFilter
	switch name := msg.String(); {
	case name == "enter":
		m.focus.mode = modeBoard
		if !filters {
			return m.command(m.focus.prompt.input.String())
		}
	case name == "esc", name == "ctrl+c":
		m.focus.mode = modeBoard
		if filters {
			return tea.Batch(m.toView(scene.Filtered{}), m.toView(scene.GoTo{ID: m.focus.prompt.cursor}))
		}
	case filters && (name == "up" || name == "down"):
		cmd := m.toView(scene.Moved{Step: map[string]int{"up": -1, "down": 1}[name]})
		m.focus.prompt.cursor = m.list().Cursor()
		return cmd
	case name == "backspace" && m.focus.prompt.input.String() == "":
		m.focus.mode = modeBoard
	default:
		return m.edit(func(in *term.Input) { in.Press(msg) })
	}
	return nil
}

// edit changes the line. A filter is applied at each key press.
func (m *Model) edit(change func(*term.Input)) tea.Cmd {
	in := m.focus.prompt.input
	in.Text = slices.Clone(in.Text)
	change(&in)
	before := m.focus.prompt.input.String()
	m.focus.prompt.input = in
	if text := in.String(); m.focus.prompt.kind == promptFilter && text != before {
		return m.toView(scene.Filtered{Text: text})
	}
	return nil
}

func (p *prompt) lead() string {
	if p.kind == promptCommand {
		return " : "
	}
	return " / "
}

// visible splits the line at the cursor. It cuts the beginning of a long line to the given width. Both parts are
// sanitized because the user may paste control characters.
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

// draw draws the line, with the number of matches at the right.
func (p *prompt) draw(pt *term.Painter, width int, view view, result string) string {
	l := term.NewLine(pt, width)
	before, after := p.visible(width)
	l.Texts(term.Span{term.Accent, p.lead()}, term.Span{term.Strong, before + after})
	hint := wholeCommands(l.Room() - 4)
	if p.kind == promptFilter {
		hint = "text  !text  state:vacant  node:NAME   " + result
		if view == viewSessions {
			hint = "text  !text  state:orphan  node:NAME   " + result
		}
		if l.Room() < term.Width(hint)+3 {
			hint = result
		}
	}
	if p.kind == promptCommand { // as many names as fit
		for hint != "" && l.Room() <= term.Width(hint)+3 {
			hint = hint[:max(0, strings.LastIndex(hint, "  "))]
		}
	}
	if n := term.Width(hint); l.Room() > n+3 {
		l.To(width - n - 1)
		l.Text(term.Quiet, hint)
	}
	return l.Done()
}

// wholeCommands returns the commands that fit, without a cut name.
func wholeCommands(room int) string {
	names := commandNames
	for len(names) > max(0, room) {
		names = names[:max(0, strings.LastIndex(names, "  :"))]
	}
	return names
}
