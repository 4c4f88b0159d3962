package kit

// Rect is a rectangle on the screen, in cells.
type Rect struct{ X, Y, W, H int }

// Contains reports whether a cell is in the rectangle.
func (r Rect) Contains(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}

// BoxFrame is the number of lines of the frame plus the first and the last line of the screen. BoxSides is the total
// width of the left and the right side, in cells.
const (
	BoxFrame = 4
	BoxSides = 4
)

// drawBox draws rows of controls in a frame over lines. The box is width cells wide, and each line is total cells wide.
func drawBox(p *Painter, lines []string, width, total int, edge Role, title string, rows [][]Control) {
	l, top := NewLine(p, width), max(0, (len(lines)-len(rows)-2)/2)
	put := func() {
		if top < len(lines) {
			lines[top] = splice(lines[top], l.Done(), (total-width)/2, width, total)
		}
		top++
		l.Reset(p.Tone)
	}
	l.Text(edge, p.Sym.topLeft+p.Sym.rule+" ")
	l.Width -= 3
	l.Text(edge, title)
	l.Width += 3
	l.Gap(1)
	l.Fill(edge, p.Sym.rule, l.Room()-1)
	l.Text(edge, p.Sym.topRight)
	put()
	for _, row := range rows {
		l.Text(edge, p.Sym.Bar+" ")
		l.Width -= 2 // reserves cells for the right border
		l.Controls(row...)
		l.Width += 2
		l.To(width - 1)
		l.Text(edge, p.Sym.Bar)
		put()
	}
	l.Text(edge, p.Sym.bottomLeft)
	l.Fill(edge, p.Sym.rule, width-2)
	l.Text(edge, p.Sym.bottomRight)
	put()
}

// fitting returns as many of the first controls as fit into width cells, but at least one control.
func fitting(controls []Control, width int) []Control {
	for ControlsWidth(controls) > width && len(controls) > 1 {
		controls = controls[:len(controls)-1]
	}
	return controls
}
