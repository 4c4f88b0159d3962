package ui

import (
	"strconv"
	"strings"
	"time"

	"electop/election"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// header draws the first line: where, how many, how the link does, what time.
func (m *Model) header(p *term.Painter, s *scene.Scene, width int) string {
	right := m.stateSpans(p.Sym, s, width, true)
	if width-term.SpansWidth(right) < len(" electop  ") {
		right = m.stateSpans(p.Sym, s, width, false)
	}
	room := width - term.SpansWidth(right)
	l := term.NewLine(p, width)
	l.Texts(term.Fit(m.placeSpans(p.Sym, room), room-1, p.Sym)...)
	l.To(room)
	l.Texts(right...)
	return l.Done()
}

// stateSpans are the right half of the header, the counts with words or with
// signs only.
func (m *Model) stateSpans(sym *term.Symbols, s *scene.Scene, width int, words bool) []term.Span {
	detail := countSigns
	if words && width >= 64 {
		detail = countWords
	}
	if words && width >= 150 {
		detail = countAll
	}
	spans := append(append(make([]term.Span, 0, 18), term.Span{term.Text, "  "}), m.countSpans(sym, detail)...)
	spans = append(spans, m.linkSpans(sym, s, width)...)
	return append(spans, term.Span{term.Text, "  " + s.Now.Format("15:04:05") + " "})
}

// placeSpans says which program looks at which Consul, and the marks of a
// demonstration and of a program that may only look.
func (m *Model) placeSpans(sym *term.Symbols, room int) []term.Span {
	spans := []term.Span{{term.Accent, " electop"}, {term.Text, " "}}
	if room <= term.SpansWidth(spans) {
		return nil
	}
	if m.opts.Demo != "" {
		spans = append(spans, term.Span{term.Text, " "}, term.Span{term.Badge, " DEMO "})
	}
	if m.opts.ReadOnly {
		spans = append(spans, term.Span{term.Text, " "}, term.Span{term.Badge, " READ-ONLY "})
	}
	var where []string
	if dc := m.live.Datacenter; dc != "" {
		where = append(where, scene.Clean(dc))
	}
	where = append(where, scene.Clean(m.opts.Address))
	for _, pattern := range m.opts.Patterns {
		where = append(where, scene.Clean(pattern))
	}
	text := strings.Join(where, " "+sym.Dot+" ")
	if used := term.SpansWidth(spans) + 1; used+8 > room {
		return spans
	}
	return append(spans, term.Span{term.Text, " "}, term.Span{term.Quiet, text})
}

// countDetail is how much room the numbers of elections have.
type countDetail uint8

const (
	countSigns countDetail = iota // signs only
	countWords                    // words for what may need a person
	countAll                      // words for everything
)

// countSpans are the numbers of elections. What needs a person stands out.
func (m *Model) countSpans(sym *term.Symbols, detail countDetail) []term.Span {
	c := m.census.counts
	spans := make([]term.Span, 0, 12)
	for _, part := range []struct {
		n      int
		stands scene.Standing
		role   term.Role
	}{
		{c.Led, scene.StandsLed, term.Led}, {c.Vacant, scene.StandsVacant, term.Alarm}, {c.Delay, scene.StandsDelay, term.Delay},
		{c.Semaphore, scene.StandsSemaphore, term.Quiet}, {c.Unreadable, scene.StandsUnreadable, term.Quiet},
	} {
		if part.n == 0 && part.stands != scene.StandsLed {
			continue
		}
		sign, _ := part.stands.Sign(sym)
		text := strconv.Itoa(part.n) + " " + part.stands.Word()
		if part.stands == scene.StandsSemaphore {
			text = term.Plural(part.n, part.stands.Word())
		}
		if detail == countSigns || detail == countWords && part.role == term.Quiet {
			text = strconv.Itoa(part.n) + sign
		}
		if part.role == term.Alarm {
			text = " " + text + " "
		}
		r := part.role
		if m.live.Connection.State == election.Lost {
			r = term.Quiet // old numbers must not look like news
		}
		spans = append(spans, term.Span{r, text}, term.Span{term.Text, "  "})
		if part.stands == scene.StandsLed {
			spans = append(spans, m.riskSpans(sym, detail != countSigns)...)
		}
	}
	if !m.live.Loaded && len(m.live.Elections) == 0 {
		return nil
	}
	return spans
}

// riskSpans warn of leaders that may fall: their sign is that of their checks.
func (m *Model) riskSpans(sym *term.Symbols, words bool) []term.Span {
	c := m.census.counts
	n, r, sign := c.Critical+c.Warning, term.Delay, sym.Warning
	if n == 0 {
		return nil
	}
	if c.Critical > 0 {
		r, sign = term.Bad, sym.Critical
	}
	if m.live.Connection.State == election.Lost {
		r = term.Quiet
	}
	text := strconv.Itoa(n) + sign
	if words {
		text = sign + " " + strconv.Itoa(n) + " at risk"
	}
	return []term.Span{{r, text}, {term.Text, "  "}}
}

// linkSpans tell how the link to Consul does.
func (m *Model) linkSpans(sym *term.Symbols, s *scene.Scene, width int) []term.Span {
	c := m.live.Connection
	lead := "  "
	if width < 80 {
		lead = ""
	}
	switch c.State {
	case election.Live:
		if stale := m.staleSpans(sym, s.Now, width); stale != nil {
			return append([]term.Span{{term.Text, lead}}, stale...)
		}
		spans := []term.Span{{term.Text, lead}, {term.Led, sym.Live + " live"}}
		if m.latency > 0 && width >= 80 {
			spans = append(spans, term.Span{term.Quiet, " " + latency(m.latency)})
		}
		return spans
	case election.Lost:
		return []term.Span{{term.Text, lead}, {term.Bad, sym.Lost + " " + lostWord(c) + " " + term.Duration(s.Now.Sub(c.Since))}}
	default:
		return []term.Span{{term.Text, lead}, {term.Delay, sym.Connecting + " connecting"}}
	}
}

// lostWord tells a link that was lost from one that never was there.
func lostWord(c election.Connection) string {
	if c.LastContact.IsZero() {
		return "no answer"
	}
	return "lost"
}

func latency(d time.Duration) string {
	if d < time.Millisecond {
		return "<1ms"
	}
	return strconv.FormatInt(d.Round(time.Millisecond).Milliseconds(), 10) + "ms"
}

// banner is one line between header and body.
type banner []term.Span

// banners are the lines that say what is special now: what is typed or
// filtered, that the link is lost, that the board is paused, what the
// demonstration does.
func (m *Model) banners(s *scene.Scene) []banner {
	var lines []banner
	sym := m.sym
	if m.mode == modePrompt {
		lines = append(lines, nil) // the prompt draws itself, it has a cursor
	} else if f := m.currentFilter(); !f.Empty() {
		lines = append(lines, m.filterBanner(f))
	}
	if m.live.Connection.State == election.Lost && m.hasBoard() {
		lines = append(lines, m.lostBanner(s))
	}
	if b := m.staleBanner(s); b != nil {
		lines = append(lines, b)
	}
	if m.paused {
		lines = append(lines, banner{
			{term.Badge, " " + sym.Paused + " PAUSED "},
			{term.Text, " at " + term.Clock(m.asOf(), s.Now) + ", " + term.Duration(s.Now.Sub(m.asOf())) + " ago; Consul is still watched"},
			{term.Quiet, "   p continues"},
		})
	}
	if m.hasBoard() && !m.live.Loaded {
		lines = append(lines, banner{{term.Delay, " " + sym.Connecting + " Still reading: not every election is here yet."}})
	}
	if m.opts.Demo != "" && m.height >= 20 {
		lines = append(lines, banner{{term.Accent, " " + sym.Note + " "}, {term.Quiet, scene.OneLine(m.opts.Demo, 200)}})
	}
	return lines
}

// filterBanner says what the filter shows, and how many marks it hides.
func (m *Model) filterBanner(f scene.Filter) banner {
	b := banner{{term.Accent, " / "}, {term.Strong, scene.OneLine(f.Text, 120)}, {term.Quiet, "   " + m.filterResult()}}
	if _, hidden := m.countMarks(); hidden > 0 {
		b = append(b, term.Span{term.Text, "   "}, term.Span{term.Delay, m.sym.Mark + hiddenMarks(hidden)})
	}
	return append(b, term.Span{term.Quiet, "   esc clears"})
}

// lostBanner says how old the board is, what failed and when the next try is.
func (m *Model) lostBanner(s *scene.Scene) banner {
	c := m.live.Connection
	text := " Consul is unreachable. "
	if c.Refused {
		text = " Consul rejects this token. "
	}
	if !c.LastContact.IsZero() {
		text += "The board is " + term.Duration(s.Now.Sub(c.LastContact)) + " old. "
	}
	b := banner{{term.Alarm, text}, {term.Text, " "}, {term.Bad, retryText(s, c.RetryAt)}}
	if c.Error != "" {
		b = append(b, term.Span{term.Text, "  " + scene.OneLine(c.Error, 200)})
	}
	return b
}

func retryText(s *scene.Scene, at time.Time) string {
	if left := at.Sub(s.Now); !at.IsZero() && left > 0 {
		return "next try in " + term.Duration(left+time.Second-1)
	}
	return "trying now"
}

func (m *Model) filterResult() string {
	switch m.view {
	case viewEvents:
		return term.Plural(len(m.events.lines), "event")
	case viewSessions:
		return m.sessions.Result(nil)
	default:
	}
	total := 0
	if m.shown != nil {
		total = len(m.shown.Elections)
	}
	return strconv.Itoa(len(m.table.order)) + " of " + term.Plural(total, "election")
}
