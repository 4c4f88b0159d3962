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
	"electop/election/sanitize"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/past"
	"electop/ui/scene"
)

// Model is the view of all events, newest first. It joins the live events of the snapshot with recorded events, and
// reads older recorded events page by page.
type Model struct {
	scene.List[scene.EventLine]
	// watched selects the keys of the board. Live and recorded events of other keys are not listed.
	watched scene.Watched
	// names is the width of the names of elections, in cells.
	names int
	// at is the event under the cursor, which stays on it. It is nil while the cursor follows the newest event.
	at *election.Event
	// opened is set at the first [scene.Opened]; before that, the view does not read the history.
	opened bool
	// since is the time of the oldest event to list. moment is the displayed moment, which is zero for the present.
	since, moment time.Time
	stored        stored
}

// New returns a view that stays empty until the first [scene.Opened] or [scene.Changed].
func New(k keys.Map, r past.Reader) *Model {
	m := &Model{stored: stored{past: r, outdated: true}}
	m.List = scene.List[scene.EventLine]{
		ListState: scene.ListState{Keys: k, Scope: query.Events}, Refresh: m.selectAgain,
		ID: func(scene.EventLine) string { return "" }, // the view finds the event of the cursor itself
	}
	return m
}

// Result returns the number of events that match the filter.
func (m *Model) Result(*scene.Scene) string {
	n := 0
	for _, l := range m.Rows {
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

// Update handles a message, keeps the cursor visible and reads what the view needs next.
func (m *Model) Update(msg tea.Msg, s *scene.Scene) scene.Action {
	m.take(s)
	action := m.update(msg, s)
	if cmd := m.load(s); cmd != nil {
		action = scene.All{action, cmd}
	}
	rows := m.Rect.H - 1
	if rows > 1 && len(m.status(s)) > 0 {
		rows--
	}
	m.Scroll(rows)
	return action
}

func (m *Model) update(msg tea.Msg, s *scene.Scene) scene.Action {
	switch msg := msg.(type) {
	case scene.Opened:
		m.opened = true
		if !m.changed(s) && m.at == nil {
			m.stored.restart()
		}
		m.refresh(s)
	case scene.Changed:
		if !m.changed(s) && (msg.Before.Shown != s.Shown || !slices.EqualFunc(msg.Before.Actions, s.Actions, func(a, b scene.EventLine) bool {
			return scene.SameEvent(a.Ev, b.Ev) && a.Ev.Evidence == b.Ev.Evidence
		})) {
			m.refresh(s)
		}
	case scene.Filtered:
		if msg.Text != m.Filter.Text {
			return m.Handle(msg, s)
		}
	case scene.Since:
		m.since = msg.At
		m.newest(s)
	case scene.Back:
		switch {
		case !m.Filter.Empty(): // the cursor stays on the event that was found
			m.at = cmp.Or(m.at, m.selected())
		case !m.since.IsZero():
			m.since = time.Time{}
			m.newest(s)
			return nil
		}
		return m.Handle(msg, s)
	case tea.KeyPressMsg:
		m.stored.input()
		step, moves := m.Keys.Step(msg, max(1, m.Height), len(m.Rows))
		switch {
		case moves:
			m.MoveTo(m.Index + step)
			m.moved()
		case m.selected() != nil && key.Matches(msg, m.Keys.Open):
			return m.open()
		}
	case scene.Resized:
		return m.Handle(msg, s)
	default:
		m.stored.input()
		m.Handle(msg, s)
		m.moved()
	}
	return nil
}

// selectAgain filters the lines in memory, and then reads the history again.
func (m *Model) selectAgain(s *scene.Scene) {
	w := &m.stored
	w.lines = election.Without(w.lines, func(l scene.EventLine) bool { return !m.keepWatched(l) })
	w.restart()
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
	m.stored.lines, m.at = nil, nil
	m.refresh(s)
}

// refresh rebuilds the lines. Unless the view follows the newest event, the cursor stays on its event and row. If the
// event is not listed, the cursor is on the next older one.
func (m *Model) refresh(s *scene.Scene) {
	before, i := m.Index, 0
	m.Rows = m.join(s)
	names := s.NameWidth
	for _, l := range m.Rows {
		names = max(names, kit.Width(sanitize.Text(l.Ev.Election)))
	}
	m.names = max(m.names, names+datacenterWidth(s))
	if m.at != nil {
		if i = slices.IndexFunc(m.Rows, func(l scene.EventLine) bool { return scene.SameEvent(m.at, l.Ev) }); i < 0 {
			i = slices.IndexFunc(m.Rows, func(l scene.EventLine) bool { return !l.Ev.Time.After(m.at.Time) })
		}
		if i < 0 {
			i = len(m.Rows)
		}
	}
	m.MoveTo(i)
	m.Offset += m.Index - before
}

func (m *Model) keep(l scene.EventLine) bool {
	return !l.Ev.Time.Before(m.since) && m.Filter.MatchEvent(l.Ev, l.Why)
}

// keepWatched omits the initial states: they are no changes.
func (m *Model) keepWatched(l scene.EventLine) bool {
	return !l.Ev.Initial && m.watched.ShowsEvent(l.Ev) && m.keep(l)
}

// moved is called after each movement of the cursor. On the first line, the cursor follows the newest event.
func (m *Model) moved() {
	if m.at = m.selected(); m.Index == 0 {
		m.at = nil
	}
}

// selected returns the event under the cursor, or nil if there is none.
func (m *Model) selected() *election.Event { return m.Selected().Ev }

// Earlier returns the event to which a step back leads: the selected event or, if its moment is shown, the next older one.
// It returns nil if the nearest event before the moment is as good.
func (m *Model) Earlier(s *scene.Scene) *election.Event {
	i := m.Index
	if of := s.Past; of != nil && of.Event != nil && m.selected() != nil && scene.SameEvent(of.Event, m.selected()) {
		i++
	}
	if i >= len(m.Rows) || i == 0 && m.Filter.Empty() {
		return nil
	}
	return m.Rows[i].Ev
}

// View draws the title and the lines that fit. If there is a status of the history, it is the last line.
func (m *Model) View(s *scene.Scene, p *kit.Painter) []string {
	r, rows := m.Rect, m.Rows
	title := "  " + m.count(len(rows), "line")
	if !m.since.IsZero() {
		title += " since " + s.Clock(m.since)
	}
	state := kit.Quiet.Spans("follows the newest")
	switch {
	case s.Past != nil:
		state = kit.Quiet.Spans("until the moment shown")
	case m.at != nil:
		state = kit.Accent.Spans(m.Keys.Top.Help().Key + " follows the newest")
	}
	lines := []string{p.Rule(r.W, []kit.Span{{kit.Strong, "Events"}, {kit.Quiet, title + ", newest first"}}, kit.Label(state...))}
	// With a history, the column of times always has a date, so that columns do not move when a page is read.
	dated := m.stored.past.On() || len(rows) > 0 && !kit.IsToday(rows[len(rows)-1].Ev.Time, s.Now)
	lines = append(lines, m.Draw(p, func(scene.EventLine) kit.Tone { return p.Tone }, func(l *kit.Line, line scene.EventLine) {
		drawEvent(l, s, line, m.names, dated)
	})...)
	if len(rows) == 0 && r.H > 2 && !m.stored.task.Running() {
		text := "No events so far."
		if filter := strings.TrimSpace(m.Filter.Text); filter != "" {
			text = "No event matches " + scene.Short(filter) + ". Esc clears the filter."
		}
		lines = append(lines, p.Draw(r.W), p.Draw(r.W, kit.Quiet.Span(" "+text)))
	}
	if status := m.status(s); len(status) > 0 {
		lines = append(p.Pad(lines, r.W, m.Height+1), p.Draw(r.W, append(kit.Quiet.Spans(" "), status...)...))
	}
	return p.Pad(lines, r.W, r.H)
}

// Report requests a report about the elections of the listed events. text is the start time that the user
// typed. If text is empty, the report begins at the time of :since or, if none is set, at the oldest listed event.
func (m *Model) Report(text string, s *scene.Scene) scene.Action {
	var of []scene.Subject
	since, invalid := past.Moment(":report", text, m.since, s.AsOf)
	if invalid != nil {
		return invalid
	}
	limited := !since.IsZero()
	for _, l := range m.Rows {
		if l.Ev.Key == "" {
			continue
		}
		of = election.Union(of, scene.Subject{Datacenter: l.Ev.Datacenter, Key: l.Ev.Key})
		if !limited {
			if since = scene.Earlier(since, l.Ev.Time); l.Why != nil { // the outage began before the loss
				since = scene.Earlier(since, l.Why.AliveUntil)
			}
		}
	}
	if of == nil {
		return scene.Refuse("No election is listed: there is nothing to report.")
	}
	return scene.WriteReport{Of: of, Since: since}
}
