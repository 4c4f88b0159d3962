package kit

import "slices"

// Reader is a scrollable text.
type Reader struct {
	Lines       [][]Span
	Width, Rows int
	Offset      int // first visible line
}

// Show sets the text and the window size. It reports whether either has changed. A new size scrolls to the top.
func (r *Reader) Show(lines [][]Span, width, rows int) bool {
	resized := width != r.Width || rows != r.Rows
	changed := resized || !slices.EqualFunc(lines, r.Lines, slices.Equal)
	if resized {
		r.Offset = 0
	}
	r.Lines, r.Width, r.Rows = lines, width, rows
	r.Scroll(0)
	return changed
}

// Scroll moves the window by step lines.
func (r *Reader) Scroll(step int) { r.Offset = max(0, min(r.Offset+step, len(r.Lines)-r.Rows)) }

// Window returns the visible lines.
func (r *Reader) Window() [][]Span {
	return r.Lines[r.Offset:min(len(r.Lines), r.Offset+r.Rows)]
}

// Position returns a text with the number of hidden lines, or "" if no lines are hidden.
func (r *Reader) Position() string {
	if below := len(r.Lines) - r.Offset - r.Rows; below > 0 {
		return Plural(below, "more line") + " below"
	} else if r.Offset > 0 {
		return Plural(r.Offset, "more line") + " above"
	}
	return ""
}
