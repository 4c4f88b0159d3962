package ui

import (
	tea "charm.land/bubbletea/v2"

	"electop/ui/internal/term"
)

// quit ends the program, unless writes are under way: then the second request
// within noteTime does, for their outcomes are lost with it.
func (m *Model) quit() tea.Cmd {
	now := m.opts.Now()
	text := m.log.Running()
	if text == "" || now.Before(m.quitUntil) {
		return tea.Quit
	}
	m.quitUntil = now.Add(noteTime)
	m.say(term.Delay, text)
	return nil
}
