package chrome

import (
	"strconv"

	"charm.land/bubbles/v2/key"

	"electop/ui/internal/term"
)

// noteLines is the maximum number of lines of a note.
const noteLines = 4

// Footer draws the last line: the note, or the marks if there is no note, and then the keys of the focused part.
// bindings may be empty. If the note does not fit on one line, it takes more lines, and the keys are omitted.
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

// Marks returns the text about visible and hidden marks. noun is the singular noun for a row, for example "election".
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

// Menu draws a title and all keys, on as many lines as necessary.
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

// writeKeys writes as many keys as fit. It reserves space for the last two keys, help and quit.
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
		if l.Room() >= keyWidth(b)-term.ColumnGap { // a note may have used the reserved space
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

// writeKey writes a key and its action. If the token does not permit the action, the key is grey and in parentheses;
// pressing this key shows the missing rule.
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
