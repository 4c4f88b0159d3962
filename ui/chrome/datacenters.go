package chrome

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"electop/election"
	"electop/ui/kit"
	"electop/ui/scene"
)

// namedDatacenters is the maximum number of datacenters that the header names. If there are more, the header names only
// the datacenters with a problem. If the number of these also exceeds the limit, the header only counts the
// datacenters, and banners name those with a problem.
const namedDatacenters = 3

// datacenterSpans returns the state of the connection to each datacenter.
func datacenterSpans(s *scene.Scene, width int) []kit.Span {
	spans, all := []kit.Span{{kit.Text, " "}}, len(s.Live.Parts)
	live, lost := 0, false
	for _, part := range s.Live.Parts {
		state := datacenterSpan(s, part, width)
		lost = lost || state.Role == kit.Bad
		if state.Role == kit.Led {
			live++
			if all > namedDatacenters {
				continue
			}
		}
		spans = append(spans, kit.Span{kit.Text, " "}, state)
	}
	if all <= namedDatacenters {
		return spans
	}
	count := strconv.Itoa(live) + " of " + strconv.Itoa(all) + " live"
	switch {
	case all-live <= namedDatacenters:
		return append([]kit.Span{{kit.Text, "  "}, {kit.Led, s.Sym.Live + " " + count}}, spans[1:]...)
	case lost:
		return []kit.Span{{kit.Text, "  "}, {kit.Bad, s.Sym.Lost + " " + count}}
	}
	return []kit.Span{{kit.Text, "  "}, {kit.Delay, s.Sym.Warning + " " + count}}
}

// datacenterSpan returns the state of the connection to one datacenter.
func datacenterSpan(s *scene.Scene, part *election.Snapshot, width int) kit.Span {
	c, name := part.Connection, scene.OneLine(part.Datacenter, 16)
	switch word := staleWord(s.In(part.Datacenter)); {
	case c.State == election.Lost:
		return kit.Span{kit.Bad, s.Sym.Lost + " " + name + " " + lostWord(c) + " " + kit.Duration(s.Now.Sub(c.Since))}
	case c.State != election.Live:
		return kit.Span{kit.Delay, s.Sym.Connecting + " " + name}
	case word != "":
		return kit.Span{kit.Delay, s.Sym.Warning + " " + name + " stale"}
	case c.Latency > 0 && width >= latencyWidth:
		return kit.Span{kit.Led, s.Sym.Live + " " + name + " " + latency(c.Latency)}
	}
	return kit.Span{kit.Led, s.Sym.Live + " " + name}
}

// latencyWidth is the minimum width of a header that shows the latency of several datacenters.
const latencyWidth = 110

// partBanners returns a line for each datacenter whose connection is lost, unless all are lost, and for each datacenter
// with stale keys or a stale list of keys. For a past moment, it returns a line for each datacenter that had no
// observer.
func partBanners(s *scene.Scene, width int) [][]kit.Span {
	if s.Past != nil {
		return blindBanners(s)
	}
	if !s.Several() {
		if b := staleBanner(s, width); b != nil {
			return [][]kit.Span{b}
		}
		return nil
	}
	var lines [][]kit.Span
	for _, part := range s.Live.Parts {
		name := scene.OneLine(part.Datacenter, 40)
		if part.Connection.State == election.Lost && s.Live.Connection.State != election.Lost {
			lines = append(lines, lostDatacenter(s, part, name))
		}
		in := s.In(part.Datacenter)
		if b := staleBanner(in, width-kit.Width(name)-2); b != nil {
			b[0].Text = " " + name + ":" + b[0].Text
			lines = append(lines, b)
		}
	}
	return lines
}

// partsSummary shows in one banner which datacenters have a problem.
func partsSummary(s *scene.Scene) [][]kit.Span {
	names := map[string][]string{}
	for _, part := range s.Live.Parts {
		problem := partProblem(s, part.Connection)
		names[problem] = append(names[problem], part.Datacenter)
	}
	if s.Past != nil {
		names = map[string][]string{partBlind: slices.Sorted(maps.Keys(s.Past.Blind))}
	}
	var b []kit.Span
	for _, problem := range []string{partLost, partRefused, partStale, partBlind} {
		if n := len(names[problem]); n > 0 {
			text := " " + kit.Plural(n, "datacenter") + verb(n) + problem + ":"
			b = append(b, kit.Span{kit.Alarm, text}, kit.Span{kit.Text, " " + scene.OneLine(strings.Join(names[problem], ", "), 300) + "."})
		}
	}
	if b == nil {
		return nil
	}
	return [][]kit.Span{b}
}

// The problems that partsSummary shows.
const (
	partLost    = "unreachable"
	partRefused = "rejecting this token"
	partStale   = "partly stale"
	partBlind   = "without an observer"
)

// partProblem returns the problem with one datacenter, or "" if there is none.
func partProblem(s *scene.Scene, c election.Connection) string {
	switch _, stale := staleOf(c, election.PartKeys, election.PartNames); {
	case s.Live.Connection.State == election.Lost: // another banner describes the lost connection
		return ""
	case c.State == election.Lost && c.Refused:
		return partRefused
	case c.State == election.Lost:
		return partLost
	case stale:
		return partStale
	}
	return ""
}

// lostDatacenter returns the banner for a datacenter whose connection is lost. It shows the age of the datacenter's
// rows, the next retry and the error.
func lostDatacenter(s *scene.Scene, part *election.Snapshot, name string) []kit.Span {
	c := part.Connection
	text := " " + name + " is unreachable. "
	if c.Refused {
		text = " " + name + " rejects this token. "
	}
	switch n := len(part.Elections); {
	case n == 0:
	case !c.LastContact.IsZero():
		text += "Its " + kit.Plural(n, "election") + verb(n) + kit.Duration(s.Now.Sub(c.LastContact)) + " old. "
	case !part.RecordedUntil.IsZero():
		text += "Its " + kit.Plural(n, "election") + verb(n) + "from the history, " + kit.Duration(s.Now.Sub(part.RecordedUntil)) + " old. "
	}
	b := []kit.Span{{kit.Alarm, text}, {kit.Text, " "}, {kit.Bad, retryText(s, c.RetryAt)}}
	if c.Error != "" {
		b = append(b, kit.Span{kit.Text, "  " + scene.OneLine(c.Error, 200)})
	}
	return b
}

func verb(n int) string {
	if n == 1 {
		return " is "
	}
	return " are "
}
