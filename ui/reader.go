package ui

import "slices"

// reader is a text in a window that may be smaller than it. It knows how much of
// the text was visible, so that a dialog can withhold its action until then.
type reader struct {
	lines       [][]span
	width, rows int
	offset      int // first visible line
	seen        int // lines from the top that were visible
}

// show replaces the text or the size of the window and reports whether either
// differs. Lines that differ, and all that follow them, count as unseen. A change
// of size begins at the top.
func (r *reader) show(lines [][]span, width, rows int) bool {
	same, longest := 0, max(len(lines), len(r.lines))
	for same < min(len(lines), len(r.lines)) && slices.Equal(lines[same], r.lines[same]) {
		same++
	}
	if width != r.width || rows != r.rows {
		same, r.offset = 0, 0
	}
	r.lines, r.width, r.rows, r.seen = lines, width, rows, min(r.seen, same)
	r.scroll(0)
	return same < longest
}

// scroll moves the window. A line that it skips stays unseen.
func (r *reader) scroll(step int) {
	r.offset = max(0, min(r.offset+step, len(r.lines)-r.rows))
	if r.offset <= r.seen {
		r.seen = max(r.seen, min(r.offset+r.rows, len(r.lines)))
	}
}

// read reports whether every line was visible.
func (r *reader) read() bool { return r.seen >= len(r.lines) }

// window is the visible part.
func (r *reader) window() [][]span {
	return r.lines[r.offset:min(len(r.lines), r.offset+r.rows)]
}

// below is how many lines follow the window.
func (r *reader) below() int { return max(0, len(r.lines)-r.offset-r.rows) }

// position says how many lines are out of sight, empty when none are.
func (r *reader) position() string {
	switch below := r.below(); {
	case below > 0:
		return plural(below, "more line") + " below"
	case r.offset > 0:
		return plural(r.offset, "more line") + " above"
	}
	return ""
}
