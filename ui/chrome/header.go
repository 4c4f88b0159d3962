package chrome

import (
	"strconv"
	"strings"
	"time"

	"electop/election"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Place is the configuration that the header and the empty screen show.
type Place struct {
	// Context is the current context of the config file. It is empty if there is none.
	Context  string
	Address  string
	Patterns []string
	// Demo describes a demonstration. It is empty outside a demonstration.
	Demo string
}

// Header draws the first line: Consul's address, the counts, the connection and the time.
func Header(p *kit.Painter, s *scene.Scene, at Place, c scene.Counts, width int) string {
	right := stateSpans(s, c, width, true)
	if width-kit.SpansWidth(right) < len(" electop  ") {
		right = stateSpans(s, c, width, false)
	}
	room := width - kit.SpansWidth(right)
	l := kit.NewLine(p, width)
	l.Texts(kit.Fit(placeSpans(s, at, room), room-1, p.Sym)...)
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
func placeSpans(s *scene.Scene, at Place, room int) []kit.Span {
	spans := []kit.Span{{kit.Accent, " electop"}, {kit.Text, " "}}
	if room <= kit.SpansWidth(spans) {
		return nil
	}
	if at.Demo != "" {
		spans = append(spans, kit.Span{kit.Text, " "}, kit.Span{kit.Badge, " DEMO "})
	}
	if at.Context != "" {
		spans = append(spans, kit.Span{kit.Text, " "}, kit.Span{kit.Strong, scene.OneLine(at.Context, 24)})
	}
	if s.ReadOnly {
		spans = append(spans, kit.Span{kit.Text, " "}, kit.Span{kit.Badge, " READ-ONLY "})
	}
	var where []string // with several datacenters, the connections contain their names
	if dc := s.Live.Datacenter; dc != "" {
		where = append(where, scene.Clean(dc))
	}
	where = append(where, scene.Clean(at.Address))
	for _, pattern := range at.Patterns {
		where = append(where, scene.Clean(pattern))
	}
	text := strings.Join(where, " "+s.Sym.Dot+" ")
	if used := kit.SpansWidth(spans) + 1; used+8 > room {
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

// linkSpans returns the state of the connection to Consul.
func linkSpans(s *scene.Scene, width int) []kit.Span {
	if s.Several() && s.Live.Parts != nil {
		return datacenterSpans(s, width)
	}
	c, sym := s.Live.Connection, s.Sym
	lead := "  "
	if width < 80 {
		lead = ""
	}
	switch c.State {
	case election.Live:
		if stale := staleSpans(s, width); stale != nil {
			return append([]kit.Span{{kit.Text, lead}}, stale...)
		}
		spans := []kit.Span{{kit.Text, lead}, {kit.Led, sym.Live + " live"}}
		if s.Latency > 0 && width >= 80 {
			spans = append(spans, kit.Span{kit.Quiet, " " + latency(s.Latency)})
		}
		return spans
	case election.Lost:
		return []kit.Span{{kit.Text, lead}, {kit.Bad, sym.Lost + " " + lostWord(c) + " " + kit.Duration(s.Now.Sub(c.Since))}}
	default:
		return []kit.Span{{kit.Text, lead}, {kit.Delay, sym.Connecting + " connecting"}}
	}
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

func latency(d time.Duration) string {
	if d < time.Millisecond {
		return "<1ms"
	}
	return strconv.FormatInt(d.Round(time.Millisecond).Milliseconds(), 10) + "ms"
}
