// Package events is the view of all events, and the strip of the latest ones.
package events

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/internal/keys"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// Model is the view of all stored events, newest first.
type Model struct {
	at     scene.Cursor
	keys   keys.Map
	rect   term.Rect
	lines  []scene.EventLine
	filter scene.Filter
	// follow keeps the cursor on the newest event.
	follow bool
}

// New returns a view that stays empty until the first [scene.Opened] or [scene.Changed].
func New(k keys.Map) Model { return Model{keys: k, follow: true} }

// Filter is the current filter.
func (m Model) Filter() scene.Filter { return m.filter }

// Result returns the number of events that match the filter.
func (m Model) Result(*scene.Scene) string { return term.Plural(len(m.lines), "event") }

// Marks is 0: events cannot be marked.
func (m Model) Marks(*scene.Scene) (visible, hidden int) { return 0, 0 }

// Cursor is empty: clearing a filter restores no cursor.
func (m Model) Cursor() string { return "" }

// Update handles a message and keeps the cursor visible.
func (m Model) Update(msg tea.Msg, s *scene.Scene) (Model, scene.Action) {
	action := m.update(msg, s)
	m.at.Scroll(m.rect.H-1, len(m.lines))
	return m, action
}

func (m *Model) update(msg tea.Msg, s *scene.Scene) scene.Action {
	switch msg := msg.(type) {
	case scene.Resized:
		m.rect = msg.Rect
	case scene.Opened:
		m.refresh(s)
	case scene.Changed:
		if msg.Before.Shown != s.Shown || !scene.SameSlice(msg.Before.Actions, s.Actions) {
			m.refresh(s)
		}
	case scene.Filtered:
		m.setFilter(msg.Text, s)
	case scene.Moved:
		m.moveTo(m.at.Index + msg.Step)
	case scene.Wheeled:
		m.moveTo(m.at.Index + msg.Step)
	case scene.Clicked:
		if msg.Y > 0 {
			m.moveTo(m.at.Offset + msg.Y - 1)
		}
	case scene.Back:
		if m.filter.Empty() {
			return scene.Pass{}
		}
		m.setFilter("", s)
	case tea.KeyPressMsg:
		return m.pressed(msg)
	}
	return nil
}

func (m *Model) pressed(msg tea.KeyPressMsg) scene.Action {
	if step, ok := m.keys.Step(msg, max(1, m.rect.H-1), len(m.lines)); ok {
		m.moveTo(m.at.Index + step)
		return nil
	}
	if ev := m.selected(); key.Matches(msg, m.keys.Open) && ev != nil {
		return scene.ShowElection{ID: ev.ElectionID()}
	}
	return nil
}

func (m *Model) setFilter(text string, s *scene.Scene) {
	m.filter = scene.ParseFilter(text)
	m.refresh(s)
}

// refresh rebuilds the lines, including the operator's actions. Unless the view follows
// the newest event, the cursor stays on its event and row.
func (m *Model) refresh(s *scene.Scene) {
	at, before := m.selected(), m.at.Index
	m.lines = insertActions(scene.FoldEvents(s.Shown.Events, m.filter.MatchEvent, -1), s.Actions, m.filter.MatchEvent)
	if m.follow || at == nil {
		m.moveTo(0)
		return
	}
	i := slices.IndexFunc(m.lines, func(l scene.EventLine) bool { return scene.SameEvent(at, l.Ev) })
	if i < 0 {
		i = m.at.Index
	}
	m.at.MoveTo(i, len(m.lines))
	m.at.Offset += m.at.Index - before
}

// insertActions inserts each action that matches the filter in order of time.
func insertActions(lines, actions []scene.EventLine, keep func(*election.Event) bool) []scene.EventLine {
	at := 0
	for _, a := range slices.Backward(actions) {
		if !keep(a.Ev) {
			continue
		}
		for at < len(lines) && lines[at].Ev.Time.After(a.Ev.Time) {
			at++
		}
		lines = slices.Insert(lines, at, a)
		at++
	}
	return lines
}

// moveTo moves the cursor to a line. On the first line the view follows the newest event.
func (m *Model) moveTo(i int) {
	m.at.MoveTo(i, len(m.lines))
	m.follow = m.at.Index == 0
}

// selected is the event under the cursor, nil for none.
func (m *Model) selected() *election.Event {
	if m.at.Index >= len(m.lines) {
		return nil
	}
	return m.lines[m.at.Index].Ev
}

// View draws the title and as many lines as fit.
func (m Model) View(s *scene.Scene, p *term.Painter) []string {
	r := m.rect
	title := []term.Span{{term.Strong, "Events"}, {term.Quiet, "  " + term.Plural(len(m.lines), "line") + ", newest first"}}
	state := []term.Span{{term.Quiet, "follows the newest"}}
	if !m.follow {
		state = []term.Span{{term.Accent, "g follows the newest"}}
	}
	lines := append(make([]string, 0, r.H), p.Rule(r.W, title, state))
	l := term.NewLine(p, r.W)
	for i := m.at.Offset; i < min(len(m.lines), m.at.Offset+r.H-1); i++ {
		l.Reset(p.Tone)
		if i == m.at.Index {
			l.Reset(p.Tone.Selected())
			l.Text(term.Accent, p.Sym.Cursor)
		}
		l.To(term.LeadIn)
		drawEvent(l, s, m.lines[i])
		lines = append(lines, l.Done())
	}
	if len(m.lines) == 0 && r.H > 2 {
		lines = append(lines, p.Draw(r.W), p.Draw(r.W, term.Span{term.Quiet, " " + m.none()}))
	}
	return p.Pad(lines, r.W, r.H)
}

func (m Model) none() string {
	if text := strings.TrimSpace(m.filter.Text); text != "" {
		return "No event matches " + scene.OneLine(text, 60) + ". Esc clears the filter."
	}
	return "No event so far."
}
