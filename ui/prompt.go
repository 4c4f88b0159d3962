package ui

import (
	tea "charm.land/bubbletea/v2"

	"electop/election/query"
	"electop/ui/internal/prompt"
	"electop/ui/internal/scene"
)

// openPrompt begins a line. A filter begins with the current one of the view.
func openPrompt(m *Model, kind prompt.Kind) {
	of, text := m.list(), ""
	if kind == prompt.Filter {
		text = of.Filter().Text
	}
	m.focus.mode, m.focus.prompt = modePrompt, prompt.New(kind, text, of.Cursor(), m.focus.typed[kind])
}

// promptKey handles the keys that end the line and those that move the cursor of the list; all
// others edit the line.
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
		return m.edited(m.focus.prompt.Press(msg, m.completer()))
	}
	return nil
}

// edited changes the line. A filter applies while it is typed.
func (m *Model) edited(to prompt.Model) tea.Cmd {
	before := m.focus.prompt.Text()
	m.focus.prompt = to
	if text := to.Text(); to.Kind == prompt.Filter && text != before {
		return m.toView(scene.Filtered{Text: text})
	}
	return nil
}

// completer completes the open line.
func (m *Model) completer() prompt.Completer {
	if m.focus.prompt.Kind == prompt.Filter {
		return prompt.CompleteFilter(m.scene, m.scope())
	}
	return prompt.CompleteCommand(prompt.NamesOn(m.scene, m.scope(), m.look.place.Patterns))
}

// scope is what a filter of the view applies to.
func (m *Model) scope() query.Scope {
	return [...]query.Scope{viewElections: query.Elections, viewEvents: query.Events, viewSessions: query.Sessions}[m.focus.view]
}

// drawPrompt draws the line that is being typed.
func drawPrompt(m *Model, width int) string {
	b := prompt.Beside{Scope: m.scope()}
	if m.focus.prompt.Kind == prompt.Filter {
		b.Err, b.Result = m.list().Filter().Err, m.list().Result(m.scene)
	}
	return m.focus.prompt.Draw(m.look.painter, width, m.completer(), b)
}
