package ui

import (
	tea "charm.land/bubbletea/v2"

	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

// clicked presses the key or selects the item that is drawn under the mouse pointer.
func (m *Model) clicked(at tea.Mouse) tea.Cmd {
	if at.Button != tea.MouseLeft || m.tooSmall {
		return nil
	}
	m.painter.Areas = true // the items and keys are where the screen draws them
	lines := m.frame()
	m.painter.Areas = false
	if at.Y < 0 || at.Y >= len(lines) {
		return nil
	}
	switch area := kit.AreaAt(lines[at.Y], at.X); {
	case area.Key != "":
		return m.pressed(keys.Press(area.Key))
	case area.Item == kit.NoItem:
		return nil
	case m.overlay != nil:
		m.overlay.Click(area)
		return nil
	case m.prompt != nil: // the item is a completion, because the prompt draws no other items
		return m.edit(func() { m.prompt.Pick(area.Index) })
	default:
		return m.toPointed(scene.Clicked{Area: area}, area.Item == kit.Tab)
	}
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
	text := "Mouse support is on."
	if m.noMouse = !m.noMouse; m.noMouse {
		text = "Mouse support is off: the terminal selects text. " + m.keys.Mouse.Help().Key + " turns mouse support on."
	}
	return m.say(kit.Quiet, text)
}
