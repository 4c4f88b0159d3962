package chrome

import (
	"time"

	"electop/election/sanitize"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// pastBanners returns the lines that mark the past: the moment across the whole width, and
// below it what happened then, or that no observer was running.
func pastBanners(s *scene.Scene, width int) [][]term.Span {
	p := s.Past
	if p == nil {
		return nil
	}
	lines := [][]term.Span{{{term.Past, momentText(s, width)}}}
	switch {
	case p.Unobserved():
		lines = append(lines, []term.Span{{term.Delay, " " + s.Sym.Warning + " " + gapText(p, s.Now)}})
	case p.Event != nil:
		lines = append(lines, eventBanner(s, p))
	}
	return lines
}

// momentText describes the moment at the left and the keys at the right, as much as fits. A
// terminal may leave blanks at the end of a line without a background, so there are none.
func momentText(s *scene.Scene, width int) string {
	at, short := s.Past.At.Format(time.DateTime), s.Past.At.Format("Jan 02 15:04:05")
	age := term.Duration(s.Now.Sub(s.Past.At))
	dot := " " + s.Sym.Dot + " "
	full, keys := " "+s.Sym.Past+" PAST  "+at+dot+age+" ago", "esc returns to now"
	left, right := "", ""
	for _, text := range [][2]string{
		{full, "[ earlier event  ] later event" + dot + keys}, {full, keys},
		{" PAST " + at + dot + age + " ago", "esc: now"}, {" PAST " + short + dot + age, "esc: now"}, {" PAST " + short, "esc: now"},
	} {
		if left, right = text[0], text[1]; term.Width(left)+2+term.Width(right) <= width {
			break
		}
	}
	return term.PadTo(left, width-term.Width(right)) + right
}

// gapText says when no observer was running.
func gapText(p *scene.Past, now time.Time) string {
	since, until := clockAt(p.Gap.Since, p.At, now), clockAt(p.Gap.Until, p.At, now)
	switch {
	case p.Gap.Since.IsZero() && p.Gap.Until.IsZero():
		return "No observer was running at any time; nothing is known."
	case p.Gap.Since.IsZero():
		return "No observer before " + until + "; nothing is known."
	case p.Gap.Until.IsZero():
		return "No observer since " + since + "; last known state."
	}
	return "No observer from " + since + " to " + until + "; last known state."
}

// clockAt is a time of day, with the date if it is not that of the moment.
func clockAt(t, moment, now time.Time) string {
	t, moment = t.In(now.Location()), moment.In(now.Location())
	if t.Format(time.DateOnly) != moment.Format(time.DateOnly) {
		return t.Format("Jan 02 15:04:05")
	}
	return t.Format(time.TimeOnly)
}

// eventBanner describes the event that led to the moment.
func eventBanner(s *scene.Scene, p *scene.Past) []term.Span {
	ev := p.Event
	spans := []term.Span{{term.Quiet, " " + ev.Time.In(s.Now.Location()).Format("15:04:05.000") + "  "}}
	if ev.Election != "" {
		spans = append(spans, term.Span{term.Strong, sanitize.Text(ev.Election) + "  "})
	}
	spans = append(spans, term.Span{scene.EventRole(ev), scene.EventWord(ev) + "  "})
	if p.More > 0 {
		spans = append(spans, term.Span{term.Quiet, "(and " + term.Plural(p.More, "other event") + ")  "})
	}
	return append(spans, scene.EventSpans(s.Sym, ev)...)
}

// nothingThen explains a board without elections in the past.
func nothingThen(d *term.Page, s *scene.Scene) {
	d.Add(term.Span{term.Strong, "No election was known at " + s.Past.At.Format(time.DateTime)})
	d.Blank()
	if at := s.Past.Begins; at.IsZero() {
		d.Para(term.Text, "The history is empty.")
	} else {
		d.Para(term.Text, "The oldest stored event is of "+at.In(s.Now.Location()).Format(time.DateTime)+".")
	}
	d.Blank()
	d.Para(term.Quiet, "Press ] for the next event, esc to return to now.")
}
