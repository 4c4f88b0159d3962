package chrome

import (
	"strconv"

	"charm.land/bubbles/v2/key"

	"electop/ui/kit"
)

// noteLines is the maximum number of lines of a note.
const noteLines = 4

// Footer draws the last line: the note, or the marks if there is no note, and then the keys of the focused part.
// bindings may be empty. A long note takes lines above the keys.
func Footer(p *kit.Painter, note, marks []kit.Span, bindings []key.Binding, width int) (lines []string) {
	if kit.SpansWidth(note) > width/2 {
		long := kit.Flow(note, width-2)
		lines = p.Text(nil, long[:min(len(long), noteLines)], 0, noteLines, width)
		note, marks = nil, nil
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
	writeKeys(l, bindings)
	return append(lines, l.Done())
}

// Marks returns the text about visible and hidden marks. noun is the singular noun for a row, for example "election".
func Marks(sym *kit.Symbols, visible, hidden int, noun string) (spans []kit.Span) {
	if visible > 0 {
		spans = []kit.Span{{kit.Accent, sym.Mark + kit.Plural(visible, noun) + " marked"}, {kit.Text, "  "}}
	}
	if hidden > 0 {
		return append(spans, hiddenMarks(sym, hidden))
	}
	return spans[:min(len(spans), 1)]
}

func hiddenMarks(sym *kit.Symbols, n int) kit.Span {
	return kit.Delay.Span(sym.Mark + strconv.Itoa(n) + " marked, hidden")
}

// writeKeys writes as many keys as fit. It reserves space for the last two keys, help and quit.
func writeKeys(l *kit.Line, bindings []key.Binding) {
	split := max(0, len(bindings)-2)
	kept := 0
	for _, b := range bindings[split:] {
		kept += keyWidth(b)
	}
	full := false
	for i, b := range bindings {
		if i == split { // a note may have used the reserved space
			kept, full = -kit.ColumnGap, false
		}
		if full = l.Room()-kept < keyWidth(b) || full && i < split; !full {
			l.Controls(kit.Control{Area: kit.Area{Key: b.Keys()[0]}, Spans: keySpans(b)})
			l.Gap(kit.ColumnGap)
		}
	}
}

func keyWidth(b key.Binding) int { return kit.SpansWidth(keySpans(b)) + kit.ColumnGap }

// keySpans returns a key and its action. If the token does not permit the action, the key is grey and in parentheses;
// pressing this key shows the missing rule.
func keySpans(b key.Binding) []kit.Span {
	h := b.Help()
	if !b.Enabled() {
		return kit.Faint.Spans("(" + h.Key + ") " + h.Desc)
	}
	return []kit.Span{{kit.Key, h.Key}, {kit.Text, " "}, {kit.Quiet, h.Desc}}
}
