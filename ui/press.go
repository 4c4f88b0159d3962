package ui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// pressed gives a key to whoever has the keys now.
func (m *Model) pressed(msg tea.KeyPressMsg) tea.Cmd {
	if tooSmall(m.width, m.height) { // nothing is visible that a key could be meant for
		if key.Matches(msg, m.keys.Quit) {
			return m.quit()
		}
		return nil
	}
	if key.Matches(msg, m.keys.Suspend) {
		return m.suspend()
	}
	switch m.mode {
	case modeDialog:
		return m.toDialog(msg)
	case modePrompt:
		return m.promptKey(msg)
	case modeCopy:
		return m.copyKey(msg)
	case modeHelp:
		return m.helpKey(msg)
	case modeResults:
		return m.toLog(msg)
	default:
		return m.boardKey(msg)
	}
}

// boardKey gives a key to the board: first those that mean the same everywhere,
// then those of what is shown.
func (m *Model) boardKey(msg tea.KeyPressMsg) tea.Cmd {
	if cmd, done := m.globalKey(msg); done {
		return cmd
	}
	switch {
	case m.view == viewEvents:
		m.eventsKey(msg)
	case m.view == viewSessions:
		return m.toSessions(msg)
	case m.pane.zoom:
		m.zoomKey(msg)
	default:
		m.tableKey(msg)
	}
	return nil
}

// globalKey handles the keys that mean the same everywhere on the board.
func (m *Model) globalKey(msg tea.KeyPressMsg) (cmd tea.Cmd, done bool) {
	switch k := &m.keys; {
	case key.Matches(msg, k.Quit):
		return m.quit(), true
	case key.Matches(msg, k.Help):
		m.mode, m.help = modeHelp, &helpPage{}
	case key.Matches(msg, k.Filter):
		m.openPrompt(promptFilter)
	case key.Matches(msg, k.Command):
		m.openPrompt(promptCommand)
	case key.Matches(msg, k.Elections):
		m.show(viewElections)
	case key.Matches(msg, k.Events):
		m.show(viewEvents)
	case key.Matches(msg, k.Sessions):
		m.show(viewSessions)
	case key.Matches(msg, k.Pause):
		m.setPaused(!m.paused)
	case key.Matches(msg, k.Results):
		m.toLog(scene.ListActions{})
	case key.Matches(msg, k.Back):
		m.back()
	case m.view != viewElections:
		return nil, false
	case key.Matches(msg, k.Release):
		m.openDialog(election.ActionRelease)
	case key.Matches(msg, k.Destroy):
		m.openDialog(election.ActionDestroy)
	case key.Matches(msg, k.Copy):
		m.openCopy()
	case key.Matches(msg, k.NextTab):
		m.pane.turn(1)
	case key.Matches(msg, k.PrevTab):
		m.pane.turn(-1)
	case key.Matches(msg, k.Wide):
		m.table.wide = !m.table.wide
	default:
		return nil, false
	}
	return nil, true
}

func (m *Model) show(v view) {
	m.view = v
	m.pane.zoom = false
	if v == viewSessions {
		m.toSessions(scene.Opened{})
	}
	m.refreshView()
}

// back goes one step back: the nearest thing that can be undone.
func (m *Model) back() {
	switch {
	case m.view == viewSessions:
		m.toSessions(scene.Back{})
	case m.pane.zoom && m.view == viewElections:
		m.pane.zoom, m.pane.offset = false, 0
	case !m.currentFilter().Empty():
		m.setFilter("")
	case m.view != viewElections:
		m.show(viewElections)
	case len(m.table.marks) > 0:
		clear(m.table.marks)
	case m.now.Before(m.note.until):
		m.note = note{}
	}
}

// setFilter filters the view that is open.
func (m *Model) setFilter(text string) {
	switch m.view {
	case viewEvents:
		m.events.filter = scene.ParseFilter(text)
		m.refreshView()
	case viewSessions:
		m.toSessions(scene.Filtered{Text: text})
	default:
		m.table.filter = scene.ParseFilter(text)
		m.table.refresh(m.shown, m.asOf())
	}
}

// tableKey handles the keys of the election table.
func (m *Model) tableKey(msg tea.KeyPressMsg) {
	t := m.table
	rows := max(1, t.rows(m.where().table.H))
	if step, ok := m.keys.Step(msg, rows, len(t.order)); ok {
		m.selectRow(t.index + step)
		return
	}
	switch k := &m.keys; {
	case key.Matches(msg, k.NextTrouble):
		m.jump(1)
	case key.Matches(msg, k.PrevTrouble):
		m.jump(-1)
	case key.Matches(msg, k.Open):
		m.pane.zoom = t.selected() != nil
	case key.Matches(msg, k.Mark):
		m.mark()
	case key.Matches(msg, k.Sort):
		m.setSort(sorting{key: (t.sort.key + 1) % sortKeyCount})
	case key.Matches(msg, k.Reverse):
		m.setSort(sorting{key: t.sort.key, reverse: !t.sort.reverse})
	case key.Matches(msg, k.PaneDown):
		m.scrollPane(1)
	case key.Matches(msg, k.PaneUp):
		m.scrollPane(-1)
	}
}

func (m *Model) selectRow(i int) {
	before := m.table.cursor
	m.table.moveTo(i)
	if m.table.cursor != before {
		m.pane.offset = 0
	}
}

func (m *Model) jump(step int) {
	if !m.table.jump(step, m.shown, m.asOf()) {
		m.say(term.Led, "No election has a problem.")
		return
	}
	m.pane.offset = 0
}

func (m *Model) mark() {
	e := m.table.selected()
	if e == nil {
		return
	}
	if m.table.marks[e.ID()] {
		delete(m.table.marks, e.ID())
	} else {
		m.table.marks[e.ID()] = true
	}
	m.selectRow(m.table.index + 1)
}

func (m *Model) setSort(s sorting) {
	m.table.sort = s
	m.table.refresh(m.shown, m.asOf())
	direction := ""
	if s.reverse {
		direction = ", reversed"
	}
	m.say(term.Quiet, "Sorted by "+s.key.word()+direction+".")
}

// zoomKey handles the keys of the pane while it takes the whole screen.
func (m *Model) zoomKey(msg tea.KeyPressMsg) {
	switch {
	case key.Matches(msg, m.keys.PaneDown):
		m.scrollPane(1)
		return
	case key.Matches(msg, m.keys.PaneUp):
		m.scrollPane(-1)
		return
	}
	h := m.where().pane.H - 1
	if step, ok := m.keys.Step(msg, max(1, h), 1<<20); ok {
		m.scrollPane(step)
	}
}

func (m *Model) scrollPane(step int) {
	e := m.table.selected()
	sc := m.where()
	if e == nil || sc.pane.H < 2 {
		return
	}
	total := len(m.pane.lines(m.scene(), m.sym, e, sc.pane.W-2))
	m.pane.scroll(step, total, sc.pane.H-1)
}

// eventsKey handles the keys of the events view.
func (m *Model) eventsKey(msg tea.KeyPressMsg) {
	v := m.events
	rows := max(1, m.where().body.H-1)
	if step, ok := m.keys.Step(msg, rows, len(v.lines)); ok {
		v.moveTo(v.index + step)
		return
	}
	if ev := v.selected(); key.Matches(msg, m.keys.Open) && ev != nil {
		m.openElection(ev.ElectionID())
	}
}

// openElection shows an election in the first view, even if the filter there
// hides it.
func (m *Model) openElection(id string) {
	if m.shown.Find(id) == nil {
		m.say(term.Delay, "That election is not on the board.")
		return
	}
	m.show(viewElections)
	m.table.cursor = id
	m.table.relocate()
	if m.table.cursor != id {
		m.table.cursor = id
		m.setFilter("")
	}
	m.pane.offset = 0
}
