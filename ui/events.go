package ui

import (
	"slices"
	"strings"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// drawEvent writes one line of events: time, election, type, what happened.
func drawEvent(l *term.Line, s *scene.Scene, el scene.EventLine, nameWidth int) {
	l.Cell(term.Quiet, term.Clock(el.Ev.Time, s.Now), 8)
	l.Gap(term.ColumnGap)
	l.Cell(term.Strong, sanitize.Text(el.Ev.Election), nameWidth)
	l.Gap(term.ColumnGap)
	l.Cell(scene.EventRole(el.Ev), scene.EventWord(el.Ev), min(scene.EventWordWidth, max(10, l.Width/6)))
	l.Texts(scene.EventSpans(l.Sym, el.Ev)...)
	if el.Why != nil {
		l.Texts(scene.WhySpans(l.Sym, el.Why)...)
	}
}

// nameColumn is how wide the names of elections are in lists of events.
func (t *table) nameColumn(width int) int { return max(6, min(t.widths.name, width/5)) }

// drawStrip draws the latest events under a rule, newest first. How elections
// were found at the start is no news.
func (m *Model) drawStrip(p *term.Painter, s *scene.Scene, width, height int) []string {
	if height <= 0 {
		return nil
	}
	lines := append(make([]string, 0, height), p.Rule(width, []term.Span{{term.Head, "Latest events"}}, nil))
	news := scene.FoldEvents(s.Shown.Events, func(ev *election.Event) bool { return !ev.Initial }, height-1)
	l := term.NewLine(p, width)
	for _, el := range news {
		l.Reset(p.Tone)
		l.Gap(1)
		drawEvent(l, s, el, m.table.nameColumn(width))
		lines = append(lines, l.Done())
	}
	if len(news) == 0 && height > 1 {
		lines = append(lines, p.Draw(width, term.Span{term.Quiet, " No changes since electop started."}))
	}
	return p.Pad(lines, width, height)
}

// eventsView is the second view: all events that are kept, newest first.
type eventsView struct {
	lines  []scene.EventLine
	filter scene.Filter
	index  int
	offset int
	// follow keeps the cursor on the newest event.
	follow bool
}

// refresh makes the lines anew, with the operator's actions among the events. Unless
// it follows the newest, the cursor stays on its event and that on its row.
func (v *eventsView) refresh(snap *election.Snapshot, actions []scene.EventLine) {
	at, before := v.selected(), v.index
	v.lines = insertActions(scene.FoldEvents(snap.Events, v.filter.MatchEvent, -1), actions, v.filter.MatchEvent)
	if v.follow || at == nil {
		v.moveTo(0)
		return
	}
	for i := range v.lines {
		if scene.SameEvent(at, v.lines[i].Ev) {
			v.index = i
			break
		}
	}
	v.index = max(0, min(v.index, len(v.lines)-1))
	v.offset += v.index - before
}

// insertActions puts each action that the filter keeps before the first event that
// is not later.
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

// moveTo puts the cursor on a line. On the first one it follows the newest.
func (v *eventsView) moveTo(i int) {
	v.index = max(0, min(i, len(v.lines)-1))
	v.follow = v.index == 0
}

// selected is the event under the cursor, nil when there is none.
func (v *eventsView) selected() *election.Event {
	if v.index >= len(v.lines) {
		return nil
	}
	return v.lines[v.index].Ev
}

func (v *eventsView) scroll(rows int) {
	v.offset = min(v.offset, v.index)
	v.offset = max(v.offset, v.index-rows+1)
	v.offset = max(0, min(v.offset, len(v.lines)-rows))
}

// drawEvents draws the events view.
func (m *Model) drawEvents(p *term.Painter, s *scene.Scene, width, height int) []string {
	v := m.events
	v.scroll(height - 1)
	title := []term.Span{{term.Strong, "Events"}, {term.Quiet, "  " + term.Plural(len(v.lines), "line") + ", newest first"}}
	state := []term.Span{{term.Quiet, "follows the newest"}}
	if !v.follow {
		state = []term.Span{{term.Accent, "g follows the newest"}}
	}
	lines := append(make([]string, 0, height), p.Rule(width, title, state))
	l := term.NewLine(p, width)
	for i := v.offset; i < min(len(v.lines), v.offset+height-1); i++ {
		l.Reset(p.Tone)
		if i == v.index {
			l.Reset(p.Tone.Selected())
			l.Text(term.Accent, p.Sym.Cursor)
		}
		l.To(term.LeadIn)
		drawEvent(l, s, v.lines[i], m.table.nameColumn(width))
		lines = append(lines, l.Done())
	}
	if len(v.lines) == 0 && height > 2 {
		lines = append(lines, p.Draw(width), p.Draw(width, term.Span{term.Quiet, " " + m.noEvents()}))
	}
	return p.Pad(lines, width, height)
}

func (m *Model) noEvents() string {
	if text := strings.TrimSpace(m.events.filter.Text); text != "" {
		return "No event matches " + scene.OneLine(text, 60) + ". Esc clears the filter."
	}
	return "No event so far."
}
