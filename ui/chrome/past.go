package chrome

import (
	"maps"
	"slices"
	"time"

	"electop/election/sanitize"
	"electop/internal/history"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

// pastBanners returns the lines about the displayed past moment. The first line shows the moment. The second line
// shows the event at that moment, or the gap in observation around it.
func pastBanners(s *scene.Scene, k *keys.Map, width int) [][]kit.Span {
	p := s.Past
	if p == nil {
		return nil
	}
	lines := [][]kit.Span{{{kit.Past, momentText(s, k, width)}}}
	switch {
	case p.Unobserved():
		lines = append(lines, []kit.Span{{kit.Delay, " " + s.Sym.Warning + " " + gapText(p.Gap, p.At, s.Now)}})
	case p.Event != nil:
		lines = append(lines, eventBanner(s, p))
	}
	return lines
}

// blindBanners returns a line for each datacenter that had no observer at the displayed moment.
func blindBanners(s *scene.Scene) (lines [][]kit.Span) {
	for _, name := range slices.Sorted(maps.Keys(s.Past.Blind)) {
		text := scene.OneLine(name, 60) + ": " + gapText(s.Past.Blind[name], s.Past.At, s.Now)
		lines = append(lines, []kit.Span{{kit.Delay, " " + s.Sym.Warning + " " + text}})
	}
	return lines
}

// momentText shows the moment on the left and the keys on the right. It selects the longest text that fits. The text
// fills the width, because a terminal may omit the background of trailing blanks.
func momentText(s *scene.Scene, k *keys.Map, width int) string {
	at, short := s.Past.At.Format(time.DateTime), s.Past.At.Format("Jan 02 15:04:05")
	age := kit.Duration(s.Now.Sub(s.Past.At))
	dot := " " + s.Sym.Dot + " "
	full, back := " "+s.Sym.Past+" PAST  "+at+dot+age+" ago", "esc returns to now"
	left, right := "", ""
	for _, text := range [][2]string{
		{full, k.Earlier.Help().Key + " earlier event  " + k.Later.Help().Key + " later event" + dot + back}, {full, back},
		{" PAST " + at + dot + age + " ago", "esc: now"}, {" PAST " + short + dot + age, "esc: now"}, {" PAST " + short, "esc: now"},
	} {
		if left, right = text[0], text[1]; kit.Width(left)+2+kit.Width(right) <= width {
			break
		}
	}
	return kit.PadTo(left, width-kit.Width(right)) + right
}

func gapText(gap history.Range, at, now time.Time) string {
	since, until := clockAt(gap.Since, at, now), clockAt(gap.Until, at, now)
	switch {
	case gap.Since.IsZero() && gap.Until.IsZero():
		return "No observer was running at any time; the state is unknown."
	case gap.Since.IsZero():
		return "No observer before " + until + "; the state is unknown."
	case gap.Until.IsZero():
		return "No observer since " + since + "; last known state."
	}
	return "No observer from " + since + " to " + until + "; last known state."
}

// clockAt formats a time of day. It adds the date if t and the displayed moment are on different days.
func clockAt(t, moment, now time.Time) string {
	t, moment = t.In(now.Location()), moment.In(now.Location())
	if t.Format(time.DateOnly) != moment.Format(time.DateOnly) {
		return t.Format("Jan 02 15:04:05")
	}
	return t.Format(time.TimeOnly)
}

// eventBanner describes the event at the displayed moment.
func eventBanner(s *scene.Scene, p *scene.Past) []kit.Span {
	ev := p.Event
	spans := []kit.Span{{kit.Quiet, " " + ev.Time.In(s.Now.Location()).Format("15:04:05.000") + "  "}}
	if s.Several() {
		spans = append(spans, kit.Span{kit.Quiet, scene.Clean(ev.Datacenter) + "  "})
	}
	if ev.Election != "" {
		spans = append(spans, kit.Span{kit.Strong, sanitize.Text(ev.Election) + "  "})
	}
	spans = append(spans, kit.Span{scene.EventRole(ev), scene.EventWord(ev) + "  "})
	if p.More > 0 {
		spans = append(spans, kit.Span{kit.Quiet, "(and " + kit.Plural(p.More, "other event") + ")  "})
	}
	return append(spans, scene.EventSpans(s.Sym, ev, s.Now)...)
}

// nothingThen explains why the board shows no election at a past moment.
func nothingThen(d *kit.Page, s *scene.Scene, k *keys.Map) {
	d.Add(kit.Span{kit.Strong, "No election was known at " + s.Past.At.Format(time.DateTime)})
	d.Blank()
	if at := s.Past.Begins; at.IsZero() {
		d.Para(kit.Text, "The history is empty.")
	} else {
		d.Para(kit.Text, "The oldest stored event is from "+at.In(s.Now.Location()).Format(time.DateTime)+".")
	}
	d.Blank()
	d.Para(kit.Quiet, "Press "+k.Later.Help().Key+" for the next event, esc to return to now.")
}
