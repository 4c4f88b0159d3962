// Package chrome draws what surrounds the views: header, banners, footer and the text of an empty board.
package chrome

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Header draws the first line: Consul's address, the counts, the connection and the time.
func Header(p *kit.Painter, s *scene.Scene, c scene.Counts, width int) string {
	detail := signs
	switch {
	case width >= 150:
		detail = allWords
	case width >= 64:
		detail = words
	}
	var left, right []kit.Span
	room := 0
	for fits := false; !fits; detail-- { // in a narrow window, the address is more important than the words
		right = slices.Concat(kit.Text.Spans("  "), countSpans(s, c, detail), linkSpans(s, width), kit.Text.Spans("  "+kit.ClockTime(s.Now)+" "))
		room = width - kit.SpansWidth(right)
		left = placeSpans(s, room)
		fits = detail == signs || width >= 100 || kit.SpansWidth(left) < room && strings.Contains(left[len(left)-1].Text, scene.Clean(s.Address))
	}
	l := kit.NewLine(p, width)
	l.Width = max(0, room-1)
	l.Texts(left...)
	l.Width = width
	l.To(room)
	l.Texts(right...)
	return l.Done()
}

// The levels of detail of the counts: signs only, words except for semaphores and unreadable elections, or only words.
const (
	signs = iota
	words
	allWords
)

// placeSpans returns the left half of the header: the program's name, the mode, the context, the datacenter, the address
// and the patterns.
func placeSpans(s *scene.Scene, room int) []kit.Span {
	spans := []kit.Span{{kit.Accent, " electop"}, {kit.Text, " "}}
	mode := func(on bool, r kit.Role, text string) {
		if on {
			spans = append(spans, kit.Text.Span(" "), r.Span(text))
		}
	}
	mode(s.Demo != "", kit.Badge, " DEMO ")
	mode(s.Context != "", kit.Strong, sanitize.Line(s.Context, 24))
	mode(s.ReadOnly, kit.Badge, " READ-ONLY ")
	address, dc, dot := scene.Clean(s.Address), scene.Clean(s.Live.Datacenter), " "+s.Sym.Dot+" "
	text := address
	used := kit.SpansWidth(spans) + 1
	steady := kit.Width(election.FormatDuration(s.Latency)) // the patterns must not come and go with the digits of the latency
	for i, pattern := range s.Patterns {
		rest := len(s.Patterns) - i
		if pattern = dot + scene.Clean(pattern); used+kit.Width(dc+text+pattern)+9-steady+3*min(1, rest-1) > room {
			if i > 0 {
				text += " +" + strconv.Itoa(rest)
			}
			break
		}
		text += pattern
	}
	switch {
	case room <= len(" electop "):
		return kit.Text.Spans("")
	case used+8 > room:
		return spans
	case dc == "": // with several datacenters, the connections contain their names
	case used+kit.Width(dc+address)+4 > room:
		text = address // the address is more important than the datacenter
	default:
		text = dc + dot + text
	}
	return append(spans, kit.Text.Span(" "), kit.Quiet.Span(text))
}

// countSpans returns the number of elections in each state, and after that of the leaders the numbers of failed leaders
// and of leaders at risk.
func countSpans(s *scene.Scene, c scene.Counts, detail int) (spans []kit.Span) {
	if !s.Live.Loaded && len(s.Live.Elections) == 0 {
		return nil
	}
	add := func(r kit.Role, text string) {
		if s.Stale {
			r = kit.Quiet // stale counts must not look current
		}
		spans = append(spans, r.Span(text), kit.Text.Span("  "))
	}
	for i, n := range c.Of[:scene.StateUnsearched] {
		state := scene.DisplayState(i)
		if n == 0 && state != scene.StateLed {
			continue
		}
		sign, role := state.Sign(s.Sym)
		text := strconv.Itoa(n) + " " + state.Word()
		switch {
		case detail == signs || detail == words && (state == scene.StateSemaphore || state == scene.StateUnreadable):
			text = strconv.Itoa(n) + sign
		case state == scene.StateSemaphore:
			text = kit.Plural(n, state.Word())
		}
		if state == scene.StateVacant {
			role, text = kit.Alarm, " "+text+" "
		}
		if state == scene.StateSemaphore {
			role = kit.Quiet
		}
		add(role, text)
		if state != scene.StateLed {
			continue
		}
		risk, r, sign := c.Critical+c.Warning, kit.Delay, s.Sym.Warning
		if c.Critical > 0 || c.Failed > 0 && detail == signs {
			r, sign = kit.Bad, s.Sym.Critical
		}
		if detail == signs {
			if risk += c.Failed; risk > 0 {
				add(r, strconv.Itoa(risk)+sign)
			}
			continue
		}
		if c.Failed > 0 {
			add(kit.Bad, "("+s.Sym.Critical+" "+strconv.Itoa(c.Failed)+" failed)")
		}
		if risk > 0 {
			add(r, sign+" "+strconv.Itoa(risk)+" at risk")
		}
	}
	return spans
}

// namedDatacenters is the maximum number of datacenters that the header names. If there are more, the header only counts
// them, and banners name those with a problem.
const namedDatacenters = 3

// linkSpans returns the state of the connection to Consul, or to each datacenter.
func linkSpans(s *scene.Scene, width int) []kit.Span {
	if !s.Several() || s.Live.Parts == nil {
		spans := linkSpan(s, s.Live, "", s.Latency, width)
		if width >= 80 {
			spans = append(kit.Text.Spans("  "), spans...)
		}
		return spans
	}
	spans, live, worst := kit.Text.Spans(" "), 0, kit.Led
	for _, part := range s.Live.Parts {
		state := linkSpan(s, part, " "+sanitize.Line(part.Datacenter, 16), part.Connection.Latency, width)[0]
		if state.Role == kit.Led {
			live++
		} else if worst != kit.Bad {
			worst = state.Role
		}
		spans = append(spans, kit.Text.Span(" "), state)
	}
	if all := len(s.Live.Parts); all > namedDatacenters {
		sign := map[kit.Role]string{kit.Led: s.Sym.Led, kit.Delay: s.Sym.Warning, kit.Bad: s.Sym.Critical}[worst]
		return []kit.Span{{kit.Text, "  "}, {worst, sign + " " + strconv.Itoa(live) + " of " + strconv.Itoa(all) + " live"}}
	}
	return spans
}

// linkSpan returns the state of the connection to a datacenter, or to Consul if name is empty.
func linkSpan(s *scene.Scene, part *election.Snapshot, name string, latency time.Duration, width int) []kit.Span {
	c, sym, ms := part.Connection, s.Sym, ""
	if latency > 0 {
		ms = " " + election.FormatDuration(latency)
	}
	problems := s.Problems()
	i := slices.IndexFunc(problems, func(p scene.Problem) bool { return p.Where == "" || p.Where == part.Datacenter })
	live := kit.Led.Span(sym.Led + cmp.Or(name, " live"))
	switch {
	case c.State == election.Lost:
		word := "no response"
		if !c.LastContact.IsZero() {
			word = "lost"
		} else if c.Refused {
			word = "refused"
		}
		return kit.Bad.Spans(sym.Critical + name + " " + word + " " + s.Ago(c.Since))
	case c.State != election.Live:
		return kit.Delay.Spans(sym.Connecting + cmp.Or(name, " connecting"))
	case i < 0 && (width < 80 || name != "" && width < 110):
		return []kit.Span{live}
	case i < 0 && name != "":
		return live.Role.Spans(live.Text + ms)
	case i < 0:
		return []kit.Span{live, {kit.Quiet, ms}}
	case name != "":
		return kit.Delay.Spans(sym.Warning + name + " stale")
	}
	age := s.Ago(problems[i].Since)
	if width < 64 { // the banner names the kind
		return kit.Delay.Spans(sym.Warning + " stale " + age)
	}
	return []kit.Span{live, {kit.Quiet, " " + sym.Dot + " "}, {kit.Delay, problems[i].Word + " " + age}}
}
