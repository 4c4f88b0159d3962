package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/ui/kit"
)

// note is a message that the footer shows until a deadline.
type note struct {
	role  kit.Role
	text  string
	until time.Time
	// unseen is true if the window was too small to show the note.
	unseen bool
	// quitUntil is the deadline for a second request to quit.
	quitUntil time.Time
}

// Display times of notes and of errors.
const (
	noteTime  = 6 * time.Second
	errorTime = 20 * time.Second
)

// say shows a note. While the screen shows an error, say appends other notes to the error.
func (m *Model) say(r kit.Role, text string) tea.Cmd {
	n, stay := &m.note, noteTime
	if n.role == kit.Bad && r != kit.Bad && m.now.Before(n.until) {
		text, r = n.text+"  "+m.Sym.Dot+"  "+text, kit.Bad
	}
	if r == kit.Bad {
		stay = errorTime
	}
	n.role, n.text, n.until, n.unseen = r, text, m.now.Add(stay), m.tooSmall
	return nil
}

// unsay removes the note, unless it shows an error.
func (m *Model) unsay() {
	if m.note.role != kit.Bad {
		m.note.text, m.note.until = "", time.Time{}
	}
}

// refuse says why a request is not carried out.
func (m *Model) refuse(text string) tea.Cmd { return m.say(kit.Delay, text) }
