package chrome

import (
	"slices"
	"strings"
	"time"

	"electop/election"
	"electop/election/query"
	"electop/election/sanitize"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Filtering is the filter of the open view.
type Filtering struct {
	query.Filter
	// Result describes the number of matches. Hidden is the number of marked rows that do not match.
	Result string
	Hidden int
	// Typing is true while the prompt is open. The prompt covers the filter's banner.
	Typing bool
}

const (
	// tallHeight is the minimum window height at which banners are wrapped and the text about the demonstration is shown.
	// bodyHeight is the minimum number of lines that banners leave for the body, in a window of at least 14 lines.
	tallHeight, bodyHeight = 20, 6
	// bannerLines is the maximum number of lines of a banner.
	bannerLines = 3
)

// Banners returns the lines between header and body: about the past, the filter, problems, a pause, loading, the history
// and a demonstration, in this order.
func Banners(s *scene.Scene, k *keys.Map, f Filtering, width, height int) [][]kit.Span {
	var lines, fit [][]kit.Span
	add := func(spans ...kit.Span) { lines = append(lines, spans) }
	sym, hasBoard := s.Sym, len(s.Shown.Elections) > 0
	if f.Typing {
		add() // reserves the line of the prompt
	}
	lines = append(lines, pastBanners(s, width)...)
	if !f.Typing && !f.Empty() {
		add(filterBanner(s, f)...)
	}
	lines = append(lines, problems(s)...)
	if s.Stale && hasBoard && s.Live.Connection.State != election.Lost {
		add(kit.Alarm.Span(" "+s.Recorded(s.Live)+" "), kit.Text.Span(" Connecting to "+s.Store()+sym.Ellipsis))
	}
	if s.Paused {
		add(kit.Badge.Span(" "+sym.Paused+" PAUSED "),
			kit.Text.Span(" at "+s.Clock(s.AsOf)+", "+s.Ago(s.AsOf)+" ago; electop still watches "+s.Store()),
			kit.Quiet.Span("   "+k.Pause.Help().Key+" continues"))
	}
	if hasBoard && !s.Live.Loaded && !s.Stale && s.Past == nil {
		text := " Loading: some elections have not been read yet."
		if !s.Live.RecordedUntil.IsZero() {
			text += " Grey rows are from the history."
		}
		add(kit.Delay.Span(" " + sym.Connecting + text))
	}
	if s.Warning != "" {
		add(kit.Delay.Span(" "+sym.Warning+" "), kit.Text.Span(scene.Clean(s.Warning)))
	}
	if s.Demo != "" && height >= tallHeight {
		add(kit.Accent.Span(" "+sym.Note+" "), kit.Quiet.Span(scene.Clean(s.Demo)))
	}
	for _, b := range lines {
		parts := [][]kit.Span{b}
		if height >= tallHeight && kit.SpansWidth(b) > width {
			parts = kit.Flow(b, width-1)
		}
		for i, line := range parts[:min(len(parts), bannerLines)] {
			if i > 0 {
				line = append(kit.Text.Spans(" "), line...)
			}
			fit = append(fit, line)
		}
	}
	room := height - 2 // the header and the footer are one line each
	return fit[:min(len(fit), max(0, room-bodyHeight, room/2))]
}

// shownProblems is the maximum number of banners about problems.
const shownProblems = 2

// problems returns banners for the first problems with the elections, and one for the others. The header shows problems
// with other data.
func problems(s *scene.Scene) (lines [][]kit.Span) {
	var rest []string
	for _, p := range s.Problems() {
		if p.Kind == election.PartSessions || p.Kind == election.PartChecks || p.Where == "" && len(s.Shown.Elections) == 0 {
			continue
		}
		if len(lines) == shownProblems {
			rest = append(rest, scene.Short(p.Where))
			continue
		}
		if p.Where != "" && p.Kind != election.PartWhole {
			p.Text = scene.Short(p.Where) + ": " + p.Text
		}
		b := []kit.Span{{kit.Alarm, " " + p.Text + " "}, {kit.Text, " "}, {kit.Bad, retryText(s, p.Retry)}}
		if p.Error != "" {
			b = append(b, kit.Text.Span("  "+reason(s, p.Error)))
		}
		lines = append(lines, b)
	}
	if len(rest) > 0 {
		lines = append(lines, []kit.Span{{kit.Alarm, " " + kit.Plural(len(rest), "more problem") + " "}, {kit.Text, " " + strings.Join(slices.Compact(rest), ", ")}})
	}
	return lines
}

// filterBanner shows the filter, its result and the number of hidden marks.
func filterBanner(s *scene.Scene, f Filtering) []kit.Span {
	b := []kit.Span{{kit.Accent, " / "}, {kit.Strong, sanitize.Line(f.Text, 120)}, {kit.Quiet, "   " + f.Result}}
	if f.Err != nil {
		b = append(b, kit.Bad.Span("   "+f.Err.Error()))
	}
	if f.Hidden > 0 {
		b = append(b, kit.Text.Span("   "), hiddenMarks(s.Sym, f.Hidden))
	}
	if s.Past == nil && f.Err == nil { // in the past, esc does not clear the filter: it returns to now
		b = append(b, kit.Quiet.Span("   esc clears"))
	}
	return b
}

func retryText(s *scene.Scene, at time.Time) string {
	if left := at.Sub(s.Now); left > 0 {
		return "next retry in " + election.Remaining(left)
	}
	return "retrying now"
}

// pastBanners returns the lines about the displayed past moment: the moment, and the event at that moment or the gap in
// observation around it.
func pastBanners(s *scene.Scene, width int) [][]kit.Span {
	p := s.Past
	if p == nil {
		return nil
	}
	age := " " + s.Sym.Dot + " " + s.Ago(p.At)
	moment := " " + s.Sym.Past + " PAST  " + p.At.Format(time.DateTime) + age + " ago, without health checks"
	if kit.Width(moment) > width {
		moment = " PAST " + p.At.Format("Jan 02 15:04:05") + age
	}
	lines := [][]kit.Span{{{kit.Past, kit.PadTo(moment, width)}}} // a terminal may omit the background of trailing blanks
	if p.Unobserved() {
		lines = append(lines, kit.Delay.Spans(" "+s.Sym.Warning+" "+s.GapText()))
	}
	ev := p.Event
	if ev == nil {
		return lines
	}
	more, where := "", ""
	if p.More > 0 {
		more = "(and " + kit.Plural(p.More, "other event") + ")  "
	}
	if s.Several() {
		where = scene.Clean(ev.Datacenter) + "  "
	}
	spans := []kit.Span{
		{kit.Quiet, " " + ev.Time.In(s.Now.Location()).Format("15:04:05.000") + "  " + where}, {kit.Strong, strings.TrimPrefix(sanitize.Text(ev.Election)+"  ", "  ")},
		{scene.EventLine{Ev: ev}.Role(), scene.EventWord(ev) + "  "}, {kit.Quiet, more},
	}
	line, room := scene.EventLine{Ev: ev, Why: p.Why}, max(1, width-kit.SpansWidth(spans))
	text := scene.EventSpans(s.Sym, line, 0, s.Now)
	if kit.SpansWidth(text) > room {
		text = scene.EventSpans(s.Sym, line, room, s.Now)
	}
	return append(lines, append(spans, text...))
}
