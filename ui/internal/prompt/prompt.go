// Package prompt is the line in which the user types a filter or a command.
package prompt

import (
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"electop/election/sanitize"
	"electop/ui/internal/term"
)

// Kind is the purpose of the line.
type Kind uint8

// The kinds.
const (
	Filter Kind = iota
	Command
)

// Completer returns the texts that can replace the end of a text, and the position where this end begins.
type Completer func(text string) (start int, options []string)

// Model is the line being typed.
type Model struct {
	Kind Kind
	// Cursor is the ID that was selected before the filter moved the cursor.
	Cursor string
	input  term.Input
	// earlier are the lines typed before, oldest first. at is the visible one; draft is the line
	// being typed while an earlier one is visible.
	earlier []string
	at      int
	draft   string
	cycle   cycle
}

// cycle are the options that tab shows one after the other, nil before the first tab.
type cycle struct {
	options []string
	at      int
	// start and end are the replaced part of the line, in runes.
	start, end int
}

// New returns a line with a text. earlier are the lines typed before, oldest first.
func New(kind Kind, text, cursor string, earlier []string) Model {
	m := Model{Kind: kind, Cursor: cursor, earlier: earlier, at: len(earlier)}
	m.input.Set(text)
	return m
}

// Text is the line as typed.
func (m Model) Text() string { return m.input.String() }

// Paste inserts a text.
func (m Model) Paste(text string) Model {
	m.own()
	m.input.Insert(text)
	return m
}

// Press edits the line.
func (m Model) Press(msg tea.KeyPressMsg, complete Completer) Model {
	switch msg.String() {
	case "tab":
		m.complete(1, complete)
	case "shift+tab":
		m.complete(-1, complete)
	case "up":
		m.recall(-1)
	case "down":
		m.recall(1)
	default:
		m.own()
		m.input.Press(msg)
	}
	return m
}

// own prepares an edit: the previous model keeps its text.
func (m *Model) own() {
	m.input.Text = slices.Clone(m.input.Text)
	m.cycle = cycle{}
}

// recall shows an earlier or later line.
func (m *Model) recall(step int) {
	to := min(len(m.earlier), max(0, m.at+step))
	if to == m.at {
		return
	}
	if m.at == len(m.earlier) {
		m.draft = m.Text()
	}
	m.at, m.cycle = to, cycle{}
	if to == len(m.earlier) {
		m.input.Set(m.draft)
		return
	}
	m.input.Set(m.earlier[to])
}

// complete inserts the first option, then the next one. A single option is complete: the next
// tab continues after it.
func (m *Model) complete(step int, complete Completer) {
	if len(m.cycle.options) > 1 {
		m.show((m.cycle.at + step + len(m.cycle.options)) % len(m.cycle.options))
		return
	}
	m.offer(complete)
	if len(m.cycle.options) > 0 {
		m.show(0)
	}
}

// offer finds the options for the text before the cursor.
func (m *Model) offer(complete Completer) {
	start, options := complete(m.before())
	m.cycle = cycle{options: options, start: utf8.RuneCountInString(m.before()[:start]), end: m.input.At}
}

// Pick inserts the option that the line shows with this index.
func (m Model) Pick(option int, complete Completer) Model {
	if len(m.cycle.options) < 2 {
		m.offer(complete)
	}
	if option < len(m.cycle.options) {
		m.show(option)
	}
	return m
}

// show replaces the part that is being completed.
func (m *Model) show(option int) {
	c := &m.cycle
	text := []rune(c.options[option])
	m.input.Text = slices.Concat(m.input.Text[:c.start], text, m.input.Text[c.end:])
	if len(m.input.Text) > term.InputLimit {
		m.input.Text = m.input.Text[:term.InputLimit]
	}
	c.at, c.end = option, min(c.start+len(text), len(m.input.Text))
	m.input.At = c.end
}

// before is the text before the cursor.
func (m *Model) before() string { return string(m.input.Text[:m.input.At]) }

// limit is the number of earlier lines that are kept.
const limit = 50

// Remember appends a line to the earlier ones, without repeating it.
func Remember(earlier []string, line string) []string {
	if strings.TrimSpace(line) == "" {
		return earlier
	}
	kept := slices.DeleteFunc(slices.Clone(earlier), func(s string) bool { return s == line })
	kept = append(kept, line)
	return kept[max(0, len(kept)-limit):]
}

// visible returns the end of the text before the cursor that fits, and the text after it.
// Both are sanitized: the user may paste control characters.
func (m Model) visible(width int) (before, after string) {
	before = sanitize.Text(m.before())
	after = sanitize.Text(string(m.input.Text[m.input.At:]))
	for term.Width(before) > width-12 {
		_, size := utf8.DecodeRuneInString(before)
		before = before[size:]
	}
	return before, after
}

func (m Model) lead() string {
	if m.Kind == Command {
		return " : "
	}
	return " / "
}

// CursorX is the column of the cursor.
func (m Model) CursorX(width int) int {
	before, _ := m.visible(width)
	return min(width-1, term.Width(m.lead())+term.Width(before))
}
