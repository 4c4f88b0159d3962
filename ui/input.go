package ui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/pages"
	"electop/ui/scene"
	"electop/ui/shell"
)

func (m *Model) pressed(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case m.window.tooSmall: // no element that could receive the key is visible
		if key.Matches(msg, m.keys.Quit) {
			return m.quit()
		}
		return nil
	case msg.String() == "ctrl+c":
		return m.quit()
	case key.Matches(msg, m.keys.Suspend):
		if !m.opts.CanSuspend {
			m.say(kit.Delay, "Unavailable: no shell with job control can continue electop after ctrl-z.")
			return nil
		}
		return tea.Suspend
	}
	if m.overlay != nil {
		return m.do(m.overlay.Key(msg, m.scene.Now))
	}
	switch m.focus.mode {
	case modePrompt:
		return m.promptKey(msg)
	case modeCopy:
		return copyKey(m, msg)
	default:
		return m.boardKey(msg)
	}
}

// openCopyMenu opens the copy menu for the selected election or session.
func openCopyMenu(m *Model) tea.Cmd {
	sessions := m.focus.view == viewSessions
	switch {
	case sessions && m.scene.Past != nil:
		return nil
	case sessions && m.sessions.Selected() == nil:
		return m.refuse("No session is selected: there is nothing to copy.")
	case !sessions && m.scene.Selected == nil:
		return m.refuse("No election is selected: there is nothing to copy.")
	}
	m.focus.mode, m.focus.copied = modeCopy, m.list().Cursor()
	return nil
}

// openCommands opens the command menu for the selected election or session.
func openCommands(m *Model) tea.Cmd {
	all := pages.Commands{All: m.opts.Commands, Run: m.opts.Command, File: m.opts.ConfigFile}
	if m.focus.view == viewSessions {
		return m.do(pages.Menu(all, nil, m.sessions.Selected(), m.keys, m.scene))
	}
	return m.do(pages.Menu(all, m.scene.Selected, nil, m.keys, m.scene))
}

// copyItems lists what the copy menu can copy.
func copyItems(m *Model) []shell.Item {
	switch ses := m.sessions.Selected(); {
	case m.focus.view != viewSessions && m.scene.Selected != nil:
		return m.opts.Cluster.OfElection(m.scene.Selected)
	case m.focus.view == viewSessions && ses != nil:
		return m.opts.Cluster.OfSession(ses, m.scene.Shown.In(ses.Datacenter).Datacenter)
	}
	return nil
}

func copyKey(m *Model, msg tea.KeyPressMsg) tea.Cmd {
	m.focus.mode = modeBoard
	if m.list().Cursor() != m.focus.copied { // the latest snapshot does not contain the item, or the filter hides it
		return m.refuse("Nothing was copied: the selection changed.")
	}
	for _, i := range copyItems(m) {
		switch {
		case i.Key != msg.String():
			continue
		case i.Err != nil:
			return m.refuse(kit.Capital(i.Err.Error()) + ".")
		case i.What == "value" && m.scene.Past != nil:
			return m.refuse("The history does not store values.")
		}
		return m.copyText(i.What, i.Text)
	}
	return nil
}

// clicked presses the key or selects the item that is drawn under the mouse pointer.
func (m *Model) clicked(at tea.Mouse) tea.Cmd {
	if at.Button != tea.MouseLeft || m.window.tooSmall {
		return nil
	}
	switch area := m.areaAt(at.X, at.Y); {
	case area.Key != "":
		return m.pressed(keys.Press(area.Key))
	case area.Item == kit.NoItem:
		return nil
	case m.focus.mode == modePrompt: // the item is a completion, because the prompt draws no other items
		return m.edited(m.focus.prompt.Pick(area.Index, completer(m)))
	default:
		return m.toPointed(scene.Clicked{Area: area}, area.Item == kit.Tab)
	}
}

// areaAt returns the area under the mouse pointer. It draws the screen to find the areas.
func (m *Model) areaAt(x, y int) kit.Area {
	drawn, painter := *m, *m.look.painter
	painter.Areas = true
	drawn.look.painter = &painter
	lines := drawn.frame()
	if y < 0 || y >= len(lines) {
		return kit.Area{}
	}
	return kit.AreaAt(lines[y], x)
}

// toPointed sends a message to the overlay or, if no overlay is open, to the pane or the list.
func (m *Model) toPointed(msg tea.Msg, pane bool) tea.Cmd {
	if o := m.overlay; o != nil {
		switch msg := msg.(type) {
		case scene.Clicked:
			o.Click(msg.Area)
		case scene.Wheeled:
			o.Wheel(msg.Step)
		}
		return nil
	}
	switch {
	case m.focus.mode != modeBoard:
		return nil
	case pane && m.focus.view == viewElections:
		return send(m, &m.detail, msg)
	}
	return m.toView(msg)
}

// wheelStep is the number of lines per step of the mouse wheel.
const wheelStep = 3

func (m *Model) wheeled(at tea.Mouse) tea.Cmd {
	turn := scene.Wheeled{Step: wheelStep}
	switch {
	case m.window.tooSmall:
		return nil
	case at.Button == tea.MouseWheelUp:
		turn.Step = -wheelStep
	case at.Button != tea.MouseWheelDown:
		return nil
	}
	return m.toPointed(turn, m.window.screen.pane.Contains(at.X, at.Y))
}

// toggleMouse turns mouse support on or off. While it is off, the user can select text with the terminal.
func toggleMouse(m *Model) tea.Cmd {
	m.window.noMouse = !m.window.noMouse
	text := "Mouse support is on."
	if m.window.noMouse {
		text = "Mouse support is off: the terminal selects text. " + m.keys.Mouse.Help().Key + " turns mouse support on."
	}
	m.say(kit.Quiet, text)
	return nil
}
