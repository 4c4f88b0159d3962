package ui

import (
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/internal/dialog"
	"electop/ui/internal/results"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// Update takes a message: what the terminal says of itself, then data, then
// what the user does.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.update(msg)
	overlay := m.resizeComponents()
	m.tellWatched()
	m.tellStudied()
	return m, tea.Batch(cmd, m.askRights(), overlay)
}

func (m *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resized(msg.Width, msg.Height)
	case tea.BackgroundColorMsg:
		m.dark = msg.IsDark()
		m.styles = term.NewStyles(m.dark, m.profile)
	case tea.ColorProfileMsg:
		m.profile = msg.String()
		m.styles = term.NewStyles(m.dark, m.profile)
	case tea.ResumeMsg:
		m.refresh()
	case interludeMsg:
		return m.giveTerminal(msg)
	case interludeOverMsg:
		m.refresh()
		return m.interlude
	case tickMsg:
		m.ticked()
		return m.tick()
	case snapshotMsg:
		m.received(msg.snap)
		return m.wait
	case results.Answered:
		m.toLog(msg)
		m.refreshView()
	case rightsMsg:
		m.rights.learned(msg, m.opts.Now())
		m.toDialog(m.changed())
	case scene.Searched, scene.SearchTick:
		return tea.Batch(m.toDialog(msg), m.toSessions(msg))
	case dialog.Surveyed, dialog.Noticed:
		return m.toDialog(msg)
	case tea.PasteMsg:
		m.pasted(msg.Content)
	case tea.KeyPressMsg:
		return m.pressed(msg)
	case tea.MouseClickMsg:
		m.clicked(msg.Mouse())
	case tea.MouseWheelMsg:
		m.wheeled(msg.Mouse())
	}
	return nil
}

// received takes a snapshot. It becomes the board at once unless that is
// paused; dialogs and waiting actions look at the newest in any case.
func (m *Model) received(snap *election.Snapshot) {
	m.now = m.opts.Now()
	first := !m.shown.Loaded && snap.Loaded
	m.live = snap
	if m.latency == 0 {
		m.latency = snap.Connection.Latency
	}
	if !m.paused {
		top := m.historyTop()
		same := sameBoard(m.shown, snap) && !m.movesByItself()
		m.shown = snap
		if !same {
			m.refreshBoard()
		}
		m.refreshView()
		m.keepHistoryTop(top)
		if first && m.table.offset == 0 && m.table.index == 0 {
			m.showTrouble()
		}
	}
	m.toDialog(m.changed())
	if m.log.Waiting() {
		m.toLog(m.changed())
		m.refreshView()
	}
}

// showTrouble puts the cursor on the first election without a leader, so that
// the first screen tells about it without a key.
func (m *Model) showTrouble() {
	for i, e := range m.table.order {
		if st := scene.StandingOf(e, m.asOf()); st == scene.StandsVacant || st == scene.StandsDelay {
			m.table.moveTo(i)
			return
		}
	}
}

// refresh derives everything from the shown snapshot.
func (m *Model) refresh() {
	m.refreshBoard()
	m.refreshView()
}

// refreshBoard derives what the first view shows as of now.
func (m *Model) refreshBoard() {
	m.census = takeCensus(m.shown, m.asOf())
	m.table.measure(&m.census, m.asOf())
	m.table.refresh(m.shown, m.asOf())
}

// sameBoard reports that a snapshot tells nothing new of elections and checks, as
// one does that brings the latency of the link.
func sameBoard(a, b *election.Snapshot) bool {
	return scene.SameSlice(a.Elections, b.Elections) && a.Connection.State == b.Connection.State &&
		maps.EqualFunc(a.Checks, b.Checks, func(x, y election.NodeChecks) bool {
			return x.At.Equal(y.At) && x.Until.Equal(y.Until) && x.Err == y.Err
		})
}

// movesByItself reports that time alone may change counts or order: lock-delays
// end, and changes become too old to count.
func (m *Model) movesByItself() bool {
	return m.census.counts.Delay > 0 || m.table.sort.key == byChanges
}

// refreshView derives anew what views other than the first one show.
func (m *Model) refreshView() {
	switch m.view {
	case viewEvents:
		m.events.refresh(m.shown, m.scene().Actions)
	case viewSessions:
		m.toSessions(m.changed())
	default:
	}
}

func (m *Model) ticked() {
	m.now, m.latency = m.opts.Now(), m.live.Connection.Latency
	m.table.measure(&m.census, m.asOf())
	if m.movesByItself() {
		m.refreshBoard()
	}
	if m.log.Waiting() {
		m.toLog(m.changed())
		m.refreshView()
	}
}

// setPaused freezes the board or lets it go on with the newest snapshot.
func (m *Model) setPaused(on bool) {
	if on == m.paused {
		return
	}
	m.pausedAt = m.asOf()
	m.paused = on
	if !on {
		m.shown = m.live
		m.refresh()
	}
}

// where is the layout of the screen as it is now.
func (m *Model) where() screen { return m.screen(len(m.banners(m.scene()))) }

// tellWatched tells which nodes' checks are worth watching, when that changed.
func (m *Model) tellWatched() {
	if m.opts.WatchChecks == nil || m.width == 0 {
		return
	}
	var nodes []string
	add := func(e *election.Election) {
		if e != nil && e.Session != nil && e.Pair.Held() && len(e.Session.NodeChecks)+len(e.Session.ServiceChecks) > 0 {
			nodes = append(nodes, e.Session.Node)
		}
	}
	if r := m.sessions.Selected(); m.view == viewSessions && m.sessions.Open() && r != nil {
		nodes = append(nodes, r.Node)
	} else {
		add(m.table.selected())
	}
	if m.view == viewElections && !m.pane.zoom {
		rows := m.table.rows(m.where().table.H)
		m.table.scroll(rows)
		for _, e := range m.table.visible(rows) {
			add(e)
		}
	}
	nodes = distinct(nodes)
	if all := strings.Join(nodes, "\x00"); all != m.watched {
		m.watched = all
		m.opts.WatchChecks(nodes)
	}
}

// distinct keeps the first of each, in order: what is watched is bounded, and
// the selected election's node must be within.
func distinct(nodes []string) []string {
	seen := make(map[string]bool, len(nodes))
	return slices.DeleteFunc(nodes, func(node string) bool {
		again := seen[node]
		seen[node] = true
		return again
	})
}

// tellStudied tells whose surroundings are wanted and whether the sessions are,
// when that changed.
func (m *Model) tellStudied() {
	if key := m.studyKey(); m.opts.Study != nil && key != m.studied {
		m.studied = key
		m.opts.Study(key)
	}
	if on := m.view == viewSessions; m.opts.WatchSessions != nil && on != m.listing {
		m.listing = on
		m.opts.WatchSessions(on)
	}
}

// studyKey is the election that is looked at.
func (m *Model) studyKey() string {
	if e := m.table.selected(); e != nil && m.view == viewElections {
		return e.Key()
	}
	return ""
}

func (m *Model) pasted(text string) {
	if m.mode == modePrompt && !tooSmall(m.width, m.height) {
		m.edit(func(in *term.Input) { in.Insert(text) })
	}
}
