package ui

import (
	tea "charm.land/bubbletea/v2"

	"electop/ui/kit"
	"electop/ui/scene"
)

// Update implements [tea.Model].
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.feed.now = m.opts.Now()
	m.renew()
	before := m.scene
	cmd := m.update(msg)
	laid := m.layOut(before)
	if m.scene.Past == nil {
		m.tell()
	}
	return m, tea.Batch(cmd, m.askRights(), laid, m.out.travel.Lanes(m.scene, m.board.Window(), m.board.Visible(), m.board.Near()))
}

func (m *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		return m.resized(msg.Width, msg.Height)
	case tea.BackgroundColorMsg:
		m.look = m.look.on(msg.IsDark(), m.look.profile)
	case tea.ColorProfileMsg:
		m.look = m.look.on(m.look.dark, msg.String())
	case tea.ResumeMsg:
		return m.changed()
	case tickMsg:
		m.feed.latency = m.feed.live.Connection.Latency
		return tea.Batch(m.changed(), tick(m.opts.Now()))
	case snapshotMsg:
		m.feed.take(msg.snap)
		return tea.Batch(searchHint(m), m.changed(), m.out.wait)
	case warningMsg:
		m.feed.warning = string(msg)
		return tea.Batch(m.changed(), m.out.warning)
	case hintMsg:
		return hint(m, msg)
	case kit.TaskMsg:
		return tea.Batch(msg.Apply(), m.toView(scene.Changed{Before: m.scene}))
	case tea.PasteMsg:
		if m.overlay != nil {
			m.overlay.Paste(msg.Content)
		}
		if m.focus.mode == modePrompt && !m.window.tooSmall {
			return m.edited(m.focus.prompt.Paste(msg.Content))
		}
	case tea.KeyPressMsg:
		return m.pressed(msg)
	case tea.MouseClickMsg:
		return m.clicked(msg.Mouse())
	case tea.MouseWheelMsg:
		return m.wheeled(msg.Mouse())
	default: // an action, or the result of a scan in the Sessions view
		return tea.Batch(m.do(msg), send(m, &m.sessions, msg))
	}
	return nil
}

// component is a part of the screen.
type component[T any] interface {
	Update(msg tea.Msg, s *scene.Scene) (T, scene.Action)
}

// send passes a message to a component and carries out the action that the component returns.
func send[T component[T]](m *Model, to *T, msg tea.Msg) tea.Cmd {
	next, action := (*to).Update(msg, m.scene)
	*to = next
	m.renew()
	return m.do(action)
}

func (m *Model) toView(msg tea.Msg) tea.Cmd {
	switch m.focus.view {
	case viewEvents:
		return send(m, &m.events, msg)
	case viewSessions:
		return send(m, &m.sessions, msg)
	default:
		return send(m, &m.board, msg)
	}
}

func (m *Model) changed() tea.Cmd {
	msg := scene.Changed{Before: m.scene}
	m.renew()
	cmds := []tea.Cmd{m.log.Settle(), send(m, &m.board, msg)}
	if m.focus.view != viewElections {
		cmds = append(cmds, m.toView(msg))
	}
	return tea.Batch(cmds...)
}

// layOut computes the layout before the next key press, so that key handling matches the drawn screen.
func (m *Model) layOut(before *scene.Scene) tea.Cmd {
	m.renew()
	if m.window.tooSmall {
		return nil
	}
	old := m.window.screen
	m.window.screen = arrange(need{
		w: m.window.w, h: m.window.h, banners: len(m.banners()), rows: len(m.scene.Shown.Elections),
		zoom: m.focus.zoom && m.focus.view == viewElections,
		full: m.focus.view != viewElections || len(m.scene.Shown.Elections) == 0,
	})
	var cmds []tea.Cmd
	now := m.window.screen
	if now.table.H > 0 && now.table != old.table {
		cmds = append(cmds, send(m, &m.board, scene.Resized{Rect: now.table}))
	}
	if now.pane != old.pane {
		cmds = append(cmds, send(m, &m.detail, scene.Resized{Rect: now.pane}))
	}
	if now.body != old.body {
		cmds = append(cmds, send(m, &m.events, scene.Resized{Rect: now.body}), send(m, &m.sessions, scene.Resized{Rect: now.body}))
	}
	return tea.Batch(append(cmds, send(m, &m.detail, scene.Changed{Before: before}), m.fitOverlay())...)
}
