package ui

import (
	"cmp"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/internal/dialog"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// toSessions, toDialog and toLog give a message to a component and carry out what it
// returns.
func (m *Model) toSessions(msg tea.Msg) tea.Cmd {
	var action scene.Action
	m.sessions, action = m.sessions.Update(msg, m.scene())
	return m.do(action)
}

func (m *Model) toDialog(msg tea.Msg) tea.Cmd {
	if m.dialog == nil {
		return nil
	}
	d, action := m.dialog.Update(msg, m.scene())
	m.dialog = &d
	return m.do(action)
}

func (m *Model) toLog(msg tea.Msg) tea.Cmd {
	var action scene.Action
	m.log, action = m.log.Update(msg, m.scene())
	return m.do(action)
}

func (m *Model) changed() scene.Changed { return scene.Changed{Before: m.scene()} }

// do carries out what a component returned.
func (m *Model) do(action scene.Action) tea.Cmd {
	switch a := action.(type) {
	case scene.All:
		cmds := make([]tea.Cmd, 0, len(a))
		for _, one := range a {
			cmds = append(cmds, m.do(one))
		}
		return tea.Batch(cmds...)
	case scene.Say:
		m.say(a.Role, a.Text)
	case scene.Copy:
		return m.copyText(a.What, a.Text)
	case scene.Ask:
		m.ask(a)
	case scene.Confirm:
		return m.confirm(a)
	case scene.Refresh:
		for _, t := range a.Targets {
			delete(m.rights.known, holdOf(t.Target))
		}
		m.setPaused(false)
		m.note = note{}
		return m.toDialog(scene.Refreshed{})
	case scene.ShowResults:
		m.mode = modeResults
	case scene.Close:
		m.dialog, m.mode = nil, modeBoard
		if a.Text != "" {
			m.say(term.Quiet, a.Text)
		}
	case scene.Pass:
		m.show(viewElections)
	case scene.Run:
		return a.Cmd
	case scene.Quit:
		return m.quit()
	}
	return nil
}

// ask opens a dialog. What was last said is not about it.
func (m *Model) ask(a scene.Ask) {
	d := dialog.New(a, m.tools, m.scene())
	m.dialog, m.mode, m.note = &d, modeDialog, note{}
}

// confirm has the log carry an action out, and removes the marks of what is acted on
// and no others: the filter may have changed since the dialog was opened.
func (m *Model) confirm(a scene.Confirm) tea.Cmd {
	m.dialog, m.mode = nil, modeBoard
	for _, t := range a.Targets {
		if t.Bare == nil {
			delete(m.table.marks, t.Key)
		}
	}
	m.toSessions(scene.Unmark{Targets: a.Targets})
	var started scene.Action
	if m.log, started = m.log.Start(a.Kind, a.Targets, m.scene()); m.log.Open() {
		m.note = note{}
	}
	return m.do(started)
}

// openDialog opens a dialog for the marked elections, or else the selected one.
func (m *Model) openDialog(kind election.ActionKind) {
	s := m.scene()
	if reason := s.Refusal(kind); reason != "" {
		m.say(term.Delay, reason)
		return
	}
	var c scene.Chosen
	visible, hidden := m.table.chosen(m.shown, m.asOf())
	c.Visible, c.Leaderless = bindLed(s, visible, false)
	c.Hidden, _ = bindLed(s, hidden, true)
	if len(c.Visible)+len(c.Hidden) == 0 {
		m.say(term.Delay, m.nothingToDo(kind, visible))
		return
	}
	if e := m.table.selected(); len(visible) == 0 && e != nil {
		c.Unmarked = scene.OneLine(e.Name, 60)
	}
	m.ask(scene.Ask{Kind: kind, Chosen: c})
}

// bindLed makes targets of the elections that are led, and names the others.
func bindLed(s *scene.Scene, es []*election.Election, hidden bool) (bound []scene.Target, leaderless []string) {
	for _, e := range es {
		if scene.StandingOf(e, s.AsOf) != scene.StandsLed {
			leaderless = append(leaderless, scene.OneLine(e.Name, 60))
			continue
		}
		bound = append(bound, s.Bind(e, hidden))
	}
	return bound, leaderless
}

// nothingToDo says why none of the chosen elections can be acted on.
func (m *Model) nothingToDo(kind election.ActionKind, chosen []*election.Election) string {
	if len(chosen) != 1 {
		return "There is nothing to " + string(kind) + "."
	}
	name := scene.OneLine(chosen[0].Name, 60)
	switch {
	case scene.StandingOf(chosen[0], m.asOf()) == scene.StandsUnreadable:
		return name + " is not readable with this token: there is nothing to " + string(kind) + "."
	case scene.StandingOf(chosen[0], m.asOf()) != scene.StandsSemaphore:
		return name + " has no leader: there is nothing to " + string(kind) + "."
	case kind == election.ActionDestroy:
		return name + " is a semaphore without a single holder: destroy one of its sessions in view 3."
	}
	return name + " is a semaphore: it has no single holder to release."
}

// marked are the marked elections in the order of their keys, those that the
// filter hides apart.
func (t *table) marked(snap *election.Snapshot, asOf time.Time) (visible, hidden []*election.Election) {
	for key := range t.marks {
		switch e := snap.Find(key); {
		case e == nil:
		case t.shows(e, asOf):
			visible = append(visible, e)
		default:
			hidden = append(hidden, e)
		}
	}
	byKey := func(a, b *election.Election) int { return cmp.Compare(a.Key(), b.Key()) }
	slices.SortFunc(visible, byKey)
	slices.SortFunc(hidden, byKey)
	return visible, hidden
}

// chosen are the elections that an action is about: the marked ones or, only
// when there is no mark at all, the one under the cursor.
func (t *table) chosen(snap *election.Snapshot, asOf time.Time) (visible, hidden []*election.Election) {
	visible, hidden = t.marked(snap, asOf)
	if e := t.selected(); e != nil && len(visible)+len(hidden) == 0 {
		visible = append(visible, e)
	}
	return visible, hidden
}
