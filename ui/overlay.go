package ui

import (
	tea "charm.land/bubbletea/v2"

	"electop/ui/internal/scene"
	"electop/ui/internal/term"
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
		m.dialog.End()
		m.dialog, m.mode = nil, modeBoard
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

// resizeComponents gives the components their parts of the screen. What lies over the
// board is laid out by that, so that keys are judged by what is drawn.
func (m *Model) resizeComponents() tea.Cmd {
	if tooSmall(m.width, m.height) {
		return nil
	}
	if m.view == viewSessions {
		m.toSessions(scene.Resized{Rect: m.where().body})
	}
	window := scene.Resized{Rect: term.Rect{W: m.width, H: m.height}}
	m.toLog(window)
	return m.toDialog(window)
}
