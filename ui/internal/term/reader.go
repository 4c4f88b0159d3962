package term

import "slices"

// Reader is a text in a window that may be smaller than it. It knows how much of
// the text was visible, so that a dialog can withhold its action until then.
type Reader struct {
	Lines       [][]Span
	Width, Rows int
	Offset      int // first visible line
	Seen        int // lines from the top that were visible
}

// Show replaces the text or the size of the window and reports whether either
// differs. Lines that differ, and all that follow them, count as unseen. A change
// of size begins at the top.
func (r *Reader) Show(lines [][]Span, width, rows int) bool {
	same, longest := 0, max(len(lines), len(r.Lines))
	for same < min(len(lines), len(r.Lines)) && slices.Equal(lines[same], r.Lines[same]) {
		same++
	}
	if width != r.Width || rows != r.Rows {
		same, r.Offset = 0, 0
	}
	r.Lines, r.Width, r.Rows, r.Seen = lines, width, rows, min(r.Seen, same)
	r.Scroll(0)
	return same < longest
}

// Scroll moves the window. A line that it skips stays unseen.
func (r *Reader) Scroll(step int) {
	r.Offset = max(0, min(r.Offset+step, len(r.Lines)-r.Rows))
	if r.Offset <= r.Seen {
		r.Seen = max(r.Seen, min(r.Offset+r.Rows, len(r.Lines)))
	}
}

// Read reports whether every line was visible.
func (r *Reader) Read() bool { return r.Seen >= len(r.Lines) }

// Window is the visible part.
func (r *Reader) Window() [][]Span {
	return r.Lines[r.Offset:min(len(r.Lines), r.Offset+r.Rows)]
}

// Below is how many lines follow the window.
func (r *Reader) Below() int { return max(0, len(r.Lines)-r.Offset-r.Rows) }

// Position says how many lines are out of sight, empty when none are.
func (r *Reader) Position() string {
	switch below := r.Below(); {
	case below > 0:
		return Plural(below, "more line") + " below"
	case r.Offset > 0:
		return Plural(r.Offset, "more line") + " above"
	}
	return ""
}
