package chrome

import (
	"time"

	"electop/election"
	"electop/election/query"
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

// tallHeight is the minimum window height at which banners are wrapped and the text about the demonstration is shown.
// bodyHeight is the minimum number of lines that banners leave for the body, in a window of at least 14 lines.
const (
	tallHeight = 20
	bodyHeight = 6
)

// Banners returns the lines between header and body. demo is empty outside a demonstration. If the lines do not fit,
// one banner describes all datacenters with a problem.
func Banners(s *scene.Scene, k *keys.Map, f Filtering, demo string, width, height int) [][]kit.Span {
	wrap := func(banners [][]kit.Span) [][]kit.Span { return banners }
	if height >= tallHeight {
		wrap = func(banners [][]kit.Span) [][]kit.Span { return wrapBanners(banners, width) }
	} else {
		demo = ""
	}
	room := height - 2 // the header and the footer are one line each
	room = max(0, room-bodyHeight, room/2)
	lines := wrap(banners(s, k, f, demo, width, partBanners(s, width)))
	if len(lines) > room && s.Several() {
		lines = wrap(banners(s, k, f, demo, width, partsSummary(s)))
	}
	return lines[:min(len(lines), room)]
}

// banners returns the lines about the past, the filter, a lost connection, datacenters and stale keys (parts), a pause,
// loading, the history and a demonstration, in this order.
func banners(s *scene.Scene, k *keys.Map, f Filtering, demo string, width int, parts [][]kit.Span) [][]kit.Span {
	var lines [][]kit.Span
	sym, hasBoard := s.Sym, len(s.Shown.Elections) > 0
	if f.Typing {
		lines = append(lines, nil)
	}
	lines = append(lines, pastBanners(s, k, width)...)
	if !f.Typing && !f.Empty() {
		lines = append(lines, filterBanner(s, f))
	}
	switch lost := s.Live.Connection.State == election.Lost; {
	case !s.Stale || !hasBoard:
	case lost:
		lines = append(lines, lostBanner(s))
	default:
		lines = append(lines, []kit.Span{{kit.Alarm, recordedText(s)}, {kit.Text, " Connecting to Consul" + sym.Ellipsis}})
	}
	lines = append(lines, parts...)
	if s.Paused {
		lines = append(lines, []kit.Span{
			{kit.Badge, " " + sym.Paused + " PAUSED "},
			{kit.Text, " at " + kit.Clock(s.AsOf, s.Now) + ", " + kit.Duration(s.Now.Sub(s.AsOf)) + " ago; electop still watches Consul"},
			{kit.Quiet, "   " + k.Pause.Help().Key + " continues"},
		})
	}
	if hasBoard && !s.Live.Loaded && !s.Stale && s.Past == nil {
		text := " Loading: some elections have not been read yet."
		if !s.Live.RecordedUntil.IsZero() {
			text = " Loading: some elections have not been read yet. Grey rows are from the history."
		}
		lines = append(lines, []kit.Span{{kit.Delay, " " + sym.Connecting + text}})
	}
	if s.Warning != "" {
		lines = append(lines, []kit.Span{{kit.Delay, " " + sym.Warning + " "}, {kit.Text, scene.OneLine(s.Warning, 200)}})
	}
	if demo != "" {
		lines = append(lines, []kit.Span{{kit.Accent, " " + sym.Note + " "}, {kit.Quiet, scene.OneLine(demo, 200)}})
	}
	return lines
}

func recordedText(s *scene.Scene) string {
	until := s.Live.RecordedUntil
	return " History until " + kit.Clock(until, s.Now) + " (" + kit.Duration(s.Now.Sub(until)) + " ago). "
}

// filterBanner shows the filter, its result and the number of hidden marks.
func filterBanner(s *scene.Scene, f Filtering) []kit.Span {
	b := []kit.Span{{kit.Accent, " / "}, {kit.Strong, scene.OneLine(f.Text, 120)}}
	b = append(b, kit.Span{kit.Quiet, "   " + f.Result})
	if f.Err != nil {
		b = append(b, kit.Span{kit.Text, "   "}, kit.Span{kit.Bad, f.Err.Error()})
	}
	if f.Hidden > 0 {
		b = append(b, kit.Span{kit.Text, "   "}, kit.Span{kit.Delay, s.Sym.Mark + hiddenMarks(f.Hidden)})
	}
	if s.Past != nil || f.Err != nil { // in the past, esc does not clear the filter: it returns to now
		return b
	}
	return append(b, kit.Span{kit.Quiet, "   esc clears"})
}

// lostBanner shows the age of the data, the error and the time until the next attempt.
func lostBanner(s *scene.Scene) []kit.Span {
	c := s.Live.Connection
	text := " Consul is unreachable. "
	if c.Refused {
		text = " Consul rejects this token. "
	}
	switch {
	case c.LastContact.IsZero() && !s.Live.RecordedUntil.IsZero():
		text = recordedText(s) + text[1:]
	case !c.LastContact.IsZero():
		text += "The board is " + kit.Duration(s.Now.Sub(c.LastContact)) + " old. "
	}
	b := []kit.Span{{kit.Alarm, text}, {kit.Text, " "}, {kit.Bad, retryText(s, c.RetryAt)}}
	if c.Error != "" {
		b = append(b, kit.Span{kit.Text, "  " + scene.OneLine(c.Error, 200)})
	}
	return b
}

func retryText(s *scene.Scene, at time.Time) string {
	if left := at.Sub(s.Now); !at.IsZero() && left > 0 {
		return "next retry in " + kit.Duration(left+time.Second-1)
	}
	return "retrying now"
}

// bannerLines is the maximum number of lines of a banner.
const bannerLines = 3

// wrapBanners breaks banners that do not fit. An empty banner reserves the line of the prompt.
func wrapBanners(banners [][]kit.Span, width int) [][]kit.Span {
	var lines [][]kit.Span
	for _, b := range banners {
		parts := [][]kit.Span{b}
		if kit.SpansWidth(b) > width {
			parts = kit.Flow(b, width-1)
		}
		for i, part := range parts[:min(len(parts), bannerLines)] {
			if i > 0 {
				part = append([]kit.Span{{kit.Text, " "}}, part...)
			}
			lines = append(lines, part)
		}
	}
	return lines
}
