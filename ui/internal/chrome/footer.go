package chrome

import (
	"strconv"

	"charm.land/bubbles/v2/key"

	"electop/ui/internal/term"
)

// Footer draws the last line: the note or, without a note, the marks and the keys of the focused part. bindings may
// be empty.
func Footer(p *term.Painter, note, marks []term.Span, bindings []key.Binding, width int) string {
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
	return l.Done()
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

// writeKeys writes as many whole keys as fit. The last two (help and quit) always fit.
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
		writeKey(l, b)
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
	if !b.Enabled() {
		l.Text(term.Faint, "("+h.Key+") "+h.Desc)
		l.Gap(term.ColumnGap)
		return
	}
	l.Texts(term.Span{term.Key, h.Key}, term.Span{term.Text, " "}, term.Span{term.Quiet, h.Desc})
	l.Gap(term.ColumnGap)
}
