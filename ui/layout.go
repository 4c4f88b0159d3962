package ui

import "electop/ui/kit"

// The minimum size of a usable window, and the minimum width for a pane on the right.
const (
	minWidth  = 40
	minHeight = 10
	sideWidth = 160
)

// window is the size of the terminal window and its layout.
type window struct {
	w, h     int
	tooSmall bool
	noMouse  bool // the user turned mouse support off
	screen   screen
}

// tooSmall reports whether a window is below the minimum size. Such a window shows only its size and the minimum.
func tooSmall(w, h int) bool { return w < minWidth || h < minHeight }

// need is the input of the layout.
type need struct {
	w, h    int
	banners int  // number of lines between header and body
	rows    int  // number of elections
	zoom    bool // the pane takes all lines between header and footer
	full    bool // there is no pane, because another view or a message takes all lines between header and footer
}

// screen is the computed layout. A hidden part has height 0.
type screen struct {
	tooSmall            bool
	side                bool
	header, banners     kit.Rect
	body                kit.Rect // the area of the table, the pane and the events
	table, pane, events kit.Rect
	footer              kit.Rect
}

func arrange(n need) screen {
	if tooSmall(n.w, n.h) {
		return screen{tooSmall: true}
	}
	s := screen{
		header:  kit.Rect{0, 0, n.w, 1},
		banners: kit.Rect{0, 1, n.w, n.banners},
		footer:  kit.Rect{0, n.h - 1, n.w, 1},
	}
	s.body = kit.Rect{0, 1 + n.banners, n.w, max(0, n.h-2-n.banners)}
	switch {
	case n.full:
	case n.zoom:
		s.pane = s.body
	case n.w >= sideWidth:
		s.arrangeSide(n)
	default:
		s.arrangeBelow(n)
	}
	return s
}

// arrangeSide puts the pane on the right and the events in the unused space below the table.
func (s *screen) arrangeSide(n need) {
	b := s.body
	side := max(56, min(b.W*2/5, 92))
	left := b.W - side - 1
	s.side = true
	s.pane = kit.Rect{b.X + left + 1, b.Y, side, b.H}
	events := max(7, b.H-1-n.rows-1)
	events = min(events, b.H/2)
	if n.rows+1 < b.H/3 {
		events = b.H - max(b.H/3, n.rows+2)
	}
	s.table = kit.Rect{b.X, b.Y, left, b.H - events}
	s.events = kit.Rect{b.X, b.Y + b.H - events, left, events}
}

// arrangeBelow puts the pane below the table and the events below the pane. The pane gets the lines that a short
// table does not use.
func (s *screen) arrangeBelow(n need) {
	b := s.body
	events := 0
	switch {
	case b.H >= 40:
		events = 7
	case b.H >= 28:
		events = 5
	case b.H >= 19:
		events = 3
	case b.H >= 13:
		events = 2
	}
	table, pane := b.H-events, 0
	if table >= 14 {
		pane = max(table*9/20, min(table-1-n.rows, table*3/5))
		table -= pane
	}
	s.table = kit.Rect{b.X, b.Y, b.W, table}
	s.pane = kit.Rect{b.X, b.Y + table, b.W, pane}
	s.events = kit.Rect{b.X, b.Y + table + pane, b.W, events}
}
