// Package board is the table of elections: its rows, their order, the cursor and the marks.
package board

import (
	"maps"
	"slices"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/query"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Model is the table of elections. The cursor and the marks follow elections, not rows.
type Model struct {
	keys   keys.Map
	rect   kit.Rect
	totals totals
	// window is the default period of the lanes. zoom is the period that the user selected; if set, it overrides
	// window.
	window, zoom time.Duration

	at     scene.Cursor
	order  []*election.Election // the elections that match the filter, sorted
	vacant []int                // the rows, as indexes into order, whose elections have no leader
	nodes  map[string][]string  // see [Model.Nodes]
	cursor election.ID          // the ID of the election under the cursor
	marks  map[election.ID]bool
	used   bool // the user has used the keyboard or the mouse
	// between is the unfinished range of marks. It is nil if there is none.
	between *markRange
	filter  query.Filter
	// match is the matcher that produced order.
	match query.Matcher
	sort  query.Order
	wide  bool
	// chosen lists the configured columns in their order.
	chosen []columnID
}

// New returns a table with the named columns, or with all columns if there are no names. It is empty until the first
// [scene.Changed].
func New(k keys.Map, columns ...string) Model {
	return Model{keys: k, chosen: chooseIDs(columns)}
}

// Update handles a message, then scrolls the cursor into view.
func (m Model) Update(msg tea.Msg, s *scene.Scene) (Model, scene.Action) {
	action := m.update(msg, s)
	switch msg.(type) {
	case tea.KeyPressMsg, scene.Moved, scene.Wheeled, scene.Clicked, scene.GoTo: // only a cursor movement by the user changes a range
		m.used = true
		m.stretch()
	}
	m.at.Scroll(m.rows(m.rect.H), len(m.order))
	return m, action
}

func (m *Model) update(msg tea.Msg, s *scene.Scene) scene.Action {
	switch msg := msg.(type) {
	case scene.Resized:
		m.rect = msg.Rect
	case scene.Changed:
		m.changed(msg.Before, s)
	case scene.Filtered:
		m.setFilter(msg.Text, s)
	case scene.Moved:
		m.moveTo(m.at.Index + msg.Step)
	case scene.Wheeled:
		m.moveTo(m.at.Index + msg.Step)
	case scene.Clicked:
		return m.clicked(msg, s)
	case scene.SortBy:
		return m.sortBy(msg, s)
	case scene.Widen:
		m.wide = !m.wide
	case scene.GoTo:
		return m.goTo(msg, s)
	case scene.Choose:
		return m.choose(msg, s)
	case scene.Unmark:
		m.unmark(msg.Targets)
	case scene.Back:
		return m.back(s)
	case tea.KeyPressMsg:
		return m.pressed(msg, s)
	}
	return nil
}

// changed applies a new snapshot or a new time. It sorts only if this can change the order: in most snapshots, only the
// latency is new.
func (m *Model) changed(before, s *scene.Scene) {
	unsearched := m.totals.counts.Unsearched > 0
	if !sameBoard(before.Shown, s.Shown) || m.movesByItself() {
		m.totals = computeTotals(s)
		m.refresh(s)
	}
	m.window = max(m.window, laneWindow(m.totals.seen(s.AsOf)))
	loaded := !before.Shown.Loaded && s.Shown.Loaded
	recalled := before.Shown.RecordedUntil.IsZero() && !s.Shown.RecordedUntil.IsZero()
	searched := unsearched && m.totals.counts.Unsearched == 0
	if m.used {
		return
	}
	if loaded { // elections that were read after the selected one may be above it
		m.moveTo(0)
	}
	if (loaded || recalled || searched) && m.at == (scene.Cursor{}) {
		m.showProblem(s)
	}
}

func sameBoard(a, b *election.Snapshot) bool {
	return scene.SameSlice(a.Elections, b.Elections) && slices.EqualFunc(a.Datacenters(), b.Datacenters(), sameState)
}

// sameState reports whether the connection state and the checks of one datacenter are equal in two snapshots.
func sameState(a, b *election.Snapshot) bool {
	return a.Connection.State == b.Connection.State && maps.EqualFunc(a.Checks, b.Checks, election.NodeChecks.Same)
}

// movesByItself reports whether the counts or the order can change without new data: a lock-delay can end, a change of
// the leader is counted for one hour, and a filter can depend on the time.
func (m *Model) movesByItself() bool {
	return m.totals.counts.Delay > 0 || m.sort.Key == query.ByChanges || m.filter.DependsOnTime()
}

// showProblem moves the cursor to the first election without a leader, so that the first
// screen shows its details without a key press.
func (m *Model) showProblem(s *scene.Scene) {
	i := slices.IndexFunc(m.order, func(e *election.Election) bool { return leaderless(e, s) })
	m.moveTo(max(m.at.Index, i))
}

func (m *Model) setFilter(text string, s *scene.Scene) {
	m.between = nil
	m.filter = query.Parse(text, query.Elections)
	m.refresh(s)
}

func (m *Model) goTo(to scene.GoTo, s *scene.Scene) scene.Action {
	e := s.Shown.Find(election.ID(to.ID))
	if e == nil {
		if to.Reveal {
			return scene.Say{Role: kit.Delay, Text: "This election is not on the board."}
		}
		return nil
	}
	m.cursor = e.ID()
	m.relocate()
	if m.cursor != e.ID() && to.Reveal {
		m.cursor = e.ID()
		m.setFilter("", s)
	}
	return nil
}

func (m *Model) back(s *scene.Scene) scene.Action {
	switch {
	case m.between != nil:
		m.dropRange()
		return endOfRange()
	case !m.filter.Empty():
		m.setFilter("", s)
	case len(m.marks) > 0:
		m.marks = nil
	default:
		return scene.Pass{}
	}
	return nil
}

// Listed returns the elections that match the filter. It returns nil if there is no filter.
func (m Model) Listed() []*election.Election {
	if len(m.filter.Words) == 0 {
		return nil
	}
	return append([]*election.Election{}, m.order...)
}

// Selected returns the election under the cursor, or nil if there is none.
func (m Model) Selected() *election.Election { return scene.At(m.at, m.order) }

// Visible returns the elections on the screen.
func (m Model) Visible() []*election.Election { return m.visible(m.rows(m.rect.H)) }

// Near returns the elections on the screen, and those of one screen above and below it.
func (m Model) Near() []*election.Election {
	rows := m.rows(m.rect.H)
	from := min(max(0, m.at.Offset-rows), len(m.order))
	return m.order[from:min(len(m.order), m.at.Offset+2*max(0, rows))]
}

// Counts returns the counts of all elections, regardless of the filter.
func (m Model) Counts() scene.Counts { return m.totals.counts }

// Nodes returns up to mostNodes nodes of a datacenter's leaders, each once. Nodes of listed elections come first.
// electop watches their checks, so that the header, the sort order and the key for the next problem include invisible
// rows. datacenter is empty if the board shows only one datacenter.
func (m Model) Nodes(datacenter string) []string { return m.nodes[datacenter] }

// NameWidth returns the width of the longest name, in cells.
func (m Model) NameWidth() int { return m.totals.widths.name }

// Filter returns the current filter.
func (m Model) Filter() query.Filter { return m.filter }

// Result describes how many elections match the filter.
func (m Model) Result(s *scene.Scene) string {
	return strconv.Itoa(len(m.order)) + " of " + kit.Plural(len(s.Shown.Elections), "election")
}

// Cursor returns the ID of the selected election. It is empty if there is none.
func (m Model) Cursor() string { return string(m.cursor) }

// Wide reports whether the table uses the full width of the screen.
func (m Model) Wide() bool { return m.wide }

// Marks returns the number of marked elections that match the filter, and the number of those that do not.
func (m Model) Marks(s *scene.Scene) (visible, hidden int) {
	shown, out := m.marked(s)
	return len(shown), len(out)
}
