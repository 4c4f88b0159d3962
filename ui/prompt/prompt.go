// Package prompt implements the line in which the user types a filter or a command.
package prompt

import (
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"electop/election/query"
	"electop/election/sanitize"
	"electop/ui/keys"
	"electop/ui/kit"
)

// Kind is the purpose of the line.
type Kind uint8

// The kinds.
const (
	Filter Kind = iota
	Command
)

// Model is the line that the user edits.
type Model struct {
	Kind Kind
	// Cursor is the ID of the row that was selected before the filter moved the cursor.
	Cursor string
	// Complete returns the options that can replace the end of a text. start is the position at which this end begins.
	Complete func(text string) (start int, options []string)
	// Scope is the kind of rows to which the filter applies. Commands are the commands with their arguments.
	Scope    query.Scope
	Commands []keys.Command

	kit.Input
	cycle cycle
}

// Paste inserts a text.
func (m *Model) Paste(text string) {
	m.cycle = cycle{}
	m.Insert(text)
}

// Press edits the line.
func (m *Model) Press(msg tea.KeyPressMsg) {
	switch msg.String() {
	case "tab":
		m.complete(1)
	case "shift+tab":
		m.complete(-1)
	default:
		m.cycle = cycle{}
		m.Input.Press(msg)
	}
}

// before returns the text before the cursor.
func (m *Model) before() string { return string(m.Text[:m.At]) }

// visible returns the end of the text before the cursor that fits into the line, and the text after the cursor. Both
// parts are sanitized, because the user may paste control characters.
func (m *Model) visible(width int) (before, after string) {
	before = sanitize.Text(m.before())
	after = sanitize.Text(string(m.Text[m.At:]))
	for kit.Width(before) > width-12 {
		_, size := utf8.DecodeRuneInString(before)
		before = before[size:]
	}
	return before, after
}

func (m *Model) lead() string {
	if m.Kind == Command {
		return " : "
	}
	return " / "
}

// CursorX returns the column of the cursor.
func (m *Model) CursorX(width int) int {
	before, _ := m.visible(width)
	return min(width-1, kit.Width(m.lead())+kit.Width(before))
}
