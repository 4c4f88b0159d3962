package ui

import (
	tea "charm.land/bubbletea/v2"

	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Update implements [tea.Model].
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.now = m.opts.Now()
	m.renew()
	before := m.scene
	cmd := m.update(msg)
	laid := m.layOut(before)
	if m.past == nil {
		m.tell()
	}
	return m, tea.Batch(cmd, m.askRights(), laid, m.travel.Lanes(m.scene, m.board.Window(), m.board.Visible(), m.board.Near()))
}

func (m *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resized(msg.Width, msg.Height)
	case tea.BackgroundColorMsg:
		m.dark = msg.IsDark()
		m.restyle()
	case tea.ColorProfileMsg:
		m.profile = msg.String()
		m.restyle()
	case tea.ResumeMsg:
		return m.changed()
	case tickMsg:
		m.latency = m.live.Connection.Latency
		return tea.Batch(m.changed(), tick(m.opts.Now()))
	case snapshotMsg:
		m.take(msg.snap)
		return tea.Batch(m.changed(), m.wait)
	case warningMsg:
		m.warning = string(msg)
		return tea.Batch(m.changed(), m.nextWarning)
	case kit.TaskMsg:
		return tea.Batch(msg.Apply(), m.toView(scene.Changed{Before: m.scene}))
	case tea.PasteMsg:
		switch {
		case m.overlay != nil:
			m.overlay.Paste(msg.Content)
		case m.prompt != nil && !m.tooSmall:
			return m.edit(func() { m.prompt.Paste(msg.Content) })
		}
	case tea.KeyPressMsg:
		return m.pressed(msg)
	case tea.MouseClickMsg:
		return m.clicked(msg.Mouse())
	case tea.MouseWheelMsg:
		return m.wheeled(msg.Mouse())
	default:
		return m.do(msg)
	}
	return nil
}

// component is a part of the screen.
type component interface {
	Update(msg tea.Msg, s *scene.Scene) scene.Action
}

// send passes a message to a component and carries out the action that the component returns.
func (m *Model) send(to component, msg tea.Msg) tea.Cmd {
	action := to.Update(msg, m.scene)
	m.renew()
	return m.do(action)
}

func (m *Model) toView(msg tea.Msg) tea.Cmd { return m.send(m.list(), msg) }

func (m *Model) changed() tea.Cmd {
	msg := scene.Changed{Before: m.scene}
	m.renew()
	cmds := []tea.Cmd{m.log.Settle(), m.send(m.board, msg)}
	if m.view != viewElections {
		cmds = append(cmds, m.toView(msg))
	}
	return tea.Batch(cmds...)
}

// layOut computes the layout before the next key press, so that key handling matches the drawn screen.
func (m *Model) layOut(before *scene.Scene) (cmd tea.Cmd) {
	m.renew()
	if m.tooSmall {
		return nil
	}
	old := m.screen
	m.screen = m.arrange(len(m.banners()))
	resize := func(to component, now, was kit.Rect) {
		if now != was && (to != m.board || now.H > 0) {
			cmd = tea.Batch(cmd, m.send(to, scene.Resized{Rect: now}))
		}
	}
	resize(m.board, m.screen.table, old.table)
	resize(m.detail, m.screen.pane, old.pane)
	for _, v := range keys.Views()[1:] {
		resize(m.views[v], m.screen.body, old.body)
	}
	cmd = tea.Batch(cmd, m.send(m.detail, scene.Changed{Before: before}))
	if o := m.overlay; o != nil {
		if o.Update != nil {
			cmd = tea.Batch(cmd, m.do(o.Update(m.scene)))
		}
		cmd = tea.Batch(cmd, o.Fit(m.Sym, m.w, m.h, m.now))
	}
	return cmd
}
