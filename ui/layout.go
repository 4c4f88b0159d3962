package ui

// rect is a part of the screen, in cells.
type rect struct{ x, y, w, h int }

// contains reports a cell of the part.
func (r rect) contains(x, y int) bool {
	return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h
}

// The smallest window in which the dashboard is of any use, and the width from
// which the lower pane stands at the right side.
const (
	minWidth  = 40
	minHeight = 10
	sideWidth = 160
)

// tooSmall reports a window in which nothing but its size is shown.
func tooSmall(w, h int) bool { return w < minWidth || h < minHeight }

// need is everything the layout depends on.
type need struct {
	w, h    int
	banners int  // lines between header and body
	rows    int  // elections there are
	zoom    bool // the pane takes the whole body
	full    bool // no pane: another view or a message takes the whole body
	wide    bool // the table takes the whole width
}

// screen says where everything is drawn. A part without room has no height.
type screen struct {
	tooSmall            bool
	side                bool
	header, banners     rect
	body                rect // table, pane and events together
	table, pane, events rect
	footer              rect
}

// arrange turns the size of the window into rectangles. It is the only place
// that knows how the screen is divided.
func arrange(n need) screen {
	if tooSmall(n.w, n.h) {
		return screen{tooSmall: true}
	}
	s := screen{
		header:  rect{0, 0, n.w, 1},
		banners: rect{0, 1, n.w, n.banners},
		footer:  rect{0, n.h - 1, n.w, 1},
	}
	s.body = rect{0, 1 + n.banners, n.w, max(0, n.h-2-n.banners)}
	switch {
	case n.full:
	case n.zoom:
		s.pane = s.body
	case n.w >= sideWidth && !n.wide:
		s.arrangeSide(n)
	default:
		s.arrangeBelow(n)
	}
	return s
}

// arrangeSide puts the pane at the right, and the events under the table, where
// they take the room that the table leaves.
func (s *screen) arrangeSide(n need) {
	b := s.body
	side := max(56, min(b.w*2/5, 92))
	left := b.w - side - 1
	s.side = true
	s.pane = rect{b.x + left + 1, b.y, side, b.h}
	events := max(7, b.h-1-n.rows-1)
	events = min(events, b.h/2)
	if n.rows+1 < b.h/3 {
		events = b.h - max(b.h/3, n.rows+2)
	}
	s.table = rect{b.x, b.y, left, b.h - events}
	s.events = rect{b.x, b.y + b.h - events, left, events}
}

// arrangeBelow puts the pane under the table and the events under the pane. A
// table of few rows leaves room to the pane.
func (s *screen) arrangeBelow(n need) {
	b := s.body
	events := 0
	switch {
	case b.h >= 40:
		events = 7
	case b.h >= 28:
		events = 5
	case b.h >= 19:
		events = 3
	case b.h >= 13:
		events = 2
	}
	table, pane := b.h-events, 0
	if table >= 14 {
		pane = max(table*9/20, min(table-1-n.rows, table*3/5))
		table -= pane
	}
	s.table = rect{b.x, b.y, b.w, table}
	s.pane = rect{b.x, b.y + table, b.w, pane}
	s.events = rect{b.x, b.y + table + pane, b.w, events}
}
