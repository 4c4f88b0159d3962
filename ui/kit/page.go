package kit

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Text appends at most rows lines of text to lines, beginning at line top. The last appended line shows how many
// lines follow.
func (p *Painter) Text(lines []string, text [][]Span, top, rows, width int) []string {
	end := min(len(text), top+rows)
	l := NewLine(p, width)
	for i := top; i < end; i++ {
		l.Reset(p.Tone)
		l.Gap(1)
		if left := len(text) - end; i == end-1 && left > 0 {
			few := " " + p.Sym.more + " " + strconv.Itoa(left) + " "
			l.Width -= Width(few)
			l.Texts(text[i]...)
			l.Width = width
			full := " " + p.Sym.more + " " + Plural(left, "more line") + " "
			if l.Room() < Width(full) {
				full = few
			}
			l.Right(Quiet, full, l.Room())
		} else {
			l.Texts(text[i]...)
		}
		lines = append(lines, l.Done())
	}
	return lines
}

// Page collects wrapped lines.
type Page struct {
	Lines [][]Span
	Width int
	Sym   *Symbols
	// Unbroken, if not empty, begins a command that ends a text of [Page.Advise]. A command that would wrap is a line of its own:
	// the terminal breaks it, but a user can copy it whole.
	Unbroken string
}

// Plain returns the page as plain text.
func (d *Page) Plain() string {
	var b strings.Builder
	for _, spans := range d.Lines {
		line := ""
		for _, s := range spans {
			line += s.Text
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// labelWidth is the width of the label column, in cells.
const labelWidth = 13

// Add adds one line without wrapping.
func (d *Page) Add(spans ...Span) { d.Lines = append(d.Lines, spans) }

// Blank adds an empty line.
func (d *Page) Blank() { d.Add() }

// Para adds a wrapped paragraph.
func (d *Page) Para(r Role, text string) { d.Beside(nil, 0, r.Span(text)) }

// Field adds a label with spans. Long spans wrap within their column.
func (d *Page) Field(label string, spans ...Span) {
	d.Beside(Quiet.Spans(PadTo(label, labelWidth)), labelWidth, spans...)
}

// Value adds a label with a text and, if there is one, a quiet note. It adds nothing if the text is empty.
func (d *Page) Value(label, text string, note ...string) {
	if text != "" {
		d.Field(label, Text.Span(text), Quiet.Span("  "+strings.Join(note, "")))
	}
}

// Beside adds the spans of first. To the right of them, it adds rest in a column that begins at cell n. A long rest
// wraps.
func (d *Page) Beside(first []Span, n int, rest ...Span) {
	first = append(first, Text.Span(PadTo("", n-SpansWidth(first))))
	for _, part := range Flow(rest, max(8, d.Width-n)) {
		d.Add(append(first, part...)...)
		first = Text.Spans(PadTo("", n))
	}
}

// Advise is [Page.Beside] for a text of electop that may end with a command. Data of others, such as a value, must not look like
// a command to paste.
func (d *Page) Advise(first []Span, n int, text Span) {
	if before, command, found := strings.Cut(text.Text, d.Unbroken); found && d.Unbroken != "" && n+Width(text.Text) > d.Width {
		d.Beside(first, n, text.Role.Span(before))
		d.Add(text.Role.Span(d.Unbroken + command))
		return
	}
	d.Beside(first, n, text)
}

// Advice is [Page.Field] for a text of electop that may end with a command.
func (d *Page) Advice(label, text string) {
	d.Advise(Quiet.Spans(PadTo(label, labelWidth)), labelWidth, Text.Span(text))
}

// Head adds a heading.
func (d *Page) Head(text string) {
	if len(d.Lines) > 0 {
		d.Blank()
	}
	d.Add(Head.Span(text))
}

// Cell cuts or pads a text to exactly width cells.
func (d *Page) Cell(text string, width int) string {
	return PadTo(ansi.Truncate(text, width, d.Sym.Ellipsis), width)
}

// PadTo pads a text with spaces to at least width cells.
func PadTo(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-Width(s)))
}
