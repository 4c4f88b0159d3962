package term

// Box is a framed text drawn over the screen.
type Box struct {
	Edge  Role
	Title string
	Body  [][]Span
	// Foot contains the rows under the body that never scroll.
	Foot [][]Span
}

// BoxFrame is the number of lines of the frame plus the first and the last line of the screen. BoxSides is the number
// of cells of both sides.
const (
	BoxFrame = 4
	BoxSides = 4
)

// Draw draws the box, width cells wide, over lines that are total cells wide.
func (b *Box) Draw(p *Painter, lines []string, width, total int) {
	drawn := b.frame(p, width)
	top := max(0, (len(lines)-len(drawn))/2)
	for i, row := range drawn {
		if y := top + i; y < len(lines) {
			lines[y] = splice(lines[y], row, (total-width)/2, width, total)
		}
	}
}

func (b *Box) frame(p *Painter, width int) []string {
	l := NewLine(p, width)
	rows := make([]string, 0, len(b.Body)+len(b.Foot)+2)
	l.Text(b.Edge, p.Sym.topLeft+p.Sym.rule+" ")
	l.Width -= 3
	l.Text(b.Edge, b.Title)
	l.Width += 3
	l.Gap(1)
	l.Fill(b.Edge, p.Sym.rule, l.Room()-1)
	l.Text(b.Edge, p.Sym.topRight)
	rows = append(rows, l.Done())
	for _, part := range [][][]Span{b.Body, b.Foot} {
		for _, spans := range part {
			l.Reset(p.Tone)
			l.Text(b.Edge, p.Sym.Bar+" ")
			l.Width -= 2 // leaves room for the right border, whatever the content
			l.Texts(spans...)
			l.Width += 2
			l.To(width - 1)
			l.Text(b.Edge, p.Sym.Bar)
			rows = append(rows, l.Done())
		}
	}
	l.Reset(p.Tone)
	l.Text(b.Edge, p.Sym.bottomLeft)
	l.Fill(b.Edge, p.Sym.rule, width-2)
	l.Text(b.Edge, p.Sym.bottomRight)
	return append(rows, l.Done())
}
