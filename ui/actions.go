package ui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/kit"
	"electop/ui/scene"
)

// do carries out an action that a component returned.
func (m *Model) do(a scene.Action) tea.Cmd {
	switch a := a.(type) {
	case scene.Say:
		return m.say(a.Role, a.Text)
	case scene.Copy:
		return m.copyText(a.What, a.Text)
	case scene.ShowElection:
		return m.showElection(a.ID)
	case scene.Zoom:
		m.zoom = true
	case scene.Visit:
		return m.visit(a)
	case *scene.Lanes:
		m.lanes = a
		m.renew()
	case scene.Ask:
		return m.ask(a)
	case scene.Confirm:
		m.closeOverlay("")
		done := map[string]bool{}
		for _, t := range a.Targets {
			done[t.Row()] = true
		}
		cmd := m.log.Start(a)
		for _, v := range m.views {
			v.Unmark(func(id string) bool { return done[id] })
		}
		return cmd
	case scene.Refresh:
		for _, t := range a.Targets {
			delete(m.rights.known, holdOf(t.Target))
		}
		m.note = note{}
		return m.pause(false)
	case scene.Drain:
		m.closeOverlay("")
		return m.log.StartDrain(a)
	case scene.Watch:
		return m.watch(a.Patterns)
	case scene.Close:
		m.closeOverlay(a.Text)
	case tea.Cmd:
		return a
	case scene.WriteReport:
		return m.writeReport(a)
	case *scene.Overlay:
		m.travel.Cancel()
		return m.cover(a)
	case scene.Pass:
		if m.view != viewElections {
			return m.show(viewElections)
		}
		m.note = note{}
	case scene.All:
		var cmds []tea.Cmd
		for _, one := range a {
			cmds = append(cmds, m.do(one))
		}
		return tea.Batch(cmds...)
	}
	return nil
}

// ask opens the dialog about an action. An action is possible in only one datacenter at a time.
func (m *Model) ask(a scene.Ask) tea.Cmd {
	datacenter := a.Targets[0].Datacenter
	if i := slices.IndexFunc(a.Targets, func(t scene.Target) bool { return t.Datacenter != datacenter }); i >= 0 {
		of := scene.Short(datacenter)
		return m.refuse("The chosen rows are in " + of + ", " + scene.Short(a.Targets[i].Datacenter) + ". An action is possible in only one datacenter at a time: select rows of one datacenter, for example with the filter dc:" + of + ".")
	}
	if reason := m.scene.In(datacenter).Refusal(a.Kind); reason != "" {
		return m.refuse(reason)
	}
	m.rights.forgetOld(m.now)
	return m.do(m.log.Confirm(a))
}

// quit returns the command that quits. While writes are in progress, it requires a second request within noteTime,
// because quitting loses the outcomes of the writes.
func (m *Model) quit(string) tea.Cmd {
	text := m.log.Running()
	if text == "" || m.now.Before(m.note.quitUntil) {
		return tea.Quit
	}
	m.note.quitUntil = m.now.Add(noteTime)
	return m.refuse(text)
}

// to returns the function that shows a view.
func (m *Model) to(v view) run { return func(string) tea.Cmd { return m.show(v) } }

func (m *Model) show(v view) tea.Cmd {
	m.view, m.zoom = v, false
	m.renew()
	return m.toView(scene.Opened{})
}

// showElection selects an election in the Elections view. It clears a filter that hides the election.
func (m *Model) showElection(id string) tea.Cmd {
	if m.scene.Shown.Find(election.ID(id)) == nil {
		return m.refuse("This election is not on the board.")
	}
	return tea.Batch(m.show(viewElections), m.send(m.board, scene.GoTo{ID: id, Reveal: true}), m.send(m.detail, scene.Back{}))
}

// visit shows the board at a past moment. A nil moment is the present.
func (m *Model) visit(a scene.Visit) tea.Cmd {
	m.paused, m.past, m.shown = false, a.Past, m.live
	if a.Past != nil {
		m.shown = a.Past.Snapshot
	}
	if m.note.role != kit.Bad { // the note is about the previous moment
		m.note.text, m.note.until = "", time.Time{}
	}
	cmd := m.changed()
	if a.Cursor != "" {
		cmd = tea.Batch(cmd, m.send(m.board, scene.GoTo{ID: a.Cursor}))
	}
	return cmd
}

// openFix opens the fix dialog for the selected election. If a diagnosis is unnecessary or impossible, it shows the
// reason in the footer.
func (m *Model) openFix(string) tea.Cmd {
	if m.view != viewElections {
		return m.refuse(scene.Covered + ".")
	}
	return m.do(m.log.Fix(m.scene.Selected))
}

// openDrain shows the drain in progress, or the plan for the given or the selected node.
func (m *Model) openDrain(node string) tea.Cmd {
	if t := m.selectedTarget(); t != nil && node == "" {
		node = t.Node
	}
	return m.do(m.log.Drain(m.selectedDatacenter(), node))
}

// selectedDatacenter returns the datacenter of the selected election or session. The default is the first datacenter.
func (m *Model) selectedDatacenter() string {
	switch e, session := m.scene.Selected, m.selectedSession(); {
	case session != nil:
		return session.Datacenter
	case e != nil:
		return e.Datacenter
	}
	return m.scene.Live.Datacenters()[0].Datacenter
}

// selectedSession returns the selected session, or nil if another view is open.
func (m *Model) selectedSession() *election.Session {
	if m.view != viewSessions {
		return nil
	}
	return m.sessions.Selected()
}

// closeOverlay closes the open overlay and shows text as a note, unless text is empty.
func (m *Model) closeOverlay(text string) {
	if m.overlay != nil {
		m.overlay.End()
	}
	m.overlay, m.prompt = nil, nil
	if text != "" {
		m.say(kit.Quiet, text)
	}
}

// cover opens an overlay and closes the one that was open.
func (m *Model) cover(o *scene.Overlay) tea.Cmd {
	m.closeOverlay("")
	m.overlay, m.note, o.Keys = o, note{}, m.keys
	return nil
}
