package detail

import (
	"slices"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/ui/kit"
	"electop/ui/past"
	"electop/ui/scene"
)

// historyDoc lists the terms, latest first, with the vacancies and the gaps in observation between them. The events
// follow below the terms.
func historyDoc(d *kit.Page, s *scene.Scene, e *election.Election, stored *storedTerms) {
	state, terms := scene.DisplayStateOf(e, s.AsOf), stored.merged(e, s.Past)
	switch {
	case len(terms) > 0:
	case state == scene.StateSemaphore:
		d.Para(kit.Quiet, "A semaphore has no terms, only holders.")
	case stored.end && stored.past.On():
		d.Para(kit.Quiet, "No term was observed.")
	default:
		d.Para(kit.Quiet, "No term was observed: there has been no leader since electop started.")
	}
	if state != scene.StateLed && state != scene.StateSemaphore && len(terms) > 0 {
		vacancyLine(d, s.AsOf.Sub(e.VacantSince), true, true)
	}
	gaps := past.Unobserved(stored.gaps, s.LiveSince())
	for i := range terms {
		if i > 0 {
			vacancyAfter(d, &terms[i], &terms[i-1])
		}
		gaps = gapsSince(d, s, gaps, terms[i].Start)
		termLines(d, s, &terms[i])
	}
	if stored.end {
		gapsSince(d, s, gaps, time.Time{})
	}
	if text := stored.state(d.Sym); len(text) > 0 {
		d.Add(text...)
	}
	if !stored.past.On() || stored.full() || stored.err != nil {
		eventsOfElection(d, s, e)
	}
}

// gapsSince writes the gaps that began at or after a moment, latest first. It returns the earlier gaps.
func gapsSince(d *kit.Page, s *scene.Scene, gaps []history.Range, at time.Time) []history.Range {
	for n := len(gaps) - 1; n >= 0 && !gaps[n].Since.Before(at); n-- {
		gap := gaps[n]
		d.Add(kit.Span{kit.Faint, kit.PadTo("", 9)}, kit.Span{kit.Delay, d.Sym.Unknown + " no observer for " + kit.Duration(gap.Until.Sub(gap.Since))},
			kit.Span{kit.Quiet, "  " + dated(d, s)(gap.Since) + " " + d.Sym.Arrow + " " + dated(d, s)(gap.Until)})
		gaps = gaps[:n]
	}
	return gaps
}

func dated(d *kit.Page, s *scene.Scene) func(at time.Time) string {
	return func(at time.Time) string { return kit.Dated(at, s.Now, d.Width >= secondsWidth) }
}

// secondsWidth is the minimum width of a page that shows times with both date and seconds.
const secondsWidth = 90

// vacancyAfter writes the time without a leader between a term and the next one.
func vacancyAfter(d *kit.Page, t, next *history.Term) {
	switch length := next.Start.Sub(t.End); {
	case !t.Over():
	case t.Vacancy != nil:
		if *t.Vacancy > 0 {
			vacancyLine(d, time.Duration(*t.Vacancy), true, false)
		}
	case length > 0:
		vacancyLine(d, length, false, false)
	}
}

func vacancyLine(d *kit.Page, length time.Duration, known, lasting bool) {
	text := "no leader for "
	if !known {
		text = "no leader for at most "
	}
	text += kit.Precise(length)
	if lasting {
		text += " so far"
	}
	d.Add(kit.Span{kit.Faint, kit.PadTo("", 9)}, kit.Span{kit.Vacant, d.Sym.Vacant + " " + text})
}

func termLines(d *kit.Page, s *scene.Scene, t *history.Term) {
	end, sign, r, at := "now", d.Sym.Led, kit.Led, dated(d, s)
	if s.Past != nil {
		end = at(s.Past.At)
	}
	if t.Over() {
		end, sign, r = t.To(s.Now, at), d.Sym.Dot, kit.Quiet
	}
	line := []kit.Span{
		{kit.Quiet, kit.PadTo("term "+scene.TermNumber(t.Number), 9)}, {r, sign + " "}, {kit.Strong, scene.Clean(t.Leader)},
	}
	if t.Node != "" && !election.NamesNode(t.Leader, t.Node) {
		line = append(line, kit.Span{kit.Text, " on " + scene.Clean(t.Node)})
	}
	lasted := scene.Held(d.Sym, t.Held(s.AsOf), t.HeldKnown())
	if !t.Over() { // the duration of the current term grows
		lasted = kit.AtLeast(d.Sym, kit.Duration(t.Held(s.AsOf)), t.StartKnown)
	}
	line = append(line,
		kit.Span{kit.Text, "  " + lasted},
		kit.Span{kit.Quiet, "  " + t.From(s.Now, at) + " " + d.Sym.Arrow + " " + end})
	d.Add(line...)
	if t.Over() {
		d.Indented(11, append([]kit.Span{{kit.Quiet, "lost because "}}, lossSpans(s, t)...)...)
	}
}

// lossSpans describes why a term ended or which operator ended it.
func lossSpans(s *scene.Scene, t *history.Term) []kit.Span {
	by := scene.Clean(t.By)
	if by == "" || !scene.ByOperator(t.Cause) {
		return causeSpans(s, &t.Term)
	}
	return operatorSpans(by, t.Cause)
}

func eventsOfElection(d *kit.Page, s *scene.Scene, e *election.Election) {
	if len(e.Events) == 0 {
		return
	}
	d.Head("Events")
	for i := len(e.Events) - 1; i >= 0; i-- {
		ev := &e.Events[i]
		spans := append([]kit.Span{{scene.EventRole(ev), kit.PadTo(scene.EventWord(ev), scene.EventWordWidth)}}, scene.EventSpans(d.Sym, scene.EventLine{Ev: ev}, false, s.Now)...)
		d.Add(append([]kit.Span{{kit.Quiet, dated(d, s)(ev.Time) + "  "}}, spans...)...)
	}
}

// historyMark is the number of lines that keepHistory compares to find the scroll position. One line is not enough,
// because lines about causes may be identical.
const historyMark = 4

// keepHistory keeps the visible lines of a scrolled history in place when lines are added above them.
func (m *Model) keepHistory(before, s *scene.Scene) {
	old, e := before.Selected, s.Selected
	if m.tab != tabHistory || m.offset == 0 || old == e || old == nil || e == nil || old.ID() != e.ID() {
		return
	}
	then := *before
	then.AsOf, then.Now = s.AsOf, s.Now // the same times make the lines of both snapshots comparable
	was := m.lines(&then, old, m.rect.W-2)
	if m.offset >= len(was) {
		return
	}
	top := was[m.offset:min(len(was), m.offset+historyMark)]
	lines := m.lines(s, e, m.rect.W-2)
	for i := m.offset; i+len(top) <= len(lines); i++ {
		if slices.EqualFunc(lines[i:i+len(top)], top, slices.Equal) {
			m.offset = i
			return
		}
	}
}
