// Package kit contains what is needed to draw the screen and does not depend on elections: lines, styles, symbols, boxes,
// tables, lists and text input.
package kit

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Span is a text with its role. The text must be sanitized, so that its width does not depend on adjacent texts.
type Span struct {
	Role Role
	Text string
}

// Span returns a text in the role.
func (r Role) Span(text string) Span { return Span{r, text} }

// Spans returns a text in the role as the only span.
func (r Role) Spans(text string) []Span { return []Span{{r, text}} }

const resetInk = "\x1b[m"

// Line builds one line of exactly Width cells, regardless of the text. It never splits a wide rune.
type Line struct {
	buf   []byte
	Used  int
	Width int
	st    *Styles
	Sym   *Symbols
	// Marked is set while a list draws a marked row.
	Marked  bool
	tone    Tone
	current string
	// areas is set if the line marks its areas. area is the current area.
	areas bool
	area  Area
}

// NewLine begins a line of exactly width cells.
func NewLine(p *Painter, width int) *Line {
	return &Line{buf: make([]byte, 0, width*3+64), Width: max(0, width), st: p.Styles, Sym: p.Sym, tone: p.Tone, areas: p.Areas}
}

// Reset begins the next line in the same buffer.
func (l *Line) Reset(t Tone) {
	l.buf, l.Used, l.tone, l.current, l.area = l.buf[:0], 0, t, "", Area{}
}

// Room returns the number of free cells.
func (l *Line) Room() int { return l.Width - l.Used }

func (l *Line) turn(r Role) {
	ink := l.st.Ink(l.tone, r)
	if ink == l.current {
		return
	}
	if l.current != "" {
		l.buf = append(l.buf, resetInk...)
	}
	l.buf = append(l.buf, ink...)
	l.current = ink
}

// Text writes s. If s does not fit, Text cuts it and adds an ellipsis.
func (l *Line) Text(r Role, s string) {
	w := Width(s)
	l.put(r, s, w, min(w, l.Room()))
}

// Texts writes spans in order.
func (l *Line) Texts(spans ...Span) {
	for _, s := range spans {
		l.Text(s.Role, s.Text)
	}
}

// Cell writes s into exactly n cells. It cuts or pads s.
func (l *Line) Cell(r Role, s string, n int) {
	l.put(r, s, Width(s), min(n, l.Room()))
}

// put writes s into exactly n cells. s is w cells wide.
func (l *Line) put(r Role, s string, w, n int) {
	if n <= 0 {
		return
	}
	s = l.Sym.Plain(s)
	if w > n {
		s = ansi.Truncate(s, n, l.Sym.Ellipsis)
		w = Width(s)
	}
	l.turn(r)
	l.buf = append(l.buf, s...)
	l.Used += w
	l.space(n - w)
}

// Right writes s into exactly n cells, aligned to the right.
func (l *Line) Right(r Role, s string, n int) {
	w := Width(s)
	l.Gap(n - w)
	l.put(r, s, w, min(w, n, l.Room()))
}

// Gap writes n empty cells.
func (l *Line) Gap(n int) {
	if n > 0 {
		l.turn(Text)
		l.space(n)
	}
}

// Fill writes a one-cell glyph n times.
func (l *Line) Fill(r Role, glyph string, n int) {
	n = min(n, l.Room())
	if n <= 0 {
		return
	}
	l.turn(r)
	for range n {
		l.buf = append(l.buf, glyph...)
	}
	l.Used += n
}

// To writes empty cells up to column x.
func (l *Line) To(x int) { l.Gap(x - l.Used) }

func (l *Line) space(n int) {
	n = min(n, l.Room())
	for range n {
		l.buf = append(l.buf, ' ')
	}
	l.Used += max(0, n)
}

// Done pads the line to its width and returns it.
func (l *Line) Done() string {
	l.Gap(l.Room())
	l.Area(Area{})
	if l.current != "" {
		l.buf = append(l.buf, resetInk...)
		l.current = ""
	}
	return string(l.buf)
}

// Width returns the number of cells of a text without escape sequences.
func Width(s string) int {
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

// splice draws box over base, from column x. box is n cells wide, and base is total cells wide.
func splice(base, box string, x, n, total int) string {
	left := ansi.Truncate(base, x, "")
	left += resetInk + strings.Repeat(" ", max(0, x-ansi.StringWidth(left)))
	rest := max(0, total-x-n)
	right := ansi.TruncateLeft(base, x+n, "")
	if ansi.StringWidth(right) > rest { // the box covers half of a wide rune
		right = ansi.TruncateLeft(base, x+n+1, "")
	}
	right = strings.Repeat(" ", max(0, rest-ansi.StringWidth(right))) + right
	return left + box + resetInk + right
}

// Painter contains the styles, the symbols and the background for drawing.
type Painter struct {
	Styles *Styles
	Sym    *Symbols
	Tone   Tone
	// Areas is set if the painter marks areas: see [AreaAt].
	Areas bool
}

// Draw returns one line of spans.
func (p *Painter) Draw(width int, spans ...Span) string {
	l := NewLine(p, width)
	l.Texts(spans...)
	return l.Done()
}

// Rule draws a horizontal line with a title at its left end and controls at its right end.
func (p *Painter) Rule(width int, left []Span, right ...Control) string {
	l, n := NewLine(p, width), ControlsWidth(right)
	l.Fill(Separator, p.Sym.rule, 1)
	if len(left) > 0 && width > n+8 {
		l.Gap(1)
		l.Width = width - n - 6 // the controls are more important than the end of the title
		for _, s := range left {
			if s.Role != Quiet || Width(s.Text) <= l.Room() { // a detail is shown whole or not at all
				l.Text(s.Role, s.Text)
			}
		}
		l.Width = width
		l.Gap(1)
	}
	if n > 0 && l.Room() >= n+4 {
		l.Fill(Separator, p.Sym.rule, l.Room()-n-3)
		l.Gap(1)
		l.Controls(right...)
		l.Gap(1)
	}
	l.Fill(Separator, p.Sym.rule, l.Room())
	return l.Done()
}

// Pad changes the number of lines to n. It appends empty lines of the given width or drops lines at the end.
func (p *Painter) Pad(lines []string, width, n int) []string {
	if len(lines) > n {
		return lines[:max(0, n)]
	}
	empty := NewLine(p, width).Done()
	for len(lines) < n {
		lines = append(lines, empty)
	}
	return lines
}

// SpansWidth returns the total number of cells of spans.
func SpansWidth(spans []Span) int {
	n := 0
	for _, s := range spans {
		n += Width(s.Text)
	}
	return n
}

// Control is a text with an area, such as a button, a key hint or a row.
type Control struct {
	Area  Area
	Spans []Span
}

// Label returns a text without an area.
func Label(spans ...Span) Control { return Control{Spans: spans} }

// Blank returns n empty cells.
func Blank(n int) Control { return Label(Span{Text, PadTo("", n)}) }

// Controls writes controls in order.
func (l *Line) Controls(all ...Control) {
	for _, c := range all {
		l.Area(c.Area)
		l.Texts(c.Spans...)
	}
	l.Area(Area{})
}

// TabTitle returns the title of a tab.
func TabTitle(index int, open bool, title string) Control {
	role := Quiet
	if open {
		role = Accent
	}
	return Control{Area{Item: Tab, Index: index}, role.Spans(title)}
}

// ControlsWidth returns the total number of cells of controls.
func ControlsWidth(all []Control) (n int) {
	for _, c := range all {
		n += SpansWidth(c.Spans)
	}
	return n
}
