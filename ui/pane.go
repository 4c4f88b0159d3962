package ui

import (
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
)

// scene is what everything on the screen is drawn from.
type scene struct {
	snap *election.Snapshot
	// asOf is the moment at which the snapshot is looked at: now, or when it
	// was paused or the link was lost. now is the clock's.
	asOf, now time.Time
	stale     bool
	// staleSince is since when the election that is drawn is stale, if others are
	// not.
	staleSince time.Time
	// live is the newest snapshot, which a paused board does not show.
	live     *election.Snapshot
	insights *insightCache
	// studies says that surroundings are read at all.
	studies bool
}

// tab is one page of the lower pane.
type tab uint8

const (
	tabDetail tab = iota
	tabCandidates
	tabHistory
	tabRaw
	tabCount
)

func (t tab) title() string { return [...]string{"Detail", "Candidates", "History", "Raw"}[t] }

// pane is the lower pane: it shows one election in depth.
type pane struct {
	tab    tab
	offset int // first line shown
	zoom   bool
	// advice is where advice begins among the lines drawn last, 0 for nowhere.
	advice int
	raw    rawCache
}

func (p *pane) turn(step int) {
	for range (step + int(tabCount)) % int(tabCount) {
		p.tab = (p.tab + 1) % tabCount
	}
	p.offset = 0
}

// scroll moves the text under the pane's window of height lines.
func (p *pane) scroll(step, total, height int) {
	p.offset = max(0, min(p.offset+step, total-height))
}

// lines are all lines of the current tab.
func (p *pane) lines(s *scene, sym *symbols, e *election.Election, width int) [][]span {
	d := &doc{width: width, sym: sym, lines: make([][]span, 0, 40)}
	p.advice = 0
	switch p.tab {
	case tabCandidates:
		candidatesDoc(d, s, e)
	case tabHistory:
		historyDoc(d, s, e)
	case tabRaw:
		return p.raw.lines(e, sym, width)
	default:
		detailDoc(d, s, e)
	}
	p.advice = d.mark
	return d.lines
}

// draw draws the pane's title and the part of its text that is scrolled to.
func (p *pane) draw(pt *painter, s *scene, e *election.Election, width, height int) []string {
	lines := make([]string, 0, height)
	if s = s.of(e); s.partStale() {
		data := *pt
		data.tone, pt = toneStale, &data
	}
	lines = append(lines, p.title(pt, s, e, width))
	if e == nil || height <= 1 {
		return pt.pad(lines, width, height)
	}
	text := p.lines(s, pt.sym, e, width-2)
	p.scroll(0, len(text), height-1)
	l := newLine(pt, width)
	for i, spans := range text[p.offset:min(len(text), p.offset+height-1)] {
		l.reset(pt.tone)
		l.gap(1)
		l.texts(spans...)
		if left := len(text) - p.offset - (height - 1); i == height-2 && left > 0 {
			moreMark(l, pt.sym, left, p.advice > p.offset+height-1)
		}
		lines = append(lines, l.done())
	}
	return pt.pad(lines, width, height)
}

// moreMark says at the end of the last line how much there is below, and that
// advice is among it.
func moreMark(l *line, sym *symbols, left int, advice bool) {
	text := " " + sym.more + " " + plural(left, "more line") + " "
	if advice {
		text += "with advice "
	}
	if n := textWidth(text); l.room() >= n {
		l.gap(l.room() - n)
		l.text(roleQuiet, text)
	}
}

// paneSign is the sign of an election, in the colour that it has in the table.
func paneSign(sym *symbols, s *scene, e *election.Election) (string, role) {
	stands := standingOf(e, s.asOf)
	sign, r := stands.sign(sym)
	if stands != standsLed {
		return sign, r
	}
	switch critical, warning := tallyChecks(e.Session, s.snap.Checks).risk(); {
	case critical:
		r = roleBad
	case warning || e.Overwritten():
		r = roleDelay
	}
	return sign, r
}

func (p *pane) title(pt *painter, s *scene, e *election.Election, width int) string {
	left, right := make([]span, 0, 3), make([]span, 0, 2*tabCount)
	if e != nil {
		sign, r := paneSign(pt.sym, s, e)
		left = append(left, span{r, sign}, span{roleStrong, " " + sanitize.Text(e.Name)})
		if e.Key() != e.Name {
			left = append(left, span{roleQuiet, "  " + sanitize.Text(e.Key())})
		}
	}
	tabs := 0
	for t := range tabCount {
		r := roleQuiet
		if t == p.tab {
			r = roleAccent
		}
		if t > 0 {
			right = append(right, span{roleFaint, " " + pt.sym.dot + " "})
			tabs += 3
		}
		right = append(right, span{r, t.title()})
		tabs += len(t.title())
	}
	return pt.rule(width, fitSpans(left, width-tabs-8, pt.sym), right)
}

// fitSpans cuts a list of spans to at most width cells.
func fitSpans(spans []span, width int, sym *symbols) []span {
	for i, s := range spans {
		w := textWidth(s.text)
		if w > width {
			if width < 2 {
				return spans[:i]
			}
			text, _ := cutText(s.text, width, sym.ellipsis)
			return append(spans[:i:i], span{s.role, text})
		}
		width -= w
	}
	return spans
}

// doc collects the lines of a page.
type doc struct {
	lines [][]span
	// mark is the line that what is below points to, 0 for none.
	mark  int
	width int
	sym   *symbols
}

// labelWidth is the width of the column of labels.
const labelWidth = 13

// add adds a line, which is not wrapped.
func (d *doc) add(spans ...span) { d.lines = append(d.lines, spans) }

// blank adds an empty line.
func (d *doc) blank() { d.add() }

// para adds a text of its own, wrapped.
func (d *doc) para(r role, text string) {
	if textWidth(text) <= d.width {
		d.add(span{r, text})
		return
	}
	for _, part := range wrapText(text, d.width) {
		d.add(span{r, part})
	}
}

// field adds a label with spans beside it; what is too long for the line is
// wrapped under its beginning.
func (d *doc) field(label string, spans ...span) {
	label = padTo(label, labelWidth)
	if spansWidth(spans) <= d.width-labelWidth {
		d.lines = append(d.lines, append(append(make([]span, 0, len(spans)+1), span{roleQuiet, label}), spans...))
		return
	}
	for _, part := range flow(spans, max(8, d.width-labelWidth)) {
		d.add(append([]span{{roleQuiet, label}}, part...)...)
		label = padTo("", labelWidth)
	}
}

// indented adds spans n cells from the left, wrapped under their beginning.
func (d *doc) indented(n int, spans ...span) {
	for _, part := range flow(spans, max(8, d.width-n)) {
		d.add(append([]span{{roleText, padTo("", n)}}, part...)...)
	}
}

// flow breaks spans into lines of at most width cells, between words where it
// can.
func flow(spans []span, width int) [][]span {
	lines, used := [][]span{nil}, 0
	put := func(s span) {
		lines[len(lines)-1] = append(lines[len(lines)-1], s)
		used += textWidth(s.text)
	}
	for _, s := range spans {
		if used+textWidth(s.text) <= width {
			put(s)
			continue
		}
		for _, word := range words(s.text) {
			if used > 0 && used+textWidth(strings.TrimRight(word, " ")) > width {
				lines, used = append(lines, nil), 0
				word = strings.TrimLeft(word, " ")
			}
			for i, part := range hardWrap(word, width) {
				if i > 0 {
					lines, used = append(lines, nil), 0
				}
				put(span{s.role, part})
			}
		}
	}
	return lines
}

// words splits a text before its words, each with the spaces that precede it.
func words(s string) []string {
	var list []string
	start := 0
	for i := 1; i < len(s); i++ {
		if s[i] == ' ' && s[i-1] != ' ' {
			list = append(list, s[start:i])
			start = i
		}
	}
	return append(list, s[start:])
}

// beside adds spans after others that stand at the line's beginning, wrapped n
// cells from the left.
func (d *doc) beside(first []span, n int, rest ...span) {
	first = append(first, span{roleText, padTo("", n-spansWidth(first))})
	for _, part := range flow(rest, max(8, d.width-n)) {
		d.add(append(first, part...)...)
		first = []span{{roleText, padTo("", n)}}
	}
}

// head adds a heading.
func (d *doc) head(text string) {
	if len(d.lines) > 0 {
		d.blank()
	}
	d.add(span{roleHead, text})
}

// padTo pads a text with spaces to at least width cells.
func padTo(s string, width int) string {
	const blanks = "                                        "
	n := width - textWidth(s)
	switch {
	case n <= 0:
		return s
	case s == "" && n <= len(blanks):
		return blanks[:n]
	}
	return s + strings.Repeat(" ", n)
}
