package ui

import (
	"slices"
	"time"

	"electop/election"
)

// historyDoc lists the terms of an election, newest first, with the vacancies
// between them, and its events below.
func historyDoc(d *doc, s *scene, e *election.Election) {
	stands := standingOf(e, s.asOf)
	switch {
	case len(e.Terms) > 0:
	case stands == standsSemaphore:
		d.para(roleQuiet, "A semaphore has no terms: its holders come and go.")
	default:
		d.para(roleQuiet, "No term was observed: there was no leader since electop started.")
	}
	later := time.Time{} // start of the term after the one that is drawn
	if stands != standsLed && stands != standsSemaphore && len(e.Terms) > 0 {
		later = s.asOf
		vacancyLine(d, s.asOf.Sub(e.VacantSince), true, true)
	}
	for i := len(e.Terms) - 1; i >= 0; i-- {
		t := &e.Terms[i]
		if i < len(e.Terms)-1 && later.After(t.End) {
			vacancyLine(d, later.Sub(t.End), e.Terms[i+1].StartKnown, false)
		}
		termLines(d, s, t)
		later = t.Start
	}
	eventsOfElection(d, s, e)
}

func vacancyLine(d *doc, length time.Duration, known, lasting bool) {
	text := "no leader for "
	if !known {
		text = "no leader for at most "
	}
	text += precise(length)
	if lasting {
		text += " so far"
	}
	d.add(span{roleFaint, padTo("", 9)}, span{roleVacant, d.sym.vacant + " " + text})
}

func termLines(d *doc, s *scene, t *election.Term) {
	end, sign, r := "now", d.sym.led, roleLed
	if t.Over() {
		end, sign, r = clock(t.End, s.now), d.sym.dot, roleQuiet
	}
	start := clock(t.Start, s.now)
	if !t.StartKnown {
		start = "before " + start
	}
	line := []span{
		{roleQuiet, padTo("term "+termNumber(t.Number), 9)}, {r, sign + " "}, {roleStrong, t.Leader},
	}
	if t.Node != "" && !election.NamesNode(t.Leader, t.Node) {
		line = append(line, span{roleText, " on " + clean(t.Node)})
	}
	lasted := held(d.sym, t.Held(s.asOf), t.HeldKnown())
	if !t.Over() { // it runs on by the second
		lasted = atLeast(d.sym, duration(t.Held(s.asOf)), t.StartKnown)
	}
	line = append(line,
		span{roleText, "  " + lasted},
		span{roleQuiet, "  " + start + " " + d.sym.arrow + " " + end})
	d.add(line...)
	if t.Over() {
		d.indented(11, append([]span{{roleQuiet, "lost because "}}, causeSpans(s, t)...)...)
	}
}

func eventsOfElection(d *doc, s *scene, e *election.Election) {
	if len(e.Events) == 0 {
		return
	}
	d.head("Events")
	for i := len(e.Events) - 1; i >= 0; i-- {
		ev := &e.Events[i]
		spans := append([]span{{eventRole(ev), padTo(eventWord(ev), eventWordWidth)}}, eventSpans(d.sym, ev)...)
		d.add(append([]span{{roleQuiet, clock(ev.Time, s.now) + "  "}}, spans...)...)
	}
}

// historyMark is how many lines identify a place in a history: one of a term has its
// time, but those about its end may be alike.
const historyMark = 4

// historyTop are the first visible lines of a history that is scrolled down, nil of
// one that shows the newest.
func (m *Model) historyTop() [][]span {
	lines, offset := m.historyLines(), m.pane.offset
	if offset >= len(lines) {
		return nil
	}
	return lines[offset:min(len(lines), offset+historyMark)]
}

// keepHistoryTop scrolls to the lines that were visible before: what is new is above
// them.
func (m *Model) keepHistoryTop(top [][]span) {
	if top == nil {
		return
	}
	lines := m.historyLines()
	for i := m.pane.offset; i+len(top) <= len(lines); i++ {
		if slices.EqualFunc(lines[i:i+len(top)], top, slices.Equal) {
			m.pane.offset = i
			return
		}
	}
}

// historyLines are those of a history that is scrolled down.
func (m *Model) historyLines() [][]span {
	e := m.table.selected()
	if e == nil || m.pane.tab != tabHistory || m.pane.offset == 0 {
		return nil
	}
	return m.pane.lines(m.scene(), m.sym, e, m.where().pane.w-2)
}
