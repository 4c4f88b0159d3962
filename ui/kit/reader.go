package kit

import "slices"

// Reader is a scrollable text. It records which lines have been visible, so that a dialog can disable its action
// until all lines have been visible.
type Reader struct {
	Lines       [][]Span
	Width, Rows int
	Offset      int // first visible line
	Seen        int // all lines before this index have been visible
}

// Show sets the text and the window size. It reports whether either has changed. The first changed line and all lines
// after it count as not yet visible. A new size scrolls to the top.
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

// Scroll moves the window by step lines. Lines that it skips count as not yet visible.
func (r *Reader) Scroll(step int) {
	r.Offset = max(0, min(r.Offset+step, len(r.Lines)-r.Rows))
	if r.Offset <= r.Seen {
		r.Seen = max(r.Seen, min(r.Offset+r.Rows, len(r.Lines)))
	}
}

// Read reports whether every line was visible.
func (r *Reader) Read() bool { return r.Seen >= len(r.Lines) }

// Window returns the visible lines.
func (r *Reader) Window() [][]Span {
	return r.Lines[r.Offset:min(len(r.Lines), r.Offset+r.Rows)]
}

// Below returns the number of lines after the window.
func (r *Reader) Below() int { return max(0, len(r.Lines)-r.Offset-r.Rows) }

// Position returns a text with the number of hidden lines, or "" if no lines are hidden.
func (r *Reader) Position() string {
	switch below := r.Below(); {
	case below > 0:
		return Plural(below, "more line") + " below"
	case r.Offset > 0:
		return Plural(r.Offset, "more line") + " above"
	}
	return ""
}
