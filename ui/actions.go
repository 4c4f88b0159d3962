package ui

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/internal/history"
	"electop/ui/kit"
	"electop/ui/pages"
	"electop/ui/past"
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
	case scene.Probed:
		m.insights.Probed, m.insights.LockDelay, m.insights.In = a.Election, insight.LockFree, nil
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
		return tea.Batch(election.Map(a, m.do)...)
	}
	return nil
}

// ask opens the dialog about an action.
func (m *Model) ask(a scene.Ask) tea.Cmd {
	if reason := m.scene.AskRefusal(a); reason != "" {
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
	m.unsay() // the note is about the previous moment
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

// openDrain shows the drain in progress, or the plan for the given nodes or the selected one, whose name may contain spaces.
func (m *Model) openDrain(text string) tea.Cmd {
	nodes := strings.Fields(text)
	if t := m.selectedTarget(); t != nil && t.Node != "" && len(nodes) == 0 {
		nodes = []string{t.Node}
	}
	return m.do(m.log.Drain(m.selectedDatacenter(), nodes...))
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

func (m *Model) sort(order string) tea.Cmd {
	if m.view == viewEvents {
		return m.refuse("Events are sorted by time.")
	}
	return m.toView(scene.SortBy{Text: order})
}

const (
	// reportPeriod is the default period of a report.
	reportPeriod = 24 * time.Hour
	// reportTime is the timeout of a report.
	reportTime = time.Minute
)

// startReport writes a report about the marked elections, the selected one or those of the listed events.
func (m *Model) startReport(since string) tea.Cmd {
	switch m.view {
	case viewEvents:
		return m.do(m.events.Report(since, m.scene))
	case viewElections:
	default:
		return m.refuse(scene.Covered + ".") // a report is about elections
	}
	at, invalid := past.Moment(":report", since, m.scene.AsOf.Add(-reportPeriod), m.scene.AsOf)
	rows, _ := m.board.Marked()
	if e := m.scene.Selected; e != nil && len(rows) == 0 {
		rows = []*election.Election{e}
	}
	report := scene.WriteReport{Since: at}
	for _, e := range rows {
		report.Of = append(report.Of, scene.Subject{Datacenter: e.Datacenter, Key: e.Key()})
	}
	switch {
	case invalid != nil:
		return m.do(invalid)
	case rows == nil:
		return m.refuse("No report: no election is selected.")
	}
	return m.writeReport(report)
}

// writeReport writes an incident report, one at a time.
func (m *Model) writeReport(a scene.WriteReport) tea.Cmd {
	switch {
	case m.opts.History == nil:
		return m.refuse("Writing a report requires a history (--history).")
	case m.report.Running():
		return m.refuse("No report: another report is still in progress.")
	}
	period := history.Range{Since: a.Since, Until: m.now}
	if m.past != nil { // with the events of the moment shown
		period.Until = scene.Earlier(m.now, m.past.At.Add(time.Minute))
	}
	m.report = kit.Read(m.ctx, reportTime, func(ctx context.Context) kit.Apply {
		file, summary, err := m.opts.Backend.Report(ctx, a.Of, period)
		return func() tea.Cmd {
			if err != nil {
				return m.say(kit.Bad, "The report was not written: "+scene.Clean(err.Error()))
			}
			return tea.Batch(tea.SetClipboard(summary), m.say(kit.Led, "Copied the summary, and wrote "+scene.Clean(file)+", "+election.Between(period.Since, period.Until, m.now)))
		}
	})
	m.say(kit.Quiet, "Writing a report about "+kit.Plural(len(a.Of), "election")+".")
	return m.report.Start()
}

// back undoes one step.
func (m *Model) back(string) tea.Cmd {
	m.unsay() // the note may refuse what this step makes possible
	switch {
	case m.past != nil || m.travel.Busy():
		return m.travel.Leave()
	case m.zoom:
		m.zoom = false
		return m.send(m.detail, scene.Back{})
	}
	return m.toView(scene.Back{})
}

// since shows the events since a moment that the user typed; "" and "all" show all events.
func (m *Model) since(text string) tea.Cmd {
	if text == "all" {
		text = ""
	}
	at, invalid := past.Moment(":since", text, time.Time{}, m.now)
	if invalid != nil {
		return m.do(invalid)
	}
	return tea.Batch(m.show(viewEvents), m.send(m.events, scene.Since{At: at}))
}

// discover searches the store of the selected datacenter for locks.
func (m *Model) discover(string) tea.Cmd {
	datacenter := m.selectedDatacenter()
	return m.cover(pages.Locks(m.ctx, m.opts.Backend.Discover, datacenter, m.scene.Where(datacenter)))
}

// choose returns the function that requests an action on the rows that match a filter. Without a filter, it requests
// the action on the chosen rows, or shows a note if another view hides them.
func (m *Model) choose(kind election.ActionKind) run {
	return func(filter string) tea.Cmd {
		c := scene.Choose{Kind: kind, Filter: filter}
		switch {
		case m.view == viewSessions && (kind == election.ActionDestroy || filter == ""): // sessions cannot be released
			return m.send(m.sessions, c)
		case m.view != viewElections && filter == "":
			return m.refuse(scene.Covered + ", or use :" + string(kind) + " FILTER.")
		}
		return m.send(m.board, c)
	}
}

// showHistory shows the history page of the selected election in the whole window.
func (m *Model) showHistory(string) tea.Cmd {
	if m.scene.Selected == nil {
		return m.refuse("No election is selected: there is no history to show.")
	}
	cmd := m.show(viewElections)
	m.zoom = true
	m.detail.OpenHistory()
	return cmd
}

func (m *Model) setTheme(name string) tea.Cmd {
	if !slices.Contains(kit.Themes(), name) {
		problem := "Usage: :theme NAME."
		if name != "" {
			problem = "Unknown theme " + scene.Short(name) + "."
		}
		return m.refuse(problem + " Themes: " + strings.Join(kit.Themes(), ", ") + ".")
	}
	m.theme = name
	m.restyle()
	return m.say(kit.Led, "Theme "+name+".")
}

func (m *Model) goTo(name string) tea.Cmd {
	found, text := m.scene.Shown.Named(name), scene.Short(name)
	switch {
	case len(found) == 0:
		return m.refuse("No election is named " + text + ".")
	case len(found) == 1:
		return m.showElection(string(found[0].ID()))
	case m.scene.Several() && found[0].Key() == found[1].Key():
		return m.refuse(text + " exists in several datacenters: use the filter election:" + text + ", then select a row.")
	}
	return m.refuse(text + " is ambiguous (" + kit.Plural(len(found), "election") + "): use the full key.")
}

func (m *Model) watch(texts []string) tea.Cmd {
	now := slices.Clone(m.Patterns)
	for _, text := range texts {
		p, err := election.ParsePattern(text)
		if err != nil {
			return m.refuse(scene.Clean(err.Error()))
		}
		now = election.Union(now, p.String())
	}
	if len(now) == len(m.Patterns) {
		return m.say(kit.Quiet, "Already watched: "+scene.Clean(strings.Join(now, ", ")))
	}
	return m.setPatterns(now)
}

func (m *Model) unwatch(text string) tea.Cmd {
	p, err := election.ParsePattern(text)
	left := election.Without(m.Patterns, func(text string) bool { return text == p.String() })
	switch {
	case err != nil || len(left) == len(m.Patterns):
		return m.refuse("Not a watched pattern. Watched: " + scene.Clean(strings.Join(m.Patterns, ", ")))
	case !slices.ContainsFunc(left, func(text string) bool { return !strings.HasPrefix(text, "!") }):
		return m.refuse("This is the only pattern that selects keys; add another pattern with :watch PATTERN first.")
	}
	return m.setPatterns(left)
}

// setPatterns replaces the watched patterns, which have been parsed before.
func (m *Model) setPatterns(texts []string) tea.Cmd {
	ps, _ := election.ParsePatterns(texts)
	m.Patterns = ps.Strings()
	m.opts.Backend.SetPatterns(ps)
	return m.say(kit.Led, "Watching "+scene.Clean(strings.Join(m.Patterns, ", ")))
}
