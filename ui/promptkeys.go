package ui

import (
	tea "charm.land/bubbletea/v2"

	"electop/ui/prompt"
	"electop/ui/scene"
)

// openPrompt opens a prompt. A filter prompt starts with the current filter of the view.
func (m *Model) openPrompt(kind prompt.Kind) tea.Cmd {
	of, text := m.list(), ""
	if kind == prompt.Filter {
		text = of.Filter().Text
	}
	m.prompt = &prompt.Model{Kind: kind, Cursor: of.Cursor(), Complete: m.complete, Scope: of.Fields(), Commands: m.keys.Commands}
	m.prompt.Paste(text)
	return nil
}

// filtering reports whether the user types a filter.
func (m *Model) filtering() bool { return m.prompt != nil && m.prompt.Kind == prompt.Filter }

// promptKey handles the keys that close the prompt and those that move the cursor of the list. Other keys edit the
// line.
func (m *Model) promptKey(msg tea.KeyPressMsg) tea.Cmd {
	p, filters := m.prompt, m.filtering()
	switch name := msg.String(); {
	case name == "enter":
		m.prompt = nil
		if !filters {
			return m.command(p.String())
		}
	case name == "esc":
		m.prompt = nil
		if filters {
			return tea.Batch(m.toView(scene.Filtered{}), m.toView(scene.GoTo{ID: p.Cursor}))
		}
	case filters && (name == "ctrl+p" || name == "ctrl+n"):
		cmd := m.toView(scene.Wheeled{Step: map[string]int{"ctrl+p": -1, "ctrl+n": 1}[name]})
		p.Cursor = m.list().Cursor()
		return cmd
	case name == "backspace" && p.String() == "":
		m.prompt = nil
	default:
		return m.edit(func() { p.Press(msg) })
	}
	return nil
}

// edit changes the typed line. It applies a filter after each change to its text.
func (m *Model) edit(change func()) tea.Cmd {
	before := m.prompt.String()
	change()
	if text := m.prompt.String(); m.filtering() && text != before {
		return m.toView(scene.Filtered{Text: text})
	}
	return nil
}
