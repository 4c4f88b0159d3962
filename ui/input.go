package ui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/prompt"
	"electop/ui/scene"
)

func (m *Model) pressed(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case m.tooSmall && !key.Matches(msg, m.keys.Quit): // no element that could receive the key is visible
		return nil
	case m.tooSmall, msg.String() == "ctrl+c":
		return m.quit("")
	case key.Matches(msg, m.keys.Suspend) && m.opts.CanSuspend:
		return tea.Suspend
	case key.Matches(msg, m.keys.Suspend):
		return m.refuse("Unavailable: no shell with job control can continue electop after ctrl-z.")
	case m.overlay != nil:
		return m.do(m.overlay.Key(msg, m.scene.Now))
	case m.prompt != nil:
		return m.promptKey(msg)
	}
	return m.boardKey(msg)
}

// clicked presses the key or selects the item that is drawn under the mouse pointer.
func (m *Model) clicked(at tea.Mouse) tea.Cmd {
	if at.Button != tea.MouseLeft || m.tooSmall {
		return nil
	}
	switch area := m.areaAt(at.X, at.Y); {
	case area.Key != "":
		return m.pressed(keys.Press(area.Key))
	case area.Item == kit.NoItem:
		return nil
	case m.overlay != nil:
		m.overlay.Click(area)
		return nil
	case m.prompt != nil: // the item is a completion, because the prompt draws no other items
		return m.edit(func() { m.prompt.Pick(area.Index, m.complete) })
	default:
		return m.toPointed(scene.Clicked{Area: area}, area.Item == kit.Tab)
	}
}

// areaAt returns the area under the mouse pointer. It draws the screen to find the areas.
func (m *Model) areaAt(x, y int) kit.Area {
	m.painter.Areas = true
	lines := m.frame()
	m.painter.Areas = false
	if y < 0 || y >= len(lines) {
		return kit.Area{}
	}
	return kit.AreaAt(lines[y], x)
}

// toPointed sends a message to the pane or the list.
func (m *Model) toPointed(msg tea.Msg, pane bool) tea.Cmd {
	if pane && m.view == viewElections {
		return m.send(m.detail, msg)
	}
	return m.toView(msg)
}

// wheelStep is the number of lines per step of the mouse wheel.
const wheelStep = 3

func (m *Model) wheeled(at tea.Mouse) tea.Cmd {
	step := map[tea.MouseButton]int{tea.MouseWheelUp: -wheelStep, tea.MouseWheelDown: wheelStep}[at.Button]
	switch {
	case m.tooSmall || m.prompt != nil || step == 0:
		return nil
	case m.overlay != nil:
		m.overlay.Wheel(step)
		return nil
	}
	return m.toPointed(scene.Wheeled{Step: step}, m.screen.pane.Contains(at.X, at.Y))
}

// toggleMouse turns mouse support on or off. While it is off, the user can select text with the terminal.
func (m *Model) toggleMouse(string) tea.Cmd {
	if m.noMouse = !m.noMouse; m.noMouse {
		return m.say(kit.Quiet, "Mouse support is off: the terminal selects text. "+m.keys.Mouse.Help().Key+" turns mouse support on.")
	}
	return m.say(kit.Quiet, "Mouse support is on.")
}

// openPrompt opens a prompt. A filter prompt starts with the current filter of the view.
func (m *Model) openPrompt(kind prompt.Kind) tea.Cmd {
	of, text := m.list(), ""
	if kind == prompt.Filter {
		text = of.Filter().Text
	}
	m.prompt = prompt.New(kind, text, of.Cursor())
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
			return m.command(p.Text())
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
	case name == "backspace" && p.Text() == "":
		m.prompt = nil
	default:
		return m.edit(func() { p.Press(msg, m.complete) })
	}
	return nil
}

// edit changes the typed line. It applies a filter after each change to its text.
func (m *Model) edit(change func()) tea.Cmd {
	before := m.prompt.Text()
	change()
	if text := m.prompt.Text(); m.filtering() && text != before {
		return m.toView(scene.Filtered{Text: text})
	}
	return nil
}
