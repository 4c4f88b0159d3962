package ui

import (
	"slices"
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/internal/term"
)

// eventLine is an event as it is shown: a vacated event together with the
// explanation that came after it.
type eventLine struct {
	ev  *election.Event
	why *election.Event
}

// foldEvents gives the latest lines, newest first, up to limit (all for a
// negative one). An explanation is folded into the event it explains.
func foldEvents(events []election.Event, keep func(*election.Event) bool, limit int) []eventLine {
	var lines []eventLine
	var explained []*election.Event
	for i := len(events) - 1; i >= 0 && len(lines) != limit; i-- {
		ev := &events[i]
		if ev.Type == election.Explained {
			explained = append(explained, ev)
			continue
		}
		line := eventLine{ev: ev}
		if ev.Type == election.Vacated {
			line.why = explanationOf(ev, explained)
		}
		if keep(ev) || line.why != nil && keep(line.why) {
			lines = append(lines, line)
		}
	}
	return lines
}

func explanationOf(ev *election.Event, explained []*election.Event) *election.Event {
	for _, x := range explained {
		if x.Key == ev.Key && x.Session == ev.Session && x.Term == ev.Term && x.CreateIndex == ev.CreateIndex {
			return x
		}
	}
	return nil
}

// eventWordWidth is the width of the column of event types.
const eventWordWidth = 13

// eventWord is the type of an event as it is shown.
func eventWord(ev *election.Event) string {
	if ev.Type == actionEvent {
		return "operator"
	}
	if ev.Type == election.ConnectionLost || ev.Type == election.ConnectionRestored {
		return "connection"
	}
	return string(ev.Type)
}

func eventRole(ev *election.Event) term.Role {
	switch ev.Type {
	case election.Vacated, election.Deleted:
		return term.Vacant
	case election.Elected, election.ConnectionRestored, election.Entered:
		return term.Led
	case actionEvent:
		return term.Accent
	case election.Overwritten, election.Missed, election.Unreadable:
		return term.Delay
	case election.ConnectionLost:
		return term.Bad
	default:
		return term.Quiet
	}
}

// eventSpans is what happened, without time, election and type.
func eventSpans(sym *term.Symbols, ev *election.Event) []term.Span {
	switch ev.Type {
	case election.ConnectionLost:
		return []term.Span{{term.Text, "lost"}, {term.Quiet, ": " + clean(ev.Error)}}
	case election.ConnectionRestored:
		return []term.Span{{term.Text, "restored"}}
	case actionEvent:
		return []term.Span{{term.Text, clean(ev.Evidence)}}
	case election.Missed:
		return []term.Span{{term.Text, term.Plural(int(min(ev.Count, 1<<31)), "term") + " passed unseen"}}
	case election.Deleted:
		return []term.Span{{term.Text, "the key was deleted"}}
	case election.Elected:
		return electedSpans(sym, ev)
	case election.Vacated:
		return vacatedSpans(sym, ev)
	case election.Updated:
		return append(leaderSpans(ev), term.Span{term.Quiet, " " + sym.Dot + " the leader changed the value"})
	case election.Overwritten:
		return append(leaderSpans(ev), term.Span{term.Quiet, " " + sym.Dot + " the key was written without the lock"})
	case election.Explained:
		return append(leaderSpans(ev), whySpans(sym, ev)...)
	case election.Entered, election.Left, election.Unreadable, election.Readable:
		return []term.Span{{term.Text, ev.Summary()}}
	default:
		return leaderSpans(ev)
	}
}

func leaderSpans(ev *election.Event) []term.Span {
	if ev.Leader == "" {
		return nil
	}
	return []term.Span{{term.Text, clean(ev.Leader)}, {term.Quiet, ", term " + termNumber(ev.Term)}}
}

func electedSpans(sym *term.Symbols, ev *election.Event) []term.Span {
	spans := leaderSpans(ev)
	switch {
	case ev.Initial:
		spans = append(spans, term.Span{term.Quiet, " " + sym.Dot + " led when electop started"})
	case ev.VacancyKnown && ev.Vacancy < time.Millisecond:
		spans = append(spans, term.Span{term.Quiet, " " + sym.Dot + " at once"})
	case ev.VacancyKnown:
		spans = append(spans, term.Span{term.Quiet, " " + sym.Dot + " after " + term.Precise(ev.Vacancy) + " without a leader"})
	}
	return spans
}

func vacatedSpans(sym *term.Symbols, ev *election.Event) []term.Span {
	if ev.Initial {
		return []term.Span{{term.Text, "no leader"}, {term.Quiet, " " + sym.Dot + " when electop started"}}
	}
	return append(leaderSpans(ev), term.Span{term.Quiet, " " + sym.Dot + " led for " + held(sym, ev.Held, ev.HeldKnown)})
}

func whySpans(sym *term.Symbols, ev *election.Event) []term.Span {
	spans := []term.Span{{term.Quiet, " " + sym.Dot + " "}, {term.Text, causeLabel(ev.Cause)}}
	if ev.Evidence != "" && !byOperator(ev.Cause) {
		spans = append(spans, term.Span{term.Quiet, ": " + oneLine(ev.Evidence, 240)})
	}
	return spans
}

// drawEvent writes one line of events: time, election, type, what happened.
func drawEvent(l *term.Line, s *scene, el eventLine, nameWidth int) {
	l.Cell(term.Quiet, term.Clock(el.ev.Time, s.now), 8)
	l.Gap(columnGap)
	l.Cell(term.Strong, sanitize.Text(el.ev.Election), nameWidth)
	l.Gap(columnGap)
	l.Cell(eventRole(el.ev), eventWord(el.ev), min(eventWordWidth, max(10, l.Width/6)))
	l.Texts(eventSpans(l.Sym, el.ev)...)
	if el.why != nil {
		l.Texts(whySpans(l.Sym, el.why)...)
	}
}

// nameColumn is how wide the names of elections are in lists of events.
func (t *table) nameColumn(width int) int { return max(6, min(t.widths.name, width/5)) }

// drawStrip draws the latest events under a rule, newest first. How elections
// were found at the start is no news.
func (m *Model) drawStrip(p *term.Painter, s *scene, width, height int) []string {
	if height <= 0 {
		return nil
	}
	lines := append(make([]string, 0, height), p.Rule(width, []term.Span{{term.Head, "Latest events"}}, nil))
	news := foldEvents(s.snap.Events, func(ev *election.Event) bool { return !ev.Initial }, height-1)
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
	lines  []eventLine
	filter filter
	index  int
	offset int
	// follow keeps the cursor on the newest event.
	follow bool
}

// refresh makes the lines anew, with the operator's actions among the events. Unless
// it follows the newest, the cursor stays on its event and that on its row.
func (v *eventsView) refresh(snap *election.Snapshot, actions []eventLine) {
	at, before := v.selected(), v.index
	v.lines = insertActions(foldEvents(snap.Events, v.filter.matchEvent, -1), actions, v.filter.matchEvent)
	if v.follow || at == nil {
		v.moveTo(0)
		return
	}
	for i := range v.lines {
		if sameEvent(at, v.lines[i].ev) {
			v.index = i
			break
		}
	}
	v.index = max(0, min(v.index, len(v.lines)-1))
	v.offset += v.index - before
}

// insertActions puts each action that the filter keeps before the first event that
// is not later.
func insertActions(lines, actions []eventLine, keep func(*election.Event) bool) []eventLine {
	at := 0
	for _, a := range slices.Backward(actions) {
		if !keep(a.ev) {
			continue
		}
		for at < len(lines) && lines[at].ev.Time.After(a.ev.Time) {
			at++
		}
		lines = slices.Insert(lines, at, a)
		at++
	}
	return lines
}

func sameEvent(a, b *election.Event) bool {
	return a.Time.Equal(b.Time) && a.Type == b.Type && a.Key == b.Key && a.Term == b.Term && a.Session == b.Session
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
	return v.lines[v.index].ev
}

func (v *eventsView) scroll(rows int) {
	v.offset = min(v.offset, v.index)
	v.offset = max(v.offset, v.index-rows+1)
	v.offset = max(0, min(v.offset, len(v.lines)-rows))
}

// drawEvents draws the events view.
func (m *Model) drawEvents(p *term.Painter, s *scene, width, height int) []string {
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
		l.To(leadIn)
		drawEvent(l, s, v.lines[i], m.table.nameColumn(width))
		lines = append(lines, l.Done())
	}
	if len(v.lines) == 0 && height > 2 {
		lines = append(lines, p.Draw(width), p.Draw(width, term.Span{term.Quiet, " " + m.noEvents()}))
	}
	return p.Pad(lines, width, height)
}

func (m *Model) noEvents() string {
	if text := strings.TrimSpace(m.events.filter.text); text != "" {
		return "No event matches " + oneLine(text, 60) + ". Esc clears the filter."
	}
	return "No event so far."
}
