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
	tooSmall bool // such a window shows only its size and the minimum
	noMouse  bool // the user turned mouse support off
	screen   screen
}

// screen is the layout. A hidden part has height 0.
type screen struct {
	side                bool     // the pane is on the right
	body                kit.Rect // the lines between banners and footer: the table, the pane and the events
	table, pane, events kit.Rect
}

// arrange divides the window below the banners.
func (m *Model) arrange(banners int) screen {
	b := kit.Rect{0, 1 + banners, m.w, max(0, m.h-2-banners)}
	s, rows := screen{body: b}, len(m.scene.Shown.Elections)
	switch {
	case m.view != viewElections || rows == 0:
	case m.zoom:
		s.pane = b
	case m.w >= sideWidth: // the pane is on the right, and the events are in the unused space below the table
		s.side = true
		side := max(56, min(b.W*2/5, 92))
		left := b.W - side - 1
		events := min(max(7, b.H-1-rows-1), b.H/2)
		if rows+1 < b.H/3 {
			events = b.H - max(b.H/3, rows+2)
		}
		s.pane = kit.Rect{left + 1, b.Y, side, b.H}
		s.table = kit.Rect{0, b.Y, left, b.H - events}
		s.events = kit.Rect{0, b.Y + b.H - events, left, events}
	default: // the pane gets the lines that a short table does not use
		events := 0
		for _, step := range [][2]int{{13, 2}, {19, 3}, {28, 5}, {40, 7}} {
			if b.H >= step[0] {
				events = step[1]
			}
		}
		table, pane := b.H-events, 0
		if table >= 14 {
			pane = max(table*9/20, min(table-1-rows, table*3/5))
			table -= pane
		}
		s.table = kit.Rect{0, b.Y, b.W, table}
		s.pane = kit.Rect{0, b.Y + table, b.W, pane}
		s.events = kit.Rect{0, b.Y + table + pane, b.W, events}
	}
	return s
}

// resized stores the window size. It closes overlays that no longer fit, because a key press must not act on an
// invisible overlay. A filter that was being typed remains active, and the banner shows it.
func (m *Model) resized(width, height int) {
	was := m.tooSmall || m.w == 0
	m.w, m.h, m.tooSmall = width, height, width < minWidth || height < minHeight
	switch {
	case m.tooSmall == was:
	case !m.tooSmall && m.note.unseen:
		m.say(m.note.role, m.note.text)
	case m.tooSmall && (m.overlay != nil || m.prompt != nil && !m.filtering()):
		m.closeOverlay("")
		m.refuse("Cancelled: the window became too small.")
	case m.tooSmall:
		m.prompt = nil
	}
}
