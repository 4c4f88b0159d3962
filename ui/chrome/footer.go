package chrome

import (
	"strconv"

	"charm.land/bubbles/v2/key"

	"electop/ui/kit"
)

// noteLines is the maximum number of lines of a note.
const noteLines = 4

// Footer draws the last line: the note, or the marks if there is no note, and then the keys of the focused part.
// bindings may be empty. If the note does not fit on one line, it takes more lines, and the keys are omitted.
func Footer(p *kit.Painter, note, marks []kit.Span, bindings []key.Binding, width int) []string {
	if long := kit.Flow(note, width-2); len(long) > 1 {
		return lines(p, long[:min(len(long), noteLines)], width)
	}
	l := kit.NewLine(p, width)
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

func lines(p *kit.Painter, text [][]kit.Span, width int) []string {
	drawn := make([]string, 0, len(text))
	for _, spans := range text {
		drawn = append(drawn, p.Draw(width, append([]kit.Span{{kit.Text, " "}}, spans...)...))
	}
	return drawn
}

// Marks returns the text about visible and hidden marks. noun is the singular noun for a row, for example "election".
func Marks(sym *kit.Symbols, visible, hidden int, noun string) []kit.Span {
	var spans []kit.Span
	if visible > 0 {
		spans = append(spans, kit.Span{kit.Accent, sym.Mark + kit.Plural(visible, noun) + " marked"})
	}
	if hidden > 0 {
		if visible > 0 {
			spans = append(spans, kit.Span{kit.Text, "  "})
		}
		spans = append(spans, kit.Span{kit.Delay, sym.Mark + hiddenMarks(hidden)})
	}
	return spans
}

func hiddenMarks(n int) string { return strconv.Itoa(n) + " marked, hidden" }

// writeKeys writes as many keys as fit. It reserves space for the last two keys, help and quit.
func writeKeys(l *kit.Line, bindings []key.Binding) {
	split := max(0, len(bindings)-2)
	first, last := bindings[:split], bindings[split:]
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
		if l.Room() >= keyWidth(b)-kit.ColumnGap { // a note may have used the reserved space
			writeKey(l, b)
		}
	}
}

func keyWidth(b key.Binding) int {
	h := b.Help()
	n := kit.Width(h.Key) + 1 + kit.Width(h.Desc) + kit.ColumnGap
	if !b.Enabled() {
		n += 2
	}
	return n
}

// writeKey writes a key and its action. If the token does not permit the action, the key is grey and in parentheses;
// pressing this key shows the missing rule.
func writeKey(l *kit.Line, b key.Binding) {
	h := b.Help()
	l.Area(kit.Area{Key: b.Keys()[0]})
	defer l.Area(kit.Area{})
	if !b.Enabled() {
		l.Text(kit.Faint, "("+h.Key+") "+h.Desc)
		l.Gap(kit.ColumnGap)
		return
	}
	l.Texts(kit.Span{kit.Key, h.Key}, kit.Span{kit.Text, " "}, kit.Span{kit.Quiet, h.Desc})
	l.Gap(kit.ColumnGap)
}
