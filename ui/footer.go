package ui

import (
	"strconv"
	"time"

	"charm.land/bubbles/v2/key"

	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// note is a short message that stays in the footer for a while.
type note struct {
	role  term.Role
	text  string
	until time.Time
	// unseen says that the window was too small to show it.
	unseen bool
}

// How long notes stay: errors long enough to be read twice.
const (
	noteTime  = 6 * time.Second
	errorTime = 20 * time.Second
)

// say shows a note. It does not cover an error that was not yet read.
func (m *Model) say(r term.Role, text string) {
	now := m.opts.Now()
	if m.note.role == term.Bad && r != term.Bad && now.Before(m.note.until) {
		text = m.note.text + "  " + m.sym.Dot + "  " + text
		r = term.Bad
	}
	stay := noteTime
	if r == term.Bad {
		stay = errorTime
	}
	m.note = note{role: r, text: text, until: now.Add(stay), unseen: tooSmall(m.width, m.height)}
}

// footer draws the last line: what was just done, and the keys that matter now.
func (m *Model) footer(p *term.Painter, s *scene.Scene, width int) string {
	l := term.NewLine(p, width)
	l.Gap(1)
	if m.mode == modeCopy {
		l.Texts(copyMenu()...)
		return l.Done()
	}
	switch text, r := m.noteText(s); {
	case text != "":
		l.Text(r, text)
		l.Gap(3)
	default:
		if marks := m.markSpans(); len(marks) > 0 {
			l.Texts(marks...)
			l.Gap(3)
		}
	}
	writeKeys(l, m.footerKeys())
	return l.Done()
}

// countMarks counts the marks of the view that its filter shows and hides.
func (m *Model) countMarks() (visible, hidden int) {
	switch m.view {
	case viewSessions:
		return m.sessions.Marks(nil)
	case viewElections:
		shown, out := m.table.marked(m.shown, m.asOf())
		return len(shown), len(out)
	default:
		return 0, 0
	}
}

// markSpans count the marks of the view, those that its filter hides apart.
func (m *Model) markSpans() []term.Span {
	visible, hidden := m.countMarks()
	noun := "election"
	if m.view == viewSessions {
		noun = "session"
	}
	var spans []term.Span
	if visible > 0 {
		spans = append(spans, term.Span{term.Accent, m.sym.Mark + term.Plural(visible, noun) + " marked"})
	}
	if hidden > 0 {
		if visible > 0 {
			spans = append(spans, term.Span{term.Text, "  "})
		}
		spans = append(spans, term.Span{term.Delay, m.sym.Mark + hiddenMarks(hidden)})
	}
	return spans
}

func hiddenMarks(n int) string { return strconv.Itoa(n) + " marked, hidden" }

func (m *Model) noteText(s *scene.Scene) (string, term.Role) {
	if s.Now.Before(m.note.until) {
		return m.note.text, m.note.role
	}
	if m.mode == modeResults { // which says it in full
		return "", term.Text
	}
	return m.log.Pending(s), term.Accent
}

func (m *Model) footerKeys() []key.Binding {
	switch {
	case m.mode == modePrompt:
		return m.keys.Prompt(m.prompt.kind == promptFilter)
	case m.mode == modeDialog:
		return m.dialog.Keys(m.keys)
	case m.mode == modeHelp:
		return m.keys.HelpPage()
	case m.mode == modeResults:
		return m.log.Keys(m.keys)
	case m.view == viewEvents:
		return m.keys.EventList()
	case m.view == viewSessions:
		return m.sessions.Keys(m.greyed(m.keys))
	case !m.hasBoard():
		return m.keys.Empty()
	case m.pane.zoom:
		return m.greyed(m.keys).Zoom()
	}
	return m.greyed(m.keys).Board()
}

// writeKeys writes as many keys as there is room for, whole ones only. The last
// two (help and quit) are always among them.
func writeKeys(l *term.Line, bindings []key.Binding) {
	first, last := bindings[:len(bindings)-2], bindings[len(bindings)-2:]
	kept := 0
	for _, b := range last {
		kept += keyWidth(b)
	}
	for _, b := range first {
		if l.Room()-kept < keyWidth(b) {
			break
		}
		writeKey(l, b)
	}
	for _, b := range last {
		writeKey(l, b)
	}
}

func keyWidth(b key.Binding) int {
	h := b.Help()
	n := term.Width(h.Key) + 1 + term.Width(h.Desc) + term.ColumnGap
	if !b.Enabled() {
		n += 2
	}
	return n
}

// writeKey writes a key with what it does. One that the token does not allow is
// grey and in brackets: pressed, it says what is missing.
func writeKey(l *term.Line, b key.Binding) {
	h := b.Help()
	if !b.Enabled() {
		l.Text(term.Faint, "("+h.Key+") "+h.Desc)
		l.Gap(term.ColumnGap)
		return
	}
	l.Texts(term.Span{term.Key, h.Key}, term.Span{term.Text, " "}, term.Span{term.Quiet, h.Desc})
	l.Gap(term.ColumnGap)
}
