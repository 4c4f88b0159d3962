package ui

import (
	"slices"
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
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

func eventRole(ev *election.Event) role {
	switch ev.Type {
	case election.Vacated, election.Deleted:
		return roleVacant
	case election.Elected, election.ConnectionRestored, election.Entered:
		return roleLed
	case actionEvent:
		return roleAccent
	case election.Overwritten, election.Missed, election.Unreadable:
		return roleDelay
	case election.ConnectionLost:
		return roleBad
	default:
		return roleQuiet
	}
}

// eventSpans is what happened, without time, election and type.
func eventSpans(sym *symbols, ev *election.Event) []span {
	switch ev.Type {
	case election.ConnectionLost:
		return []span{{roleText, "lost"}, {roleQuiet, ": " + clean(ev.Error)}}
	case election.ConnectionRestored:
		return []span{{roleText, "restored"}}
	case actionEvent:
		return []span{{roleText, clean(ev.Evidence)}}
	case election.Missed:
		return []span{{roleText, plural(int(min(ev.Count, 1<<31)), "term") + " passed unseen"}}
	case election.Deleted:
		return []span{{roleText, "the key was deleted"}}
	case election.Elected:
		return electedSpans(sym, ev)
	case election.Vacated:
		return vacatedSpans(sym, ev)
	case election.Updated:
		return append(leaderSpans(ev), span{roleQuiet, " " + sym.dot + " the leader changed the value"})
	case election.Overwritten:
		return append(leaderSpans(ev), span{roleQuiet, " " + sym.dot + " the key was written without the lock"})
	case election.Explained:
		return append(leaderSpans(ev), whySpans(sym, ev)...)
	case election.Entered, election.Left, election.Unreadable, election.Readable:
		return []span{{roleText, ev.Summary()}}
	default:
		return leaderSpans(ev)
	}
}

func leaderSpans(ev *election.Event) []span {
	if ev.Leader == "" {
		return nil
	}
	return []span{{roleText, clean(ev.Leader)}, {roleQuiet, ", term " + termNumber(ev.Term)}}
}

func electedSpans(sym *symbols, ev *election.Event) []span {
	spans := leaderSpans(ev)
	switch {
	case ev.Initial:
		spans = append(spans, span{roleQuiet, " " + sym.dot + " led when electop started"})
	case ev.VacancyKnown && ev.Vacancy < time.Millisecond:
		spans = append(spans, span{roleQuiet, " " + sym.dot + " at once"})
	case ev.VacancyKnown:
		spans = append(spans, span{roleQuiet, " " + sym.dot + " after " + precise(ev.Vacancy) + " without a leader"})
	}
	return spans
}

func vacatedSpans(sym *symbols, ev *election.Event) []span {
	if ev.Initial {
		return []span{{roleText, "no leader"}, {roleQuiet, " " + sym.dot + " when electop started"}}
	}
	return append(leaderSpans(ev), span{roleQuiet, " " + sym.dot + " led for " + held(sym, ev.Held, ev.HeldKnown)})
}

func whySpans(sym *symbols, ev *election.Event) []span {
	spans := []span{{roleQuiet, " " + sym.dot + " "}, {roleText, causeLabel(ev.Cause)}}
	if ev.Evidence != "" && !byOperator(ev.Cause) {
		spans = append(spans, span{roleQuiet, ": " + oneLine(ev.Evidence, 240)})
	}
	return spans
}

// drawEvent writes one line of events: time, election, type, what happened.
func drawEvent(l *line, s *scene, el eventLine, nameWidth int) {
	l.cell(roleQuiet, clock(el.ev.Time, s.now), 8)
	l.gap(columnGap)
	l.cell(roleStrong, sanitize.Text(el.ev.Election), nameWidth)
	l.gap(columnGap)
	l.cell(eventRole(el.ev), eventWord(el.ev), min(eventWordWidth, max(10, l.width/6)))
	l.texts(eventSpans(l.sym, el.ev)...)
	if el.why != nil {
		l.texts(whySpans(l.sym, el.why)...)
	}
}

// nameColumn is how wide the names of elections are in lists of events.
func (t *table) nameColumn(width int) int { return max(6, min(t.widths.name, width/5)) }

// drawStrip draws the latest events under a rule, newest first. How elections
// were found at the start is no news.
func (m *Model) drawStrip(p *painter, s *scene, width, height int) []string {
	if height <= 0 {
		return nil
	}
	lines := append(make([]string, 0, height), p.rule(width, []span{{roleHead, "Latest events"}}, nil))
	news := foldEvents(s.snap.Events, func(ev *election.Event) bool { return !ev.Initial }, height-1)
	l := newLine(p, width)
	for _, el := range news {
		l.reset(p.tone)
		l.gap(1)
		drawEvent(l, s, el, m.table.nameColumn(width))
		lines = append(lines, l.done())
	}
	if len(news) == 0 && height > 1 {
		lines = append(lines, p.draw(width, span{roleQuiet, " No changes since electop started."}))
	}
	return p.pad(lines, width, height)
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
func (m *Model) drawEvents(p *painter, s *scene, width, height int) []string {
	v := m.events
	v.scroll(height - 1)
	title := []span{{roleStrong, "Events"}, {roleQuiet, "  " + plural(len(v.lines), "line") + ", newest first"}}
	state := []span{{roleQuiet, "follows the newest"}}
	if !v.follow {
		state = []span{{roleAccent, "g follows the newest"}}
	}
	lines := append(make([]string, 0, height), p.rule(width, title, state))
	l := newLine(p, width)
	for i := v.offset; i < min(len(v.lines), v.offset+height-1); i++ {
		l.reset(p.tone)
		if i == v.index {
			l.reset(p.tone.selected())
			l.text(roleAccent, p.sym.cursor)
		}
		l.to(leadIn)
		drawEvent(l, s, v.lines[i], m.table.nameColumn(width))
		lines = append(lines, l.done())
	}
	if len(v.lines) == 0 && height > 2 {
		lines = append(lines, p.draw(width), p.draw(width, span{roleQuiet, " " + m.noEvents()}))
	}
	return p.pad(lines, width, height)
}

func (m *Model) noEvents() string {
	if text := strings.TrimSpace(m.events.filter.text); text != "" {
		return "No event matches " + oneLine(text, 60) + ". Esc clears the filter."
	}
	return "No event so far."
}
