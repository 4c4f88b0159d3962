// Package chrome draws what surrounds the views: header, banners, footer and the text of an empty board.
package chrome

import (
	"strconv"
	"strings"
	"time"

	"electop/election"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Header draws the first line: Consul's address, the counts, the connection and the time.
func Header(p *kit.Painter, s *scene.Scene, c scene.Counts, width int) string {
	right := stateSpans(s, c, width, true)
	if width-kit.SpansWidth(right) < len(" electop  ") {
		right = stateSpans(s, c, width, false)
	}
	room := width - kit.SpansWidth(right)
	l := kit.NewLine(p, width)
	l.Texts(kit.Fit(placeSpans(s, room), room-1, p.Sym)...)
	l.To(room)
	l.Texts(right...)
	return l.Done()
}

// stateSpans returns the right half of the header. If words is false, signs replace the words after the counts.
func stateSpans(s *scene.Scene, c scene.Counts, width int, words bool) []kit.Span {
	detail := countSigns
	if words && width >= 64 {
		detail = countWords
	}
	if words && width >= 150 {
		detail = countAll
	}
	spans := append(append(make([]kit.Span, 0, 18), kit.Span{kit.Text, "  "}), countSpans(s, c, detail)...)
	spans = append(spans, linkSpans(s, width)...)
	return append(spans, kit.Span{kit.Text, "  " + s.Now.Format("15:04:05") + " "})
}

// placeSpans returns the left half of the header: the program's name, the mode, the datacenter, the address and the
// patterns.
func placeSpans(s *scene.Scene, room int) []kit.Span {
	spans := []kit.Span{{kit.Accent, " electop"}, {kit.Text, " "}}
	if room <= kit.SpansWidth(spans) {
		return nil
	}
	if s.Demo != "" {
		spans = append(spans, kit.Span{kit.Text, " "}, kit.Span{kit.Badge, " DEMO "})
	}
	if s.Context != "" {
		spans = append(spans, kit.Span{kit.Text, " "}, kit.Span{kit.Strong, scene.OneLine(s.Context, 24)})
	}
	if s.ReadOnly {
		spans = append(spans, kit.Span{kit.Text, " "}, kit.Span{kit.Badge, " READ-ONLY "})
	}
	where := []string{scene.Clean(s.Address)} // with several datacenters, the connections contain their names
	if dc := s.Live.Datacenter; dc != "" {
		where = []string{scene.Clean(dc), where[0]}
	}
	for _, pattern := range s.Patterns {
		where = append(where, scene.Clean(pattern))
	}
	text := strings.Join(where, " "+s.Sym.Dot+" ")
	used := kit.SpansWidth(spans) + 1
	if address := scene.Clean(s.Address); !strings.HasPrefix(text, address) && used+kit.Width(where[0]+address)+4 > room {
		text = address // the address is more important than the datacenter
	}
	if used+8 > room {
		return spans
	}
	return append(spans, kit.Span{kit.Text, " "}, kit.Span{kit.Quiet, text})
}

// countDetail is the level of detail of the counts.
type countDetail uint8

const (
	countSigns countDetail = iota // signs only
	countWords                    // words for all counts except those of semaphores and unreadable elections
	countAll                      // words for all counts
)

// countSpans returns the number of elections in each state. It highlights the states that require action.
func countSpans(s *scene.Scene, c scene.Counts, detail countDetail) []kit.Span {
	spans := make([]kit.Span, 0, 12)
	for _, part := range []struct {
		n     int
		state scene.DisplayState
		role  kit.Role
	}{
		{c.Led, scene.StateLed, kit.Led}, {c.Vacant, scene.StateVacant, kit.Alarm}, {c.Delay, scene.StateLockDelay, kit.Delay},
		{c.Semaphore, scene.StateSemaphore, kit.Quiet}, {c.Unreadable, scene.StateUnreadable, kit.Quiet},
		{c.Idle, scene.StateIdle, kit.Quiet},
	} {
		if part.n == 0 && part.state != scene.StateLed {
			continue
		}
		sign, _ := part.state.Sign(s.Sym)
		text := strconv.Itoa(part.n) + " " + part.state.Word()
		if part.state == scene.StateSemaphore {
			text = kit.Plural(part.n, part.state.Word())
		}
		if detail == countSigns || detail == countWords && part.role == kit.Quiet && part.state != scene.StateIdle {
			text = strconv.Itoa(part.n) + sign
		}
		if part.role == kit.Alarm {
			text = " " + text + " "
		}
		r := part.role
		if s.Stale {
			r = kit.Quiet // stale counts must not look current
		}
		spans = append(spans, kit.Span{r, text}, kit.Span{kit.Text, "  "})
		if part.state == scene.StateLed {
			spans = append(spans, riskSpans(s, c, detail != countSigns)...)
		}
	}
	if !s.Live.Loaded && len(s.Live.Elections) == 0 {
		return nil
	}
	return spans
}

// riskSpans returns the numbers of failed leaders and of leaders at risk, with the symbol of the worst check.
func riskSpans(s *scene.Scene, c scene.Counts, words bool) []kit.Span {
	risk, r, sign := c.Critical+c.Warning, kit.Delay, s.Sym.Warning
	if c.Critical+c.Failed > 0 && !words || c.Critical > 0 {
		r, sign = kit.Bad, s.Sym.Critical
	}
	var spans []kit.Span
	add := func(r kit.Role, text string) {
		if s.Stale {
			r = kit.Quiet
		}
		spans = append(spans, kit.Span{r, text}, kit.Span{kit.Text, "  "})
	}
	switch {
	case !words && risk+c.Failed > 0:
		add(r, strconv.Itoa(risk+c.Failed)+sign)
		return spans
	case !words:
		return nil
	}
	if c.Failed > 0 {
		add(kit.Bad, s.Sym.Critical+" "+strconv.Itoa(c.Failed)+" failed")
	}
	if risk > 0 {
		add(r, sign+" "+strconv.Itoa(risk)+" at risk")
	}
	return spans
}

// linkSpans returns the state of the connection to Consul, or to each datacenter.
func linkSpans(s *scene.Scene, width int) []kit.Span {
	lead := "  "
	if width < 80 {
		lead = ""
	}
	if !s.Several() || s.Live.Parts == nil {
		return append([]kit.Span{{kit.Text, lead}}, linkSpan(s, s.Live, "", s.Latency, width)...)
	}
	spans := []kit.Span{{kit.Text, " "}}
	all, live, lost := len(s.Live.Parts), 0, false
	for _, part := range s.Live.Parts {
		state := linkSpan(s, part, scene.OneLine(part.Datacenter, 16), part.Connection.Latency, width)
		lost = lost || state[0].Role == kit.Bad
		if state[0].Role == kit.Led {
			live++
			if all > namedDatacenters {
				continue
			}
		}
		spans = append(spans, kit.Span{kit.Text, " "}, state[0])
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

// namedDatacenters is the maximum number of datacenters that the header names. If there are more, the header names only
// the datacenters with a problem. If the number of these also exceeds the limit, the header only counts the
// datacenters, and banners name those with a problem.
const namedDatacenters = 3

// linkSpan returns the state of the connection to a datacenter, or to Consul if name is empty.
func linkSpan(s *scene.Scene, part *election.Snapshot, name string, latency time.Duration, width int) []kit.Span {
	c, sym, several := part.Connection, s.Sym, name != ""
	if several {
		name = " " + name
	}
	var stale *scene.Problem
	for _, p := range s.Problems() {
		if p.Where == "" || p.Where == part.Datacenter {
			stale = &p
			break
		}
	}
	latencyText := ""
	if latency >= time.Millisecond {
		latencyText = " " + strconv.FormatInt(latency.Round(time.Millisecond).Milliseconds(), 10) + "ms"
	} else if latency > 0 {
		latencyText = " <1ms"
	}
	switch {
	case c.State == election.Lost:
		return []kit.Span{{kit.Bad, sym.Lost + name + " " + lostWord(c) + " " + kit.Duration(s.Now.Sub(c.Since))}}
	case c.State != election.Live && several:
		return []kit.Span{{kit.Delay, sym.Connecting + name}}
	case c.State != election.Live:
		return []kit.Span{{kit.Delay, sym.Connecting + " connecting"}}
	case stale != nil && several && s.Past == nil:
		return []kit.Span{{kit.Delay, sym.Warning + name + " stale"}}
	case stale != nil && s.Past == nil && width < 64: // the banner names the kind
		return []kit.Span{{kit.Delay, sym.Warning + " stale " + kit.Duration(s.Now.Sub(stale.Since))}}
	case stale != nil && s.Past == nil:
		return []kit.Span{{kit.Led, sym.Live + " live"}, {kit.Quiet, " " + sym.Dot + " "}, {kit.Delay, stale.Word + " " + kit.Duration(s.Now.Sub(stale.Since))}}
	case several && width >= 110:
		return []kit.Span{{kit.Led, sym.Live + name + latencyText}}
	case several:
		return []kit.Span{{kit.Led, sym.Live + name}}
	case width < 80:
		latencyText = ""
	}
	return []kit.Span{{kit.Led, sym.Live + " live"}, {kit.Quiet, latencyText}}
}

// lostWord describes a connection in the state lost. It returns "lost" only if the connection was once established.
func lostWord(c election.Connection) string {
	switch {
	case !c.LastContact.IsZero():
		return "lost"
	case c.Refused:
		return "refused"
	}
	return "no response"
}
