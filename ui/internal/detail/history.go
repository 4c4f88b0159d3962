package detail

import (
	"slices"
	"time"

	"electop/election"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// historyDoc lists the terms, newest first, with the vacancies between them, and then the
// events.
func historyDoc(d *term.Page, s *scene.Scene, e *election.Election) {
	state := scene.DisplayStateOf(e, s.AsOf)
	switch {
	case len(e.Terms) > 0:
	case state == scene.StateSemaphore:
		d.Para(term.Quiet, "A semaphore has no terms, only holders.")
	default:
		d.Para(term.Quiet, "No term was observed: there was no leader since electop started.")
	}
	later := time.Time{} // start of the next term
	if state != scene.StateLed && state != scene.StateSemaphore && len(e.Terms) > 0 {
		later = s.AsOf
		vacancyLine(d, s.AsOf.Sub(e.VacantSince), true, true)
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

func vacancyLine(d *term.Page, length time.Duration, known, lasting bool) {
	text := "no leader for "
	if !known {
		text = "no leader for at most "
	}
	text += term.Precise(length)
	if lasting {
		text += " so far"
	}
	d.Add(term.Span{term.Faint, term.PadTo("", 9)}, term.Span{term.Vacant, d.Sym.Vacant + " " + text})
}

func termLines(d *term.Page, s *scene.Scene, t *election.Term) {
	end, sign, r := "now", d.Sym.Led, term.Led
	if t.Over() {
		end, sign, r = term.Clock(t.End, s.Now), d.Sym.Dot, term.Quiet
	}
	start := term.Clock(t.Start, s.Now)
	if !t.StartKnown {
		start = "before " + start
	}
	line := []term.Span{
		{term.Quiet, term.PadTo("term "+scene.TermNumber(t.Number), 9)}, {r, sign + " "}, {term.Strong, t.Leader},
	}
	if t.Node != "" && !election.NamesNode(t.Leader, t.Node) {
		line = append(line, term.Span{term.Text, " on " + scene.Clean(t.Node)})
	}
	lasted := scene.Held(d.Sym, t.Held(s.AsOf), t.HeldKnown())
	if !t.Over() { // the duration of the current term grows
		lasted = term.AtLeast(d.Sym, term.Duration(t.Held(s.AsOf)), t.StartKnown)
	}
	line = append(line,
		term.Span{term.Text, "  " + lasted},
		term.Span{term.Quiet, "  " + start + " " + d.Sym.Arrow + " " + end})
	d.Add(line...)
	if t.Over() {
		d.Indented(11, append([]term.Span{{term.Quiet, "lost because "}}, causeSpans(s, t)...)...)
	}
}

func eventsOfElection(d *term.Page, s *scene.Scene, e *election.Election) {
	if len(e.Events) == 0 {
		return
	}
	d.Head("Events")
	for i := len(e.Events) - 1; i >= 0; i-- {
		ev := &e.Events[i]
		spans := append([]term.Span{{scene.EventRole(ev), term.PadTo(scene.EventWord(ev), scene.EventWordWidth)}}, scene.EventSpans(d.Sym, ev)...)
		d.Add(append([]term.Span{{term.Quiet, term.Clock(ev.Time, s.Now) + "  "}}, spans...)...)
	}
}

// historyMark is the number of lines that keepHistory compares to find a position: one is
// not enough, because lines about causes may be identical.
const historyMark = 4

// keepHistory keeps the visible lines of a scrolled history in place when new ones appear
// above.
func (m *Model) keepHistory(before, s *scene.Scene) {
	old, e := before.Selected, s.Selected
	if m.tab != tabHistory || m.offset == 0 || old == e || old == nil || e == nil || old.ID() != e.ID() {
		return
	}
	then := *before
	then.AsOf, then.Now = s.AsOf, s.Now // equal times: only new lines may differ
	was, _ := m.lines(&then, old, m.rect.W-2)
	if m.offset >= len(was) {
		return
	}
	top := was[m.offset:min(len(was), m.offset+historyMark)]
	lines, _ := m.lines(s, e, m.rect.W-2)
	for i := m.offset; i+len(top) <= len(lines); i++ {
		if slices.EqualFunc(lines[i:i+len(top)], top, slices.Equal) {
			m.offset = i
			return
		}
	}
}
