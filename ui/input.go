package ui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/pages"
	"electop/ui/past"
	"electop/ui/prompt"
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

// boardKey handles global keys before the keys of the view.
func (m *Model) boardKey(msg tea.KeyPressMsg) tea.Cmd {
	if cmd, done := m.globalKey(msg); done {
		return cmd
	}
	if key.Matches(msg, m.keys.Copy) && m.focus.view != viewEvents {
		return openCopyMenu(m)
	}
	if key.Matches(msg, m.keys.Run) && m.focus.view != viewEvents {
		return openCommands(m)
	}
	if m.focus.view != viewElections {
		return m.toView(msg)
	}
	switch k := &m.keys; {
	case key.Matches(msg, k.Release):
		return send(m, &m.board, scene.Choose{Kind: election.ActionRelease, By: msg.String()})
	case key.Matches(msg, k.Destroy):
		return send(m, &m.board, scene.Choose{Kind: election.ActionDestroy, By: msg.String()})
	case key.Matches(msg, k.Fix):
		return openFix(m, msg.String())
	case key.Matches(msg, k.Report):
		return m.do(past.ReportOn(m.scene.Selected, "", m.scene.Now))
	case m.focus.zoom, key.Matches(msg, k.NextTab, k.PrevTab, k.PaneDown, k.PaneUp):
		return send(m, &m.detail, msg)
	}
	return send(m, &m.board, msg)
}

// globalKey handles the keys with the same meaning in every view.
func (m *Model) globalKey(msg tea.KeyPressMsg) (cmd tea.Cmd, done bool) {
	switch k := &m.keys; {
	case key.Matches(msg, k.Quit):
		return m.quit(), true
	case key.Matches(msg, k.Help):
		return m.openHelp(), true
	case key.Matches(msg, k.Filter):
		openPrompt(m, prompt.Filter)
	case key.Matches(msg, k.Command):
		openPrompt(m, prompt.Command)
	case key.Matches(msg, k.Elections):
		return m.show(viewElections), true
	case key.Matches(msg, k.Events):
		return m.show(viewEvents), true
	case key.Matches(msg, k.Sessions):
		return m.show(viewSessions), true
	case key.Matches(msg, k.Mouse):
		m.toggleMouse()
	case key.Matches(msg, k.Pause):
		return m.pause(!m.feed.paused), true
	case key.Matches(msg, k.Earlier):
		return m.out.travel.Step(-1, m.scene, m.board.Listed()), true
	case key.Matches(msg, k.Later):
		return m.out.travel.Step(1, m.scene, m.board.Listed()), true
	case key.Matches(msg, k.Results):
		return m.log.Show(), true
	case key.Matches(msg, k.Drain):
		return openDrain(m, selectedNode(m)), true
	case key.Matches(msg, k.Back) && m.focus.view == viewEvents && m.events.Covered():
		return m.toView(scene.Back{}), true
	case key.Matches(msg, k.Back) && (m.feed.past != nil || m.out.travel.Busy()):
		return m.out.travel.Leave(), true
	case key.Matches(msg, k.Back) && m.focus.zoom: // each press of esc undoes one step
		m.focus.zoom = false
		return send(m, &m.detail, scene.Back{}), true
	case key.Matches(msg, k.Back):
		return m.toView(scene.Back{}), true
	default:
		return nil, false
	}
	return nil, true
}

// openHelp opens the help at the page of the view.
func (m *Model) openHelp() tea.Cmd {
	return m.cover(pages.Help(m.keys, commandHelp(), int(m.focus.view)), nil)
}

// openCopyMenu opens the copy menu for the selected election or session.
func openCopyMenu(m *Model) tea.Cmd {
	sessions := m.focus.view == viewSessions
	switch {
	case sessions && m.scene.Past != nil:
		return nil
	case sessions && m.sessions.Selected() == nil:
		return m.do(scene.Say{Role: kit.Delay, Text: "No session is selected: there is nothing to copy."})
	case !sessions && m.scene.Selected == nil:
		return m.do(scene.Say{Role: kit.Delay, Text: "No election is selected: there is nothing to copy."})
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
		return m.do(scene.Say{Role: kit.Delay, Text: "Nothing was copied: the selection changed."})
	}
	for _, i := range copyItems(m) {
		switch {
		case i.Key != msg.String():
			continue
		case i.Err != nil:
			return m.do(scene.Say{Role: kit.Delay, Text: kit.Capital(i.Err.Error()) + "."})
		case i.What == "value" && m.scene.Past != nil:
			return m.do(scene.Say{Role: kit.Delay, Text: "The history does not store values."})
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
	switch clicked, isClick := msg.(scene.Clicked); {
	case m.overlay != nil && isClick:
		m.overlay.Click(clicked.Area)
		return nil
	case m.overlay != nil:
		m.overlay.Wheel(msg.(scene.Wheeled).Step)
		return nil
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
func (m *Model) toggleMouse() {
	m.window.noMouse = !m.window.noMouse
	text := "Mouse support is on."
	if m.window.noMouse {
		text = "Mouse support is off: the terminal selects text. " + m.keys.Mouse.Help().Key + " turns mouse support on."
	}
	m.say(kit.Quiet, text)
}
