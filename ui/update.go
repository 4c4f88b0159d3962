package ui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Update implements [tea.Model].
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.now = m.opts.Now()
	snap, _ := msg.(*election.Snapshot)
	m.first = m.insights.In == nil && !m.live.Loaded && snap != nil && snap.Loaded
	m.renew()
	before := m.scene
	cmd := m.update(msg)
	laid := m.layOut(before)
	if m.past == nil {
		m.tell()
	}
	return m, tea.Batch(cmd, m.askRights(), laid, m.travel.Lanes(m.scene, m.board.Window, m.board.Visible(), m.board.Near()))
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
	case *election.Snapshot:
		next := m.wait
		if m.take(msg); m.first {
			next = func() tea.Msg { return msg }
		}
		return tea.Batch(m.changed(), next)
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
		o.S = m.scene
		cmd = tea.Batch(cmd, o.Fit(m.Sym, m.w, m.h, m.now))
	}
	return cmd
}

// tell informs the backend when the set of nodes whose checks are needed, the selected election, or the visibility of
// the sessions changes.
func (m *Model) tell() {
	if m.w > 0 {
		looked := []*election.Election{m.scene.Selected}
		if m.view == viewElections && !m.zoom {
			looked = append(looked, m.board.Visible()...)
		}
		names := m.Datacenters
		if len(names) == 0 {
			names = []string{""}
		}
		for _, name := range names {
			nodes := m.board.WatchedNodes(name, m.selectedSession(), looked)
			if all := strings.Join(nodes, "\x00"); all != m.watched[name] {
				m.watched[name] = all
				m.opts.Backend.WatchChecks(name, nodes)
			}
		}
	}
	var studied [2]string // the datacenter and the key
	if e := m.scene.Selected; e != nil && m.view == viewElections && m.live.Connection.State != election.Connecting {
		studied = [2]string{e.Datacenter, e.Key()}
	}
	if studied != m.studied {
		m.studied = studied
		m.opts.Backend.Study(studied[0], studied[1])
	}
	if on := m.view == viewSessions; on != m.listing {
		m.listing = on
		m.opts.Backend.WatchSessions(on)
	}
}

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
