package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
	"electop/ui/shell"
)

// copyText copies text with the terminal sequence OSC 52. It rejects text with control characters, because a shell
// could execute them when the user pastes the text.
func (m *Model) copyText(what, text string) tea.Cmd {
	plain := text
	if what == "value" {
		plain = strings.NewReplacer("\n", "", "\t", "").Replace(text)
	}
	switch {
	case text == "":
		return m.refuse("There is no " + what + " to copy.")
	case sanitize.Text(plain) != plain:
		return m.refuse("The " + what + " contains control or invisible characters: it was not copied.")
	}
	m.say(kit.Led, "Copied the "+what+": "+scene.Clean(text))
	return tea.SetClipboard(text)
}

// openCopyMenu opens the menu of what can be copied from the selected election or session.
func (m *Model) openCopyMenu(string) tea.Cmd {
	var items []shell.Item
	of := ""
	switch e, session := m.scene.Selected, m.selectedSession(); {
	case session != nil:
		items, of = shell.OfSession(session), "session "+election.ShortID(session.ID)
	case m.view == viewSessions || e == nil:
		return m.refuse("Nothing is selected: there is nothing to copy.")
	default:
		items, of = m.opts.Backend.Cluster(e.Datacenter).OfElection(e), scene.Short(e.Name)
	}
	rows := make([]option, len(items))
	for i, item := range items {
		rows[i] = option{item.Key, item.What, ""}
	}
	return m.menu("Copy from "+of, "Copy", rows, func(i int) tea.Cmd {
		if items[i].What == "value" && m.past != nil {
			return m.refuse("The history does not store values.")
		}
		return m.copyText(items[i].What, items[i].Text)
	})
}
