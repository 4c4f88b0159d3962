package ui

import (
	"electop/ui/internal/term"

	tea "charm.land/bubbletea/v2"
)

// resized takes the size of the window. What lies over the board ends when it
// cannot be drawn any more: a key must never answer what is not visible.
func (m *Model) resized(width, height int) {
	visible := !tooSmall(m.width, m.height)
	m.width, m.height = width, height
	switch small := tooSmall(width, height); {
	case visible && small:
		m.closeUnseen()
	case !visible && !small && m.note.unseen:
		m.say(m.note.role, m.note.text)
	}
}

// closeUnseen cancels what waits for an answer.
func (m *Model) closeUnseen() {
	switch m.mode {
	case modeDialog:
		m.closeDialog()
	case modePrompt, modeCopy:
		m.mode = modeBoard
		if m.prompt.kind == promptFilter { // it is in effect, and its banner says so
			return
		}
	default:
		return
	}
	m.say(term.Delay, "Cancelled: the window became too small.")
}

// fitOverlay lays out what lies over the board, so that keys are judged by what
// is drawn.
func (m *Model) fitOverlay() (cmd tea.Cmd) {
	if tooSmall(m.width, m.height) {
		return nil
	}
	if m.dialog != nil {
		cmd = m.dialog.fit(m.sym, m.now, m.width, m.height)
	}
	if m.results != nil {
		m.results.fit(m.sym, m.live, m.now, m.width, m.height)
	}
	return cmd
}
