// Package events is the view of all events, and the strip of the latest ones.
package events

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/query"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/past"
	"electop/ui/scene"
)

// Model is the view of all events, newest first. It joins the live events of the snapshot with recorded events, and
// reads older recorded events page by page.
type Model struct {
	list   kit.List[scene.EventLine]
	keys   keys.Map
	rect   kit.Rect
	filter query.Filter
	// watched selects the keys of the board. Live and recorded events of other keys are not listed.
	watched scene.Watched
	// names is the width of the names of elections, in cells.
	names int
	// follow keeps the cursor on the newest event. target is the event to which the cursor returns when it is read
	// again. opened is set at the first [scene.Opened]; before that, the view does not read the history.
	follow, opened bool
	target         *election.Event
	// since is the time of the oldest event to list. moment is the displayed moment, which is zero for the present.
	since, moment time.Time
	stored        stored
}

// New returns a view that stays empty until the first [scene.Opened] or [scene.Changed].
func New(k keys.Map, r past.Reader) *Model {
	m := &Model{keys: k, follow: true, stored: stored{past: r, outdated: true}}
	m.list.ID = func(scene.EventLine) string { return "" } // the view finds the event of the cursor itself
	return m
}

// Filter returns the current filter.
func (m *Model) Filter() query.Filter { return m.filter }

// Result returns the number of events that match the filter.
func (m *Model) Result(*scene.Scene) string {
	n := 0
	for _, l := range m.list.Rows {
		if l.Ev.Type != scene.UnobservedEvent {
			n++
		}
	}
	return m.count(n, "event")
}

// count formats a number of events or lines, with a plus sign if the history may contain more.
func (m *Model) count(n int, noun string) string {
	if w := &m.stored; !w.past.On() || w.end && !w.outdated {
		return kit.Plural(n, noun)
	}
	return strconv.Itoa(n) + "+ " + noun + "s"
}

// Marks returns zeros, because events cannot be marked.
func (m *Model) Marks(*scene.Scene) (visible, hidden int) { return 0, 0 }

// Cursor returns "", because the view does not restore the cursor after a filter.
func (m *Model) Cursor() string { return "" }

// Update handles a message, keeps the cursor visible and reads what the view needs next.
func (m *Model) Update(msg tea.Msg, s *scene.Scene) scene.Action {
	m.take(s)
	action := m.update(msg, s)
	if cmd := m.load(s); cmd != nil {
		action = scene.Join(action, scene.Run{Cmd: cmd})
	}
	rows := m.rect.H - 1
	if rows > 1 && len(m.status(s)) > 0 {
		rows--
	}
	m.list.Scroll(rows)
	return action
}

func (m *Model) update(msg tea.Msg, s *scene.Scene) scene.Action {
	switch msg := msg.(type) {
	case scene.Resized:
		m.rect = msg.Rect
	case scene.Opened:
		m.opened = true
		if !m.changed(s) && m.follow {
			m.stored.restart()
		}
		m.refresh(s)
	case scene.Changed:
		if !m.changed(s) && (msg.Before.Shown != s.Shown || !slices.EqualFunc(msg.Before.Actions, s.Actions, sameAction)) {
			m.refresh(s)
		}
	case scene.Filtered:
		if msg.Text != m.filter.Text {
			m.setFilter(msg.Text, s)
		}
	case scene.Since:
		m.since = msg.At
		m.newest(s)
	case scene.Report:
		return m.report(msg.Since, s)
	default:
		m.stored.pressed()
		return m.moved(msg, s)
	}
	return nil
}

func sameAction(a, b scene.EventLine) bool {
	return scene.SameEvent(a.Ev, b.Ev) && a.Ev.Evidence == b.Ev.Evidence
}

func (m *Model) moved(msg tea.Msg, s *scene.Scene) scene.Action {
	switch msg := msg.(type) {
	case scene.Moved:
		m.moveTo(m.list.Index + msg.Step)
	case scene.Wheeled:
		m.moveTo(m.list.Index + msg.Step)
	case scene.Clicked:
		m.moveTo(msg.Index)
	case scene.Back:
		switch {
		case !m.filter.Empty(): // the cursor stays on the event that was found
			m.follow = false
			m.setFilter("", s)
		case !m.since.IsZero():
			m.since = time.Time{}
			m.newest(s)
		default:
			return scene.Pass{}
		}
	case tea.KeyPressMsg:
		return m.pressed(msg, s)
	}
	return nil
}

func (m *Model) pressed(msg tea.KeyPressMsg, s *scene.Scene) scene.Action {
	if step, moves := m.keys.Step(msg, max(1, m.list.Height), len(m.list.Rows)); moves {
		m.moveTo(m.list.Index + step)
		return nil
	}
	switch {
	case key.Matches(msg, m.keys.Report):
		return m.report("", s)
	case m.selected() != nil && key.Matches(msg, m.keys.Open):
		return m.open(s)
	}
	return nil
}

// setFilter filters the lines in memory, and then reads the history again.
func (m *Model) setFilter(text string, s *scene.Scene) {
	m.filter = query.Parse(text, query.Events)
	m.selectAgain(s)
}

func (m *Model) selectAgain(s *scene.Scene) {
	w := &m.stored
	w.lines = slices.DeleteFunc(slices.Clone(w.lines), func(l scene.EventLine) bool { return !m.keepWatched(l) })
	w.restart()
	if !m.follow && w.past.On() {
		m.target = m.selected()
	}
	m.refresh(s)
}

// changed restarts the list if the displayed moment or the keys of the board have changed, and reports whether it did.
func (m *Model) changed(s *scene.Scene) bool {
	switch now := s.Watched(); {
	case !m.moment.Equal(s.Past.Moment()):
		m.moment, m.watched = s.Past.Moment(), now
		m.newest(s)
	case !now.Equal(m.watched):
		m.watched = now
		m.selectAgain(s)
	default:
		return false
	}
	return true
}

// newest begins the list again, with the cursor on the newest event.
func (m *Model) newest(s *scene.Scene) {
	m.stored.restart()
	m.stored.lines = nil
	m.moveTo(0)
	m.refresh(s)
}

// refresh rebuilds the lines. Unless the view follows the newest event, the cursor stays on its event and row. If the
// event is no longer listed, the cursor moves to the next older one.
func (m *Model) refresh(s *scene.Scene) {
	at, before := cmp.Or(m.target, m.selected()), m.list.Index
	m.list.Rows = m.join(s)
	m.names = max(m.names, nameWidth(m.list.Rows, s), s.NameWidth+datacenterWidth(s))
	if m.follow || at == nil {
		m.list.MoveTo(0)
		return
	}
	i := slices.IndexFunc(m.list.Rows, func(l scene.EventLine) bool { return scene.SameEvent(at, l.Ev) })
	if i < 0 {
		i = slices.IndexFunc(m.list.Rows, func(l scene.EventLine) bool { return !l.Ev.Time.After(at.Time) })
	}
	if i < 0 {
		i = len(m.list.Rows)
	}
	m.list.MoveTo(i)
	m.list.Offset += m.list.Index - before
}

func (m *Model) keep(l scene.EventLine) bool {
	return !l.Ev.Time.Before(m.since) && m.filter.MatchEvent(l.Ev, l.Why)
}

func (m *Model) keepWatched(l scene.EventLine) bool { return m.watched.ShowsEvent(l.Ev) && m.keep(l) }

// moveTo moves the cursor to a line. While the cursor is on the first line, the view follows the newest event.
func (m *Model) moveTo(i int) {
	m.list.MoveTo(i)
	m.follow, m.target = m.list.Index == 0, nil
}

// selected returns the event under the cursor, or nil if there is none.
func (m *Model) selected() *election.Event { return m.list.Selected().Ev }

// View draws the title and the lines that fit. If there is a status of the history, it is the last line.
func (m *Model) View(s *scene.Scene, p *kit.Painter) []string {
	r, rows := m.rect, m.list.Rows
	lines := append(make([]string, 0, r.H), m.title(s, p))
	// With a history, the column of times always has a date, so that columns do not move when a page is read.
	dated := m.stored.past.On() || len(rows) > 0 && !kit.IsToday(rows[len(rows)-1].Ev.Time, s.Now)
	lines = append(lines, m.list.Draw(p, r.W, func(scene.EventLine) kit.Tone { return p.Tone }, func(l *kit.Line, line scene.EventLine) {
		l.To(kit.LeadIn)
		drawEvent(l, s, line, columns{names: m.names, dated: dated})
	})...)
	if len(rows) == 0 && r.H > 2 && !m.stored.task.Running() {
		text := "No events so far."
		if filter := strings.TrimSpace(m.filter.Text); filter != "" {
			text = "No event matches " + scene.OneLine(filter, 60) + ". Esc clears the filter."
		}
		lines = append(lines, p.Draw(r.W), p.Draw(r.W, kit.Span{kit.Quiet, " " + text}))
	}
	if status := m.status(s); len(status) > 0 {
		lines = append(p.Pad(lines, r.W, m.list.Height+1), p.Draw(r.W, append([]kit.Span{{kit.Quiet, " "}}, status...)...))
	}
	return p.Pad(lines, r.W, r.H)
}

func (m *Model) title(s *scene.Scene, p *kit.Painter) string {
	text := "  " + m.count(len(m.list.Rows), "line")
	if !m.since.IsZero() {
		text += " since " + kit.Dated(m.since, s.Now, true)
	}
	state := []kit.Span{{kit.Quiet, "follows the newest"}}
	switch {
	case s.Past != nil:
		state = []kit.Span{{kit.Quiet, "until the moment shown"}}
	case !m.follow:
		state = []kit.Span{{kit.Accent, m.keys.Top.Help().Key + " follows the newest"}}
	}
	return p.Rule(m.rect.W, []kit.Span{{kit.Strong, "Events"}, {kit.Quiet, text + ", newest first"}}, state)
}

// reportLimit is the maximum number of elections in one report.
const reportLimit = 20

// report requests a report about the elections of the listed events. text is the start time that the user
// typed. If text is empty, the report begins at the time of :since or, if none is set, at the oldest listed event.
func (m *Model) report(text string, s *scene.Scene) scene.Action {
	var of []scene.Subject
	since, invalid := past.ReportSince(text, m.since, s.Now)
	if invalid != nil {
		return invalid
	}
	limited := !since.IsZero()
	for _, l := range m.list.Rows {
		if l.Ev.Key == "" {
			continue
		}
		if one := (scene.Subject{Datacenter: l.Ev.Datacenter, Key: l.Ev.Key}); !slices.Contains(of, one) {
			of = append(of, one)
		}
		if !limited {
			since = scene.Earlier(since, l.Ev.Time)
		}
	}
	switch n := len(of); {
	case n == 0:
		return scene.Say{Role: kit.Delay, Text: "No election is listed: there is nothing to report."}
	case n > reportLimit:
		return scene.Say{Role: kit.Delay, Text: "A report covers at most " + kit.Plural(reportLimit, "election") +
			", but " + kit.Plural(n, "election") + " are listed: filter them first (" + m.keys.Filter.Help().Key + ")."}
	}
	slices.SortFunc(of, func(a, b scene.Subject) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Datacenter, b.Datacenter))
	})
	return scene.WriteReport{Of: of, Since: since}
}
