package ui

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// span is a text with its role. The text is safe: whoever makes a span of
// something from Consul has sanitised it. Safe runes take the same cells whatever
// stands beside them, so a text can be measured, cut and joined anywhere.
type span struct {
	role role
	text string
}

const resetInk = "\x1b[m"

// line builds one line of the screen: exactly width cells, whatever is written
// to it. It never writes into the last cell of a wide rune's half.
type line struct {
	buf     []byte
	used    int
	width   int
	st      *Styles
	sym     *symbols
	tone    tone
	current string
}

// newLine begins a line of exactly width cells.
func newLine(p *painter, width int) *line {
	return &line{buf: make([]byte, 0, width*3+64), width: max(0, width), st: p.styles, sym: p.sym, tone: p.tone}
}

// reset begins the next line in the same buffer.
func (l *line) reset(t tone) {
	l.buf, l.used, l.tone, l.current = l.buf[:0], 0, t, ""
}

// room is how many cells are left.
func (l *line) room() int { return l.width - l.used }

func (l *line) turn(r role) {
	ink := l.st.ink(l.tone, r)
	if ink == l.current {
		return
	}
	if l.current != "" {
		l.buf = append(l.buf, resetInk...)
	}
	l.buf = append(l.buf, ink...)
	l.current = ink
}

// text writes as much of s as fits, with an ellipsis where it was cut.
func (l *line) text(r role, s string) {
	w := textWidth(s)
	l.put(r, s, w, min(w, l.room()))
}

// texts writes spans one after the other.
func (l *line) texts(spans ...span) {
	for _, s := range spans {
		l.text(s.role, s.text)
	}
}

// cell writes s into exactly n cells, cut or padded.
func (l *line) cell(r role, s string, n int) {
	l.put(r, s, textWidth(s), min(n, l.room()))
}

// put writes s, which is w cells wide, into exactly n cells.
func (l *line) put(r role, s string, w, n int) {
	if n <= 0 {
		return
	}
	if w > n {
		s, w = cutText(s, n, l.sym.ellipsis)
	}
	l.turn(r)
	l.buf = append(l.buf, s...)
	l.used += w
	l.space(n - w)
}

// right writes s into exactly n cells, at their right end.
func (l *line) right(r role, s string, n int) {
	if w := textWidth(s); w < n {
		l.turn(roleText)
		l.space(n - w)
		n = w
	}
	l.cell(r, s, n)
}

// gap writes n plain cells.
func (l *line) gap(n int) {
	if n > 0 {
		l.turn(roleText)
		l.space(n)
	}
}

// fill writes n cells of a one-cell glyph.
func (l *line) fill(r role, glyph string, n int) {
	n = min(n, l.room())
	if n <= 0 {
		return
	}
	l.turn(r)
	for range n {
		l.buf = append(l.buf, glyph...)
	}
	l.used += n
}

// to pads with plain cells up to column x.
func (l *line) to(x int) { l.gap(x - l.used) }

func (l *line) space(n int) {
	n = min(n, l.room())
	for range n {
		l.buf = append(l.buf, ' ')
	}
	l.used += max(0, n)
}

// done pads the line to its width and returns it.
func (l *line) done() string {
	l.gap(l.room())
	if l.current != "" {
		l.buf = append(l.buf, resetInk...)
		l.current = ""
	}
	return string(l.buf)
}

// textWidth is the number of cells of a text without escape sequences.
func textWidth(s string) int {
	if isASCII(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// cutText shortens s to n cells at most, ending in tail, and tells its width.
func cutText(s string, n int, tail string) (string, int) {
	s = ansi.Truncate(s, n, tail)
	return s, textWidth(s)
}

// wrapText breaks a text into lines of at most width cells, between words
// where it can.
func wrapText(s string, width int) []string {
	if width < 1 {
		return nil
	}
	if textWidth(s) <= width {
		return []string{s}
	}
	lines := strings.Split(ansi.Wrap(s, width, ""), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// splice lays the box over base from column x on. base is total cells wide,
// box is n cells wide.
func splice(base, box string, x, n, total int) string {
	left := ansi.Truncate(base, x, "")
	left += resetInk + strings.Repeat(" ", max(0, x-ansi.StringWidth(left)))
	rest := max(0, total-x-n)
	right := ansi.TruncateLeft(base, x+n, "")
	if ansi.StringWidth(right) > rest { // half of a wide rune lies under the box
		right = ansi.TruncateLeft(base, x+n+1, "")
	}
	right = strings.Repeat(" ", max(0, rest-ansi.StringWidth(right))) + right
	return left + box + resetInk + right
}

// painter is what drawing needs beside the data: styles, symbols and the ground.
type painter struct {
	styles *Styles
	sym    *symbols
	tone   tone
}

// draw makes one line of spans.
func (p *painter) draw(width int, spans ...span) string {
	l := newLine(p, width)
	l.texts(spans...)
	return l.done()
}

// rule draws a horizontal line with a title at its left and one at its right.
func (p *painter) rule(width int, left, right []span) string {
	l := newLine(p, width)
	l.fill(roleFaint, p.sym.rule, 1)
	if len(left) > 0 {
		l.gap(1)
		l.texts(left...)
		l.gap(1)
	}
	n := 0
	for _, s := range right {
		n += textWidth(s.text)
	}
	if n > 0 && l.room() >= n+4 {
		l.fill(roleFaint, p.sym.rule, l.room()-n-3)
		l.gap(1)
		l.texts(right...)
		l.gap(1)
	}
	l.fill(roleFaint, p.sym.rule, l.room())
	return l.done()
}

// pad fills lines up to n with empty ones of the width, and cuts what is more.
func (p *painter) pad(lines []string, width, n int) []string {
	if len(lines) > n {
		return lines[:max(0, n)]
	}
	if len(lines) == n {
		return lines
	}
	empty := newLine(p, width).done()
	for len(lines) < n {
		lines = append(lines, empty)
	}
	return lines
}

// hardWrap breaks a text into lines of exactly width cells, wherever that is.
func hardWrap(s string, width int) []string {
	if width < 1 {
		return nil
	}
	return strings.Split(ansi.Hardwrap(s, width, true), "\n")
}
