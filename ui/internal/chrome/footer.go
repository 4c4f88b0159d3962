package chrome

import (
	"strconv"

	"charm.land/bubbles/v2/key"

	"electop/ui/internal/term"
)

// noteLines is the maximum number of lines of a note.
const noteLines = 4

// Footer draws the last line: the note or, without a note, the marks and the keys of the focused part. bindings may
// be empty. A note that does not fit takes more lines, without the keys.
func Footer(p *term.Painter, note, marks []term.Span, bindings []key.Binding, width int) []string {
	if long := term.Flow(note, width-2); len(long) > 1 {
		return lines(p, long[:min(len(long), noteLines)], width)
	}
	l := term.NewLine(p, width)
	l.Gap(1)
	if len(note) == 0 {
		note = marks
	}
	if len(note) > 0 {
		l.Texts(note...)
		l.Gap(3)
	}
	if len(bindings) > 0 {
		writeKeys(l, bindings)
	}
	return []string{l.Done()}
}

func lines(p *term.Painter, text [][]term.Span, width int) []string {
	drawn := make([]string, 0, len(text))
	for _, spans := range text {
		drawn = append(drawn, p.Draw(width, append([]term.Span{{term.Text, " "}}, spans...)...))
	}
	return drawn
}

// Marks returns the text about visible and hidden marks. noun is the singular of what a row contains: "election".
func Marks(sym *term.Symbols, visible, hidden int, noun string) []term.Span {
	var spans []term.Span
	if visible > 0 {
		spans = append(spans, term.Span{term.Accent, sym.Mark + term.Plural(visible, noun) + " marked"})
	}
	if hidden > 0 {
		if visible > 0 {
			spans = append(spans, term.Span{term.Text, "  "})
		}
		spans = append(spans, term.Span{term.Delay, sym.Mark + hiddenMarks(hidden)})
	}
	return spans
}

func hiddenMarks(n int) string { return strconv.Itoa(n) + " marked, hidden" }

// Menu draws a title and all keys, in as many lines as they need.
func Menu(p *term.Painter, title term.Span, bindings []key.Binding, width int) []string {
	var drawn []string
	l := term.NewLine(p, width)
	l.Gap(1)
	l.Texts(title)
	l.Gap(3)
	for _, b := range bindings {
		if l.Room() < keyWidth(b)-term.ColumnGap {
			drawn = append(drawn, l.Done())
			l.Reset(p.Tone)
			l.Gap(1)
		}
		writeKey(l, b)
	}
	return append(drawn, l.Done())
}

// writeKeys writes as many whole keys as fit. The last two (help and quit) come first.
func writeKeys(l *term.Line, bindings []key.Binding) {
	first, last := bindings[:len(bindings)-2], bindings[len(bindings)-2:]
	kept := 0
	for _, b := range last {
		kept += keyWidth(b)
	}
	for _, b := range first {
		if l.Room()-kept < keyWidth(b) {
			break
		}
		writeKey(l, b)
	}
	for _, b := range last {
		if l.Room() >= keyWidth(b)-term.ColumnGap { // a note may have used the space
			writeKey(l, b)
		}
	}
}

func keyWidth(b key.Binding) int {
	h := b.Help()
	n := term.Width(h.Key) + 1 + term.Width(h.Desc) + term.ColumnGap
	if !b.Enabled() {
		n += 2
	}
	return n
}

// writeKey writes a key and its action. A key that the token does not allow is grey and in
// brackets; pressing it shows the missing rule.
func writeKey(l *term.Line, b key.Binding) {
	h := b.Help()
	l.Area(term.Area{Key: b.Keys()[0]})
	defer l.Area(term.Area{})
	if !b.Enabled() {
		l.Text(term.Faint, "("+h.Key+") "+h.Desc)
		l.Gap(term.ColumnGap)
		return
	}
	l.Texts(term.Span{term.Key, h.Key}, term.Span{term.Text, " "}, term.Span{term.Quiet, h.Desc})
	l.Gap(term.ColumnGap)
}
