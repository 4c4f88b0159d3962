// Package board is the table of elections.
package board

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/election/query"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Model is the table of elections.
type Model struct {
	scene.List[*election.Election]
	totals
	// Window is the period that the lanes show.
	Window time.Duration
	// nodes contains up to mostNodes nodes of each datacenter's leaders, each once. Nodes of listed elections come first.
	// electop watches their checks, so that the header, the sort order and the key for the next problem include invisible
	// rows. The key is empty if the board shows only one datacenter.
	nodes      map[string][]string
	used       bool          // the user has used the keyboard or the mouse
	match      query.Matcher // produced the rows
	leaderless int           // number of rows without a leader, except idle ones
	chosen     []string      // names of the configured columns, in their order
}

// New returns a table with the named columns, or with all columns if there are no names. It is empty until the first
// [scene.Changed].
func New(k keys.Map, columns ...string) *Model {
	m := &Model{chosen: columns, Window: 15 * time.Minute}
	m.List = scene.List[*election.Election]{
		ListState: scene.ListState{Keys: k, Scope: query.Elections, Sorts: query.OrderKeys()}, Refresh: m.refresh, Select: m.matching,
		ID: func(e *election.Election) string { return string(e.ID()) },
	}
	return m
}

// Update handles a message, then scrolls the cursor into view.
func (m *Model) Update(msg tea.Msg, s *scene.Scene) scene.Action {
	switch msg.(type) {
	case tea.KeyPressMsg, scene.Wheeled, scene.Clicked, scene.GoTo:
		m.used = true
	}
	action := m.update(msg, s)
	rows := m.Rect.H - 1
	if rows < len(m.Rows) && rows >= 3 {
		rows-- // for the line about hidden rows
	}
	m.Scroll(rows)
	return action
}

func (m *Model) update(msg tea.Msg, s *scene.Scene) scene.Action {
	k := &m.Keys
	switch msg := msg.(type) {
	case scene.Changed:
		m.changed(msg.Before, s)
		return nil
	case scene.Choose:
		return m.choose(msg, s)
	case scene.GoTo:
		return m.goTo(msg, s)
	case tea.KeyPressMsg:
		switch {
		case key.Matches(msg, k.NextProblem):
			return m.jump(1, s)
		case key.Matches(msg, k.PrevProblem):
			return m.jump(-1, s)
		case key.Matches(msg, k.Open) && m.Selected() != nil:
			return scene.Zoom{}
		case key.Matches(msg, k.ShorterLane):
			m.zoomLanes(-1)
		case key.Matches(msg, k.LongerLane):
			m.zoomLanes(1)
		}
	}
	return m.Handle(msg, s)
}

// jump moves the cursor to the next election with a problem. step is 1 for down and -1 for up.
func (m *Model) jump(step int, s *scene.Scene) scene.Action {
	n := len(m.Rows)
	for k := 1; k <= n; k++ {
		i := ((m.Index+step*k)%n + n) % n
		if facts(s).ProblemRank(m.Rows[i]) < query.NoProblem {
			m.MoveTo(i)
			return nil
		}
	}
	return scene.Say{Role: kit.Led, Text: "No election has a problem."}
}

// changed applies a new snapshot or a new time. It sorts only if this can change the order: in most snapshots, only the
// latency is new.
func (m *Model) changed(before, s *scene.Scene) {
	unsearched := m.Counts.Of[scene.StateUnsearched] > 0
	same := election.SameSlice(before.Shown.Elections, s.Shown.Elections) &&
		slices.EqualFunc(before.Shown.Datacenters(), s.Shown.Datacenters(), func(a, b *election.Snapshot) bool {
			return a.Connection.State == b.Connection.State && maps.EqualFunc(a.Checks, b.Checks, election.NodeChecks.Same)
		})
	if !same || m.Counts.Of[scene.StateLockDelay] > 0 || m.order().Key == query.ByChanges || m.Filter.DependsOnTime() {
		m.totals = computeTotals(s)
		m.refresh(s)
	}
	loaded := !before.Shown.Loaded && s.Shown.Loaded
	recalled := before.Shown.RecordedUntil.IsZero() && !s.Shown.RecordedUntil.IsZero()
	searched := unsearched && m.Counts.Of[scene.StateUnsearched] == 0
	if m.used {
		return
	}
	if loaded { // elections that were read after the selected one may be above it
		m.MoveTo(0)
	}
	if (loaded || recalled || searched) && m.Index == 0 { // the first screen shows the details of a problem
		m.MoveTo(slices.IndexFunc(m.Rows, func(e *election.Election) bool { return leaderless(e, s) }))
	}
}

// totals summarises all elections: counts by state and text widths.
type totals struct {
	Counts       scene.Counts
	widths       extent
	recordsNodes bool // a store records nodes and checks
}

func computeTotals(s *scene.Scene) (c totals) {
	for _, part := range s.Live.Datacenters() {
		c.recordsNodes = c.recordsNodes || !part.Store.Leases
	}
	for _, part := range s.Shown.Datacenters() {
		c.add(part, s)
	}
	for _, name := range s.Datacenters {
		c.widths.datacenter = max(2, c.widths.datacenter, kit.Width(scene.Clean(name)))
	}
	const sample = 100 // decoding every JSON value is expensive
	for _, e := range s.Shown.Elections[:min(sample, len(s.Shown.Elections))] {
		leader, _ := latestLeader(e)
		c.widths.address = max(c.widths.address, kit.Width(valueAddress(e.Pair.Value, leader)))
	}
	return c
}

// add adds the elections of one datacenter.
func (c *totals) add(snap *election.Snapshot, s *scene.Scene) {
	failing := map[string]bool{}
	for node, known := range snap.Checks {
		failing[node] = known.Current() && slices.ContainsFunc(known.Checks, func(c election.Check) bool { return c.Status != election.StatusPassing })
	}
	for _, e := range snap.Elections {
		state := s.StateOf(e)
		c.Counts.Of[state]++
		if state == scene.StateLed && e.Session != nil && failing[e.Session.Node] {
			switch checks := insight.TallyChecks(e.Session, snap.Checks); {
			case insight.FailureOf(e, snap.Checks) != nil:
				c.Counts.Failed++
			case checks.Critical > 0:
				c.Counts.Critical++
			case checks.Warning > 0:
				c.Counts.Warning++
			}
		}
		c.widths.measure(e)
	}
}

func (m *Model) order() query.Order {
	return query.Order{Key: query.OrderKey(m.By), Reverse: m.Reverse} //nolint:gosec // the list of keys is short
}

// facts returns the inputs of the sort order, except for the elections.
func facts(s *scene.Scene) query.Facts { return query.Facts{At: s.AsOf, Checks: s.Shown.ChecksOf} }

// refresh filters and sorts the elections.
func (m *Model) refresh(s *scene.Scene) {
	m.match = m.Filter.After(m.match, s.Shown.Elections, scene.Sessions(s.Shown), facts(s))
	rows := m.match.Select(s.Shown.Elections)
	// The sort order and a filter by advice depend on the checks of these nodes, so the selection must not depend on the
	// sort order, and includes nodes of hidden elections.
	m.nodes = firstNodes(len(s.Datacenters) > 0, rows, s.Shown.Elections)
	m.order().Sort(rows, facts(s))
	m.leaderless = 0
	for _, e := range rows {
		if leaderless(e, s) {
			m.leaderless++
		}
	}
	m.Unmark(func(id string) bool { return s.Live.Find(election.ID(id)) == nil })
	m.Set(rows)
}

// leaderless reports whether an election is vacant, with or without a lock-delay. It is false for idle elections.
func leaderless(e *election.Election, s *scene.Scene) bool {
	state := s.StateOf(e)
	return state == scene.StateVacant || state == scene.StateLockDelay
}

func (m *Model) goTo(to scene.GoTo, s *scene.Scene) scene.Action {
	e := s.Shown.Find(election.ID(to.ID))
	switch {
	case e == nil && to.Reveal:
		return scene.Refuse("This election is not on the board.")
	case e == nil, m.GoTo(string(e.ID())), !to.Reveal:
		return nil
	}
	m.SetFilter("", s)
	m.GoTo(string(e.ID()))
	return nil
}

// Listed returns the elections that match the filter. It returns nil if there is no filter.
func (m *Model) Listed() []*election.Election {
	if len(m.Filter.Words) == 0 {
		return nil
	}
	return append([]*election.Election{}, m.Rows...)
}

// Near returns the elections on the screen, and those of one screen above and below it.
func (m *Model) Near() []*election.Election {
	from := min(max(0, m.Offset-m.Height), len(m.Rows))
	return m.Rows[from:min(len(m.Rows), m.Offset+2*m.Height)]
}

// NameWidth returns the width of the longest name, in cells.
func (m *Model) NameWidth() int { return m.widths.name }

// Result describes how many elections match the filter.
func (m *Model) Result(s *scene.Scene) string {
	return strconv.Itoa(len(m.Rows)) + " of " + kit.Plural(len(s.Shown.Elections), "election")
}

// View draws the headings and the rows that fit.
func (m *Model) View(s *scene.Scene, p *kit.Painter) []string {
	r, table := m.Rect, m.table(s).Fit(m.Rect.W)
	lines := []string{table.Head(p, r.W, m.Sorts, m.Sorts[m.By], m.order().Up())}
	tone := func(e *election.Election) kit.Tone {
		if s.Of(e).PartStale() {
			return kit.Stale
		}
		return p.Tone
	}
	lines = append(lines, m.Draw(p, tone, func(l *kit.Line, e *election.Election) {
		one := describe(e, s.Of(e))
		if l.Marked {
			one.name.Role = kit.Accent
		}
		table.Row(l, &one)
	})...)
	switch rows := m.Height; {
	case rows < len(m.Rows) && rows == r.H-2:
		lines = append(lines, m.hiddenRows(s, p))
	case len(m.Rows) == 0 && r.H > 3:
		lines = append(lines, p.Draw(r.W), p.Draw(r.W, kit.Quiet.Span(" No election matches the filter. Esc clears the filter.")))
	}
	return p.Pad(lines, r.W, r.H)
}

// hiddenRows shows the number of rows above and below the screen, and how many of them have no leader.
func (m *Model) hiddenRows(s *scene.Scene, p *kit.Painter) string {
	hidden := m.leaderless
	for _, e := range m.Visible() {
		if leaderless(e, s) {
			hidden--
		}
	}
	spans := kit.Quiet.Spans(fmt.Sprintf(" %s %d above  %s %d below   ", p.Sym.Up, m.Offset, p.Sym.Down, m.Below()))
	if hidden > 0 {
		spans = append(spans, kit.Vacant.Span(p.Sym.Vacant+" "+strconv.Itoa(hidden)+" more vacant   "),
			kit.Key.Span(m.Keys.NextProblem.Help().Key), kit.Quiet.Span(" next problem"))
	}
	return p.Draw(m.Rect.W, spans...)
}

// choose requests an action on elections with a leader.
func (m *Model) choose(c scene.Choose, s *scene.Scene) scene.Action {
	unread := ""
	action := m.Choose(c, "election with a leader", s, func(e *election.Election) (scene.Target, string) {
		if e.Recorded() {
			unread = scene.Short(e.Name)
		}
		return s.Bind(e), notLed(c.Kind, e, s)
	})
	if _, asks := action.(scene.Ask); asks && unread != "" {
		return scene.Refuse("Unavailable until " + unread + " is read: this data is from the history.")
	}
	return action
}

func (m *Model) matching(f query.Filter, s *scene.Scene) []*election.Election {
	all := f.On(s.Shown.Elections, scene.Sessions(s.Shown), facts(s)).Select(s.Shown.Elections)
	slices.SortFunc(all, election.Compare)
	return all
}

// notLed explains why an election cannot be a target. It returns "" if the election has a leader.
func notLed(kind election.ActionKind, e *election.Election, s *scene.Scene) string {
	name := scene.Short(e.Name)
	switch s.StateOf(e) {
	case scene.StateLed:
		return ""
	case scene.StateUnreadable:
		return "This token cannot read " + name + ": its session is unknown, so electop cannot " + string(kind) + " it."
	case scene.StateSemaphore:
		return name + " is a semaphore, which can have several holders: destroy one of its sessions in view 3."
	default:
		return name + " has no leader: there is nothing to " + string(kind) + "."
	}
}
