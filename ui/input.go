package ui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/internal/past"
	"electop/ui/internal/prompt"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

func (m *Model) pressed(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case m.window.tooSmall: // no visible element could receive the key
		if key.Matches(msg, m.keys.Quit) {
			return m.quit()
		}
		return nil
	case key.Matches(msg, m.keys.Suspend):
		return suspend(m.opts.Suspend)
	}
	switch m.focus.mode {
	case modeDialog:
		return m.toDialog(msg)
	case modePrompt:
		return m.promptKey(msg)
	case modeCopy:
		return m.copyKey(msg)
	case modeHelp:
		return m.helpKey(msg)
	case modeResults:
		return send(m, &m.log, msg)
	case modeLocks:
		return send(m, &m.focus.locks, msg)
	case modeDrain:
		return send(m, &m.focus.drain, msg)
	default:
		return m.boardKey(msg)
	}
}

// boardKey handles global keys before the keys of the view.
func (m *Model) boardKey(msg tea.KeyPressMsg) tea.Cmd {
	if cmd, done := m.globalKey(msg); done {
		return cmd
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
	case key.Matches(msg, k.Wide):
		return send(m, &m.board, scene.Widen{})
	case key.Matches(msg, k.Report):
		return m.do(past.ReportOn(m.scene.Selected, "", m.scene.Now))
	case key.Matches(msg, k.Copy):
		if m.scene.Selected == nil {
			return m.do(scene.Say{Role: term.Delay, Text: "There is no election to copy from."})
		}
		m.focus.mode = modeCopy
		return nil
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
		m.focus.mode, m.focus.help = modeHelp, 0
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
	case key.Matches(msg, k.Pause):
		return m.pause(!m.feed.paused), true
	case key.Matches(msg, k.Earlier):
		return m.do(m.out.travel.Step(-1, m.scene, m.board.Listed(), m.board.Window())), true
	case key.Matches(msg, k.Later):
		return m.do(m.out.travel.Step(1, m.scene, m.board.Listed(), m.board.Window())), true
	case key.Matches(msg, k.Results):
		return send(m, &m.log, scene.ListActions{}), true
	case key.Matches(msg, k.Drain):
		return openDrain(m, selectedNode(m)), true
	case key.Matches(msg, k.Back) && (m.feed.past != nil || m.out.travel.Busy()):
		return m.do(m.out.travel.Leave()), true
	case key.Matches(msg, k.Back) && m.focus.zoom: // one esc undoes one step
		m.focus.zoom = false
		return send(m, &m.detail, scene.Back{}), true
	case key.Matches(msg, k.Back):
		return m.toView(scene.Back{}), true
	default:
		return nil, false
	}
	return nil, true
}

// helpKey scrolls the help; every other key closes it.
func (m *Model) helpKey(msg tea.KeyPressMsg) tea.Cmd {
	if step, ok := m.keys.Step(msg, max(1, m.window.h-3), 1000); ok {
		m.focus.help = m.look.guide.Scroll(m.scene.Sym, m.focus.help, step, m.window.w, m.window.h)
		return nil
	}
	m.focus.mode = modeBoard
	if msg.String() == "ctrl+c" {
		return m.quit()
	}
	return nil
}

func copyMenu() []term.Span {
	menu := []term.Span{{term.Accent, "Copy:   "}}
	for _, i := range [][2]string{
		{"k", "key"}, {"n", "name"}, {"l", "leader"}, {"s", "session"}, {"o", "node"}, {"v", "value"}, {"esc", "nothing"},
	} {
		menu = append(menu, term.Span{term.Key, i[0]}, term.Span{term.Quiet, " " + i[1] + "   "})
	}
	return menu
}

func (m *Model) copyKey(msg tea.KeyPressMsg) tea.Cmd {
	m.focus.mode = modeBoard
	e := m.scene.Selected
	if e == nil {
		return nil
	}
	switch msg.String() {
	case "k":
		return m.copyText("key", e.Key())
	case "n":
		return m.copyText("name", e.Name)
	case "l":
		return m.copyText("leader", e.Leader)
	case "s":
		return m.copyText("session", e.Pair.Session)
	case "o":
		return m.copyText("node", e.Node())
	case "v":
		if m.scene.Past != nil {
			return m.do(scene.Say{Role: term.Delay, Text: "The history does not store values."})
		}
		return m.copyText("value", string(e.Pair.Value))
	}
	return nil
}

func (m *Model) clicked(at tea.Mouse) tea.Cmd {
	if m.focus.mode != modeBoard || at.Button != tea.MouseLeft || m.window.tooSmall {
		return nil
	}
	switch sc := &m.window.screen; {
	case m.focus.view != viewElections && sc.body.Contains(at.X, at.Y):
		return m.toView(scene.Clicked{X: at.X - sc.body.X, Y: at.Y - sc.body.Y})
	case sc.table.Contains(at.X, at.Y):
		return send(m, &m.board, scene.Clicked{X: at.X - sc.table.X, Y: at.Y - sc.table.Y})
	case sc.pane.Contains(at.X, at.Y):
		return send(m, &m.detail, scene.Clicked{X: at.X - sc.pane.X, Y: at.Y - sc.pane.Y})
	}
	return nil
}

// wheelStep is the number of lines per turn of the mouse wheel.
const wheelStep = 3

func (m *Model) wheeled(at tea.Mouse) tea.Cmd {
	turn := scene.Wheeled{Step: wheelStep}
	switch {
	case at.Button == tea.MouseWheelUp:
		turn.Step = -wheelStep
	case at.Button != tea.MouseWheelDown:
		return nil
	}
	switch {
	case m.window.tooSmall:
	case m.focus.mode == modeHelp:
		m.focus.help = m.look.guide.Scroll(m.scene.Sym, m.focus.help, turn.Step, m.window.w, m.window.h)
	case m.focus.mode == modeDialog:
		return m.toDialog(turn)
	case m.focus.mode == modeResults:
		return send(m, &m.log, turn)
	case m.focus.mode == modeLocks:
		return send(m, &m.focus.locks, turn)
	case m.focus.mode == modeDrain:
		return send(m, &m.focus.drain, turn)
	case m.focus.mode != modeBoard:
	case m.focus.view == viewElections && m.window.screen.pane.Contains(at.X, at.Y):
		return send(m, &m.detail, turn)
	default:
		return m.toView(turn)
	}
	return nil
}
