package ui

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/kit"
	"electop/ui/pages"
	"electop/ui/past"
	"electop/ui/scene"
)

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
	case viewSessions:
		return m.refuse(scene.Covered + ".") // a report is about elections
	default:
	}
	at, invalid := past.Moment(":report", since, m.now.Add(-reportPeriod), m.now)
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
	var summary string
	m.report = kit.Read(m.ctx, reportTime, func(ctx context.Context) (file string, err error) {
		file, summary, err = m.opts.Backend.Report(ctx, a.Of, a.Since)
		return file, err
	}, func(file string, err error) tea.Cmd {
		if err != nil {
			return m.say(kit.Bad, "The report was not written: "+scene.Clean(err.Error()))
		}
		return tea.Batch(m.copyText("summary", summary), m.say(kit.Led, "Copied the summary, and wrote "+scene.Clean(file)))
	})
	m.say(kit.Quiet, "Writing a report about "+kit.Plural(len(a.Of), "election")+" since "+m.scene.Clock(a.Since)+".")
	return m.report.Start()
}

// back undoes one step.
func (m *Model) back(string) tea.Cmd {
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
		case m.view == viewEvents && filter == "":
			return m.refuse(scene.Covered + ", or use :" + string(kind) + " FILTER.")
		case m.view == viewSessions && (kind == election.ActionDestroy || filter == ""): // sessions cannot be released
			return m.send(m.sessions, c)
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
