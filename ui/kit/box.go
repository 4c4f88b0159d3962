package kit

// Rect is a rectangle on the screen, in cells.
type Rect struct{ X, Y, W, H int }

// Contains reports whether a cell is in the rectangle.
func (r Rect) Contains(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}

// Box is a framed text over the screen.
type Box struct {
	Edge  Role
	Title string
	Body  [][]Span
	// Rows makes each line of the body a row that a click selects. First is the index of the first row.
	Rows  bool
	First int
	// Foot contains the rows below the body. They never scroll. Controls is the last row.
	Foot     [][]Span
	Controls []Control
}

// BoxFrame is the number of lines of the frame plus the first and the last line of the screen. BoxSides is the total
// width of the left and the right side, in cells.
const (
	BoxFrame = 4
	BoxSides = 4
)

// Draw draws the box over lines. The box is width cells wide, and each line is total cells wide.
func (b *Box) Draw(p *Painter, lines []string, width, total int) {
	drawn := b.frame(p, width)
	top := max(0, (len(lines)-len(drawn))/2)
	for i, row := range drawn {
		if y := top + i; y < len(lines) {
			lines[y] = splice(lines[y], row, (total-width)/2, width, total)
		}
	}
}

// fitting returns as many of the first controls as fit into width cells, but at least one control.
func fitting(controls []Control, width int) []Control {
	for ControlsWidth(controls) > width && len(controls) > 1 {
		controls = controls[:len(controls)-1]
	}
	return controls
}

func (b *Box) frame(p *Painter, width int) []string {
	l := NewLine(p, width)
	rows := make([]string, 0, len(b.Body)+len(b.Foot)+3)
	l.Text(b.Edge, p.Sym.topLeft+p.Sym.rule+" ")
	l.Width -= 3
	l.Text(b.Edge, b.Title)
	l.Width += 3
	l.Gap(1)
	l.Fill(b.Edge, p.Sym.rule, l.Room()-1)
	l.Text(b.Edge, p.Sym.topRight)
	rows = append(rows, l.Done())
	write := func(controls ...Control) {
		l.Reset(p.Tone)
		l.Text(b.Edge, p.Sym.Bar+" ")
		l.Width -= 2 // reserves cells for the right border
		l.Controls(controls...)
		l.Width += 2
		l.To(width - 1)
		l.Text(b.Edge, p.Sym.Bar)
		rows = append(rows, l.Done())
	}
	for i, spans := range b.Body {
		row := Label(spans...)
		if b.Rows {
			row.Area = Area{Item: Row, Index: b.First + i}
			row.Spans = append(row.Spans[:len(spans):len(spans)], Span{Text, PadTo("", width-BoxSides-SpansWidth(spans))})
		}
		write(row)
	}
	for _, spans := range b.Foot {
		write(Label(spans...))
	}
	write(fitting(b.Controls, width-BoxSides)...)
	l.Reset(p.Tone)
	l.Text(b.Edge, p.Sym.bottomLeft)
	l.Fill(b.Edge, p.Sym.rule, width-2)
	l.Text(b.Edge, p.Sym.bottomRight)
	return append(rows, l.Done())
}
