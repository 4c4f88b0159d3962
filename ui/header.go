package ui

import (
	"strconv"
	"strings"
	"time"

	"electop/election"
)

// header draws the first line: where, how many, how the link does, what time.
func (m *Model) header(p *painter, s *scene, width int) string {
	right := m.stateSpans(p.sym, s, width, true)
	if width-spansWidth(right) < len(" electop  ") {
		right = m.stateSpans(p.sym, s, width, false)
	}
	room := width - spansWidth(right)
	l := newLine(p, width)
	l.texts(fitSpans(m.placeSpans(p.sym, room), room-1, p.sym)...)
	l.to(room)
	l.texts(right...)
	return l.done()
}

// stateSpans are the right half of the header, the counts with words or with
// signs only.
func (m *Model) stateSpans(sym *symbols, s *scene, width int, words bool) []span {
	detail := countSigns
	if words && width >= 64 {
		detail = countWords
	}
	if words && width >= 150 {
		detail = countAll
	}
	spans := append(append(make([]span, 0, 18), span{roleText, "  "}), m.countSpans(sym, detail)...)
	spans = append(spans, m.linkSpans(sym, s, width)...)
	return append(spans, span{roleText, "  " + s.now.Format("15:04:05") + " "})
}

// placeSpans says which program looks at which Consul, and the marks of a
// demonstration and of a program that may only look.
func (m *Model) placeSpans(sym *symbols, room int) []span {
	spans := []span{{roleAccent, " electop"}, {roleText, " "}}
	if room <= spansWidth(spans) {
		return nil
	}
	if m.opts.Demo != "" {
		spans = append(spans, span{roleText, " "}, span{roleBadge, " DEMO "})
	}
	if m.opts.ReadOnly {
		spans = append(spans, span{roleText, " "}, span{roleBadge, " READ-ONLY "})
	}
	var where []string
	if dc := m.live.Datacenter; dc != "" {
		where = append(where, clean(dc))
	}
	where = append(where, clean(m.opts.Address))
	for _, pattern := range m.opts.Patterns {
		where = append(where, clean(pattern))
	}
	text := strings.Join(where, " "+sym.dot+" ")
	if used := spansWidth(spans) + 1; used+8 > room {
		return spans
	}
	return append(spans, span{roleText, " "}, span{roleQuiet, text})
}

// spansWidth is the number of cells that spans take together.
func spansWidth(spans []span) int {
	n := 0
	for _, s := range spans {
		n += textWidth(s.text)
	}
	return n
}

// countDetail is how much room the numbers of elections have.
type countDetail uint8

const (
	countSigns countDetail = iota // signs only
	countWords                    // words for what may need a person
	countAll                      // words for everything
)

// countSpans are the numbers of elections. What needs a person stands out.
func (m *Model) countSpans(sym *symbols, detail countDetail) []span {
	c := m.census.counts
	spans := make([]span, 0, 12)
	for _, part := range []struct {
		n      int
		stands standing
		role   role
	}{
		{c.led, standsLed, roleLed}, {c.vacant, standsVacant, roleAlarm}, {c.delay, standsDelay, roleDelay},
		{c.semaphore, standsSemaphore, roleQuiet}, {c.unreadable, standsUnreadable, roleQuiet},
	} {
		if part.n == 0 && part.stands != standsLed {
			continue
		}
		sign, _ := part.stands.sign(sym)
		text := strconv.Itoa(part.n) + " " + part.stands.word()
		if part.stands == standsSemaphore {
			text = plural(part.n, part.stands.word())
		}
		if detail == countSigns || detail == countWords && part.role == roleQuiet {
			text = strconv.Itoa(part.n) + sign
		}
		if part.role == roleAlarm {
			text = " " + text + " "
		}
		r := part.role
		if m.live.Connection.State == election.Lost {
			r = roleQuiet // old numbers must not look like news
		}
		spans = append(spans, span{r, text}, span{roleText, "  "})
		if part.stands == standsLed {
			spans = append(spans, m.riskSpans(sym, detail != countSigns)...)
		}
	}
	if !m.live.Loaded && len(m.live.Elections) == 0 {
		return nil
	}
	return spans
}

// riskSpans warn of leaders that may fall: their sign is that of their checks.
func (m *Model) riskSpans(sym *symbols, words bool) []span {
	c := m.census.counts
	n, r, sign := c.critical+c.warning, roleDelay, sym.warning
	if n == 0 {
		return nil
	}
	if c.critical > 0 {
		r, sign = roleBad, sym.critical
	}
	if m.live.Connection.State == election.Lost {
		r = roleQuiet
	}
	text := strconv.Itoa(n) + sign
	if words {
		text = sign + " " + strconv.Itoa(n) + " at risk"
	}
	return []span{{r, text}, {roleText, "  "}}
}

// linkSpans tell how the link to Consul does.
func (m *Model) linkSpans(sym *symbols, s *scene, width int) []span {
	c := m.live.Connection
	lead := "  "
	if width < 80 {
		lead = ""
	}
	switch c.State {
	case election.Live:
		if stale := m.staleSpans(sym, s.now, width); stale != nil {
			return append([]span{{roleText, lead}}, stale...)
		}
		spans := []span{{roleText, lead}, {roleLed, sym.live + " live"}}
		if m.latency > 0 && width >= 80 {
			spans = append(spans, span{roleQuiet, " " + latency(m.latency)})
		}
		return spans
	case election.Lost:
		return []span{{roleText, lead}, {roleBad, sym.lost + " " + lostWord(c) + " " + duration(s.now.Sub(c.Since))}}
	default:
		return []span{{roleText, lead}, {roleDelay, sym.connecting + " connecting"}}
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
type banner []span

// banners are the lines that say what is special now: what is typed or
// filtered, that the link is lost, that the board is paused, what the
// demonstration does.
func (m *Model) banners(s *scene) []banner {
	var lines []banner
	sym := m.sym
	if m.mode == modePrompt {
		lines = append(lines, nil) // the prompt draws itself, it has a cursor
	} else if f := m.currentFilter(); !f.empty() {
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
			{roleBadge, " " + sym.paused + " PAUSED "},
			{roleText, " at " + clock(m.asOf(), s.now) + ", " + duration(s.now.Sub(m.asOf())) + " ago; Consul is still watched"},
			{roleQuiet, "   p continues"},
		})
	}
	if m.hasBoard() && !m.live.Loaded {
		lines = append(lines, banner{{roleDelay, " " + sym.connecting + " Still reading: not every election is here yet."}})
	}
	if m.opts.Demo != "" && m.height >= 20 {
		lines = append(lines, banner{{roleAccent, " " + sym.note + " "}, {roleQuiet, oneLine(m.opts.Demo, 200)}})
	}
	return lines
}

// filterBanner says what the filter shows, and how many marks it hides.
func (m *Model) filterBanner(f filter) banner {
	b := banner{{roleAccent, " / "}, {roleStrong, oneLine(f.text, 120)}, {roleQuiet, "   " + m.filterResult()}}
	if _, hidden := m.countMarks(); hidden > 0 {
		b = append(b, span{roleText, "   "}, span{roleDelay, m.sym.mark + hiddenMarks(hidden)})
	}
	return append(b, span{roleQuiet, "   esc clears"})
}

// lostBanner says how old the board is, what failed and when the next try is.
func (m *Model) lostBanner(s *scene) banner {
	c := m.live.Connection
	text := " Consul is unreachable. "
	if c.Refused {
		text = " Consul rejects this token. "
	}
	if !c.LastContact.IsZero() {
		text += "The board is " + duration(s.now.Sub(c.LastContact)) + " old. "
	}
	b := banner{{roleAlarm, text}, {roleText, " "}, {roleBad, retryText(s, c.RetryAt)}}
	if c.Error != "" {
		b = append(b, span{roleText, "  " + oneLine(c.Error, 200)})
	}
	return b
}

func retryText(s *scene, at time.Time) string {
	if left := at.Sub(s.now); !at.IsZero() && left > 0 {
		return "next try in " + duration(left+time.Second-1)
	}
	return "trying now"
}

func (m *Model) filterResult() string {
	switch m.view {
	case viewEvents:
		return plural(len(m.events.lines), "event")
	case viewSessions:
		return strconv.Itoa(len(m.sessions.order)) + " of " + plural(m.sessions.tally.all, "session")
	default:
	}
	total := 0
	if m.shown != nil {
		total = len(m.shown.Elections)
	}
	return strconv.Itoa(len(m.table.order)) + " of " + plural(total, "election")
}
