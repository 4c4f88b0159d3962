// Package events is the view of all events, and the strip of the latest ones.
package events

import (
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
// reads the recorded events page by page.
type Model struct {
	at     scene.Cursor
	keys   keys.Map
	rect   kit.Rect
	lines  []scene.EventLine
	filter query.Filter
	// watched selects the keys of the board. Live and recorded events of other keys are not listed.
	watched scene.Watched
	// names is the width of the names of elections, in cells.
	names int
	// follow keeps the cursor on the newest event. opened is set at the first [scene.Opened]; before that, the view
	// does not read the history.
	follow, opened bool
	// moment is the displayed moment at the latest call of [Model.newest]. It is zero for the present.
	moment time.Time
	stored stored
	full   full
}

// New returns a view that stays empty until the first [scene.Opened] or [scene.Changed].
func New(k keys.Map, r past.Reader) Model {
	return Model{keys: k, follow: true, stored: stored{past: r, outdated: true, joined: true}}
}

// Filter returns the current filter.
func (m Model) Filter() query.Filter { return m.filter }

// Result returns the number of events that match the filter.
func (m Model) Result(*scene.Scene) string {
	n := 0
	for _, l := range m.lines {
		if l.Ev.Type != scene.UnobservedEvent {
			n++
		}
	}
	return m.count(n, "event")
}

// count formats a number of events or lines, with a plus sign if the history may contain more.
func (m Model) count(n int, noun string) string {
	if m.complete() {
		return kit.Plural(n, noun)
	}
	return strconv.Itoa(n) + "+ " + noun + "s"
}

// complete reports whether all matching events were read.
func (m Model) complete() bool {
	w := &m.stored
	return !w.past.On() || w.joined && w.end && !w.outdated
}

// Place returns the place of the footer. election is false if the open event is not about an election.
func (m Model) Place() (at keys.Place, election bool) {
	if m.full.line != nil {
		return keys.Event, m.full.line.Ev.Key != ""
	}
	return keys.Events, true
}

// Covered reports whether the box with one event covers the list.
func (m Model) Covered() bool { return m.full.line != nil }

// Marks returns zeros, because events cannot be marked.
func (m Model) Marks(*scene.Scene) (visible, hidden int) { return 0, 0 }

// Cursor returns "", because the view does not restore the cursor after a filter.
func (m Model) Cursor() string { return "" }

// Update handles a message, keeps the cursor visible and reads what the view needs next.
func (m Model) Update(msg tea.Msg, s *scene.Scene) (Model, scene.Action) {
	action := m.update(msg, s)
	cmd := m.load(s)
	if cmd != nil {
		action = scene.Join(action, scene.Run{Cmd: cmd})
	}
	m.stored.slow = m.stored.slow && m.stored.req != nil
	m.at.Scroll(m.rows(s), len(m.lines))
	m.full.fit(s, m.rect)
	return m, action
}

func (m *Model) update(msg tea.Msg, s *scene.Scene) scene.Action {
	switch msg := msg.(type) {
	case scene.Resized:
		m.rect = msg.Rect
	case scene.Opened:
		m.closeFull()
		m.opened = true
		m.watch(s)
		if !m.visit(s) && m.follow {
			m.stored.restart(s.Past.Moment())
		}
		m.refresh(s)
	case scene.Changed:
		m.watch(s)
		m.visit(s)
		if msg.Before.Shown != s.Shown || !scene.SameSlice(msg.Before.Actions, s.Actions) {
			m.refresh(s)
		}
	case past.EventsRead:
		m.read(msg, s)
	case past.Slow:
		m.stored.slow = m.stored.slow || msg.Of == m.stored.req
	case scene.Filtered:
		m.closeFull()
		m.setFilter(msg.Text, s)
	case scene.Since:
		m.setSince(msg.At, s)
	case scene.Report:
		return m.report(msg.Since, s)
	default:
		return m.moved(msg, s)
	}
	return nil
}

func (m *Model) moved(msg tea.Msg, s *scene.Scene) scene.Action {
	m.stored.pressed()
	switch msg := msg.(type) {
	case scene.Moved:
		m.moveTo(m.at.Index + msg.Step)
	case scene.Wheeled:
		if m.full.line != nil {
			m.full.text.Scroll(msg.Step)
			break
		}
		m.moveTo(m.at.Index + msg.Step)
	case scene.Clicked:
		m.moveTo(msg.Index)
	case scene.Back:
		switch {
		case m.full.line != nil:
			m.closeFull()
		case !m.filter.Empty():
			m.follow = m.follow && m.isLive(m.selected(), s) // if the cursor is on a recorded event, it stays there
			m.setFilter("", s)
		case !m.stored.since.IsZero():
			m.setSince(time.Time{}, s)
		default:
			return scene.Pass{}
		}
	case tea.KeyPressMsg:
		return m.pressed(msg, s)
	}
	return nil
}

func (m *Model) pressed(msg tea.KeyPressMsg, s *scene.Scene) scene.Action {
	if m.full.line != nil {
		return m.pressedFull(msg, s)
	}
	if key.Matches(msg, m.keys.Top) && !m.stored.joined {
		m.newest(s)
		return nil
	}
	if step, ok := m.keys.Step(msg, max(1, m.rows(s)), len(m.lines)); ok {
		m.moveTo(m.at.Index + step)
		return nil
	}
	switch ev := m.selected(); {
	case key.Matches(msg, m.keys.Report):
		return m.report("", s)
	case ev != nil && key.Matches(msg, m.keys.Open):
		m.openFull()
	}
	return nil
}

// setFilter filters the lines and reads the history again, from the event under the cursor.
func (m *Model) setFilter(text string, s *scene.Scene) {
	if text == m.filter.Text {
		return
	}
	m.filter = query.Parse(text, query.Events)
	m.selectAgain(s)
}

// watch selects the events again if the keys of the board have changed.
func (m *Model) watch(s *scene.Scene) {
	if now := s.Watched(); !now.Equal(m.watched) {
		m.watched = now
		m.selectAgain(s)
	}
}

// selectAgain filters the events in memory, and then reads the history again.
func (m *Model) selectAgain(s *scene.Scene) {
	m.stored.narrow(m.keepWatched)
	m.stored.restart(m.from(s))
	m.refresh(s)
}

// from returns the time at which the first page begins. The page must contain the event under the cursor and its
// explanation, which may be up to 2 s newer.
func (m *Model) from(s *scene.Scene) time.Time {
	ev := m.selected()
	switch {
	case ev == nil:
		return m.stored.from
	case m.follow, m.isLive(ev, s):
		return s.Past.Moment()
	}
	return ev.Time.Add(2 * time.Second)
}

// isLive reports whether the snapshot contains an event. Without a history it contains every event.
func (m *Model) isLive(ev *election.Event, s *scene.Scene) bool {
	return ev == nil || !m.stored.past.On() ||
		slices.ContainsFunc(s.Shown.Events, func(live election.Event) bool { return scene.SameEvent(&live, ev) })
}

// setSince limits the list to events since a moment, and moves the cursor to the newest event.
func (m *Model) setSince(at time.Time, s *scene.Scene) {
	m.stored.since = at
	m.newest(s)
}

// visit restarts the list if the displayed moment has changed, and reports whether it has changed.
func (m *Model) visit(s *scene.Scene) bool {
	if m.moment.Equal(s.Past.Moment()) {
		return false
	}
	m.newest(s)
	return true
}

// newest moves the cursor to the newest event of the list.
func (m *Model) newest(s *scene.Scene) {
	w := &m.stored
	m.moment = s.Past.Moment()
	w.restart(m.moment)
	w.pages, w.joined = nil, s.Past == nil
	m.moveTo(0)
	m.refresh(s)
}

// refresh rebuilds the lines, including the operator's actions. Unless the view follows the newest event, the cursor
// stays on its event and row. If the event is no longer listed, the cursor moves to the next older one.
func (m *Model) refresh(s *scene.Scene) {
	at, before := m.selected(), m.at.Index
	m.lines = m.list(s)
	m.full.renew(m.lines)
	m.names = max(m.names, nameWidth(m.lines, s), s.NameWidth+datacenterWidth(s))
	if m.follow || at == nil {
		m.moveTo(0)
		return
	}
	i := slices.IndexFunc(m.lines, func(l scene.EventLine) bool { return scene.SameEvent(at, l.Ev) })
	if i < 0 {
		i = slices.IndexFunc(m.lines, func(l scene.EventLine) bool { return !l.Ev.Time.After(at.Time) })
	}
	if i < 0 {
		i = len(m.lines)
	}
	m.at.MoveTo(i, len(m.lines))
	m.at.Offset += m.at.Index - before
}

// list joins live events, recorded events, actions and gaps in observation.
func (m *Model) list(s *scene.Scene) []scene.EventLine {
	w := &m.stored
	lines := w.lines()
	if w.joined {
		live := withoutKnown(scene.FoldEvents(s.Shown.Events, m.keepLive, -1), lines)
		lines = merge(actionLines(s.Actions, m.keep), merge(live, without(lines, live)))
	}
	if isAboutEvents(m.filter) || w.outdated && len(w.pages) == 0 {
		return lines
	}
	return merge(gapLines(past.Unobserved(w.gaps, s.LiveSince()), w.within(), s.Now), lines)
}

func (m *Model) keep(l scene.EventLine) bool {
	return !l.Ev.Time.Before(m.stored.since) && m.filter.MatchEvent(l.Ev, l.Why)
}

// keepLive reports whether a line of the snapshot matches the filter. An initial event that was stored before the first
// read is omitted, because the history contains it or an earlier event with the same information.
func (m *Model) keepLive(l scene.EventLine) bool {
	repeated := l.Ev.Initial && l.Ev.Time.Before(m.stored.readAt.Add(-storeDelay))
	return !repeated && m.keepWatched(l)
}

func (m *Model) keepWatched(l scene.EventLine) bool { return m.watched.ShowsEvent(l.Ev) && m.keep(l) }

// moveTo moves the cursor to a line. While the cursor is on the first line, the view follows the newest event.
func (m *Model) moveTo(i int) {
	m.at.MoveTo(i, len(m.lines))
	m.follow = m.at.Index == 0 && m.stored.joined
}

// selected returns the event under the cursor, or nil if there is none.
func (m *Model) selected() *election.Event {
	if m.at.Index >= len(m.lines) {
		return nil
	}
	return m.lines[m.at.Index].Ev
}

// View draws the title and the lines that fit. If there is a status of the history, it is the last line.
func (m Model) View(s *scene.Scene, p *kit.Painter) []string {
	r, over := m.rect, *p
	if m.full.line != nil { // the box covers the list
		over.Areas = false
	}
	lines := m.drawList(s, &over)
	if m.full.line != nil && r.H > kit.BoxFrame {
		m.full.view(p, m.keys.Open, lines, r.W)
	}
	return lines
}

func (m *Model) drawList(s *scene.Scene, p *kit.Painter) []string {
	r, rows := m.rect, m.rows(s)
	lines := append(make([]string, 0, r.H), m.title(s, p))
	l, dated := kit.NewLine(p, r.W), m.dated(s)
	for i := m.at.Offset; i < min(len(m.lines), m.at.Offset+rows); i++ {
		l.Reset(p.Tone)
		if i == m.at.Index {
			l.Reset(p.Tone.Selected())
			l.Text(kit.Accent, p.Sym.Cursor)
		}
		l.Area(kit.Area{Item: kit.Row, Index: i})
		l.To(kit.LeadIn)
		drawEvent(l, s, m.lines[i], columns{names: m.names, dated: dated})
		lines = append(lines, l.Done())
	}
	if len(m.lines) == 0 && r.H > 2 && m.stored.req == nil {
		lines = append(lines, p.Draw(r.W), p.Draw(r.W, kit.Span{kit.Quiet, " " + m.none()}))
	}
	if status := m.status(s); len(status) > 0 {
		lines = append(p.Pad(lines, r.W, rows+1), p.Draw(r.W, append([]kit.Span{{kit.Quiet, " "}}, status...)...))
	}
	return p.Pad(lines, r.W, r.H)
}

func (m Model) title(s *scene.Scene, p *kit.Painter) string {
	text := "  " + m.count(len(m.lines), "line")
	if at := m.stored.since; !at.IsZero() {
		text += " since " + kit.Dated(at, s.Now, true)
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

// dated reports whether the column of times is wide enough for a date. With a history it is always wide enough, so
// that columns do not move when a page is read.
func (m Model) dated(s *scene.Scene) bool {
	n := len(m.lines)
	return m.stored.past.On() || n > 0 && !kit.IsToday(m.lines[n-1].Ev.Time, s.Now)
}

func (m Model) none() string {
	if text := strings.TrimSpace(m.filter.Text); text != "" {
		return "No event matches " + scene.OneLine(text, 60) + ". Esc clears the filter."
	}
	return "No events so far."
}
