package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"electop/ui/kit"
	"electop/ui/scene"
)

// switchContext replaces this dashboard with the dashboard of another context. Without a name, it lists the contexts.
func (m *Model) switchContext(name string) tea.Cmd {
	switch {
	case m.opts.SwitchContext == nil || len(m.Contexts) == 0:
		return m.refuse("The config file defines no contexts.")
	case name == "":
		var rows []option
		for _, name := range m.Contexts {
			about := ""
			if name == m.Context {
				about = "current"
			}
			rows = append(rows, option{"", scene.Short(name), about})
		}
		return m.menu("Connect to another cluster", "Connect", rows, func(i int) tea.Cmd { return m.switchContext(m.Contexts[i]) })
	case !slices.Contains(m.Contexts, name):
		return m.refuse("Unknown context " + scene.Clean(name) + ". The contexts are " + scene.Clean(strings.Join(m.Contexts, ", ")) + ".")
	case name == m.Context:
		return m.say(kit.Quiet, "The current context is "+scene.Short(name)+".")
	}
	cmd := m.quit("")
	if cmd != nil { // nil means that the user must confirm quitting, because an action is in progress
		m.opts.SwitchContext(name)
	}
	return cmd
}
