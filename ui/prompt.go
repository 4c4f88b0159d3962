package ui

import (
	tea "charm.land/bubbletea/v2"

	"electop/election/query"
	"electop/ui/prompt"
	"electop/ui/scene"
)

// openPrompt opens a prompt. A filter prompt starts with the current filter of the view.
func openPrompt(m *Model, kind prompt.Kind) tea.Cmd {
	of, text := m.list(), ""
	if kind == prompt.Filter {
		text = of.Filter().Text
	}
	m.focus.mode, m.focus.prompt = modePrompt, prompt.New(kind, text, of.Cursor(), m.focus.typed[kind])
	return nil
}

// promptKey handles the keys that close the prompt and those that move the cursor of the list. Other keys edit the
// line.
func (m *Model) promptKey(msg tea.KeyPressMsg) tea.Cmd {
	filters := m.focus.prompt.Kind == prompt.Filter
	switch name := msg.String(); {
	case name == "enter":
		m.focus.mode = modeBoard
		m.focus.typed[m.focus.prompt.Kind] = prompt.Remember(m.focus.typed[m.focus.prompt.Kind], m.focus.prompt.Text())
		if !filters {
			return m.command(m.focus.prompt.Text())
		}
	case name == "esc", name == "ctrl+c":
		m.focus.mode = modeBoard
		if filters {
			return tea.Batch(m.toView(scene.Filtered{}), m.toView(scene.GoTo{ID: m.focus.prompt.Cursor}))
		}
	case filters && (name == "ctrl+p" || name == "ctrl+n"):
		cmd := m.toView(scene.Moved{Step: map[string]int{"ctrl+p": -1, "ctrl+n": 1}[name]})
		m.focus.prompt.Cursor = m.list().Cursor()
		return cmd
	case name == "backspace" && m.focus.prompt.Text() == "":
		m.focus.mode = modeBoard
	default:
		return m.edited(m.focus.prompt.Press(msg, completer(m)))
	}
	return nil
}

// edited replaces the edited line. It applies a filter after each change to its text.
func (m *Model) edited(to prompt.Model) tea.Cmd {
	before := m.focus.prompt.Text()
	m.focus.prompt = to
	if text := to.Text(); to.Kind == prompt.Filter && text != before {
		return m.toView(scene.Filtered{Text: text})
	}
	return nil
}

// scope returns the type of items that the view filters.
func scope(m *Model) query.Scope {
	return [...]query.Scope{viewElections: query.Elections, viewEvents: query.Events, viewSessions: query.Sessions}[m.focus.view]
}

// drawPrompt draws the line that is being typed.
func drawPrompt(m *Model, width int) string {
	b := prompt.Beside{Scope: scope(m), Commands: m.keys.Commands()}
	if m.focus.prompt.Kind == prompt.Filter {
		b.Result = m.list().Result(m.scene)
	}
	return m.focus.prompt.Draw(m.look.painter, width, completer(m), b)
}
