package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"electop/election/sanitize"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// openCopy asks what of the selected election should be copied.
func (m *Model) openCopy() {
	if m.table.Selected() == nil {
		m.say(term.Delay, "There is no election to copy from.")
		return
	}
	m.mode = modeCopy
}

func copyMenu() []term.Span {
	item := func(k, what string) []term.Span { return []term.Span{{term.Key, k}, {term.Quiet, " " + what + "   "}} }
	menu := []term.Span{{term.Accent, "Copy:   "}}
	for _, i := range [][2]string{
		{"k", "key"}, {"n", "name"}, {"l", "leader"}, {"s", "session"}, {"o", "node"}, {"v", "value"}, {"esc", "nothing"},
	} {
		menu = append(menu, item(i[0], i[1])...)
	}
	return menu
}

// copyKey copies what was asked for through the terminal (OSC 52).
func (m *Model) copyKey(msg tea.KeyPressMsg) tea.Cmd {
	m.mode = modeBoard
	e := m.table.Selected()
	if e == nil {
		return nil
	}
	what, text := "", ""
	switch msg.String() {
	case "k":
		what, text = "key", e.Key()
	case "n":
		what, text = "name", e.Name
	case "l":
		what, text = "leader", e.Leader
	case "s":
		what, text = "session", e.Pair.Session
	case "o":
		what, text = "node", scene.NodeOf(e)
	case "v":
		what, text = "value", string(e.Pair.Value)
	default:
		return nil
	}
	return m.copyText(what, text)
}

// copyText copies a text unless it is dangerous to paste: a control character
// in a key may be a command to the shell it is pasted into.
func (m *Model) copyText(what, text string) tea.Cmd {
	plain := text
	if what == "value" {
		plain = strings.NewReplacer("\n", "", "\t", "").Replace(text)
	}
	switch {
	case text == "":
		m.say(term.Delay, "There is no "+what+" to copy.")
		return nil
	case sanitize.Text(plain) != plain:
		m.say(term.Delay, "The "+what+" holds control or invisible characters: it was not copied.")
		return nil
	}
	m.say(term.Led, "Copied the "+what+": "+scene.OneLine(text, 60))
	return tea.SetClipboard(text)
}
