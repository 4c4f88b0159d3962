package ui

// box is a framed text that lies over the screen.
type box struct {
	edge  role
	title string
	body  [][]span
	// foot are rows under the body that never scroll.
	foot [][]span
}

// boxFrame is how many lines of a window a box leaves to its frame and to the
// first and last line of the screen; boxSides is how many cells its sides take.
const (
	boxFrame = 4
	boxSides = 4
)

// draw lays the box, width cells wide, over the lines of a screen.
func (b *box) draw(p *painter, lines []string, width, total int) {
	drawn := b.frame(p, width)
	top := max(0, (len(lines)-len(drawn))/2)
	for i, row := range drawn {
		if y := top + i; y < len(lines) {
			lines[y] = splice(lines[y], row, (total-width)/2, width, total)
		}
	}
}

func (b *box) frame(p *painter, width int) []string {
	l := newLine(p, width)
	rows := make([]string, 0, len(b.body)+len(b.foot)+2)
	l.text(b.edge, p.sym.topLeft+p.sym.rule+" ")
	l.width -= 3
	l.text(b.edge, b.title)
	l.width += 3
	l.gap(1)
	l.fill(b.edge, p.sym.rule, l.room()-1)
	l.text(b.edge, p.sym.topRight)
	rows = append(rows, l.done())
	for _, part := range [][][]span{b.body, b.foot} {
		for _, spans := range part {
			l.reset(p.tone)
			l.text(b.edge, p.sym.bar+" ")
			l.width -= 2 // the right side stays, however wide the content is drawn
			l.texts(spans...)
			l.width += 2
			l.to(width - 1)
			l.text(b.edge, p.sym.bar)
			rows = append(rows, l.done())
		}
	}
	l.reset(p.tone)
	l.text(b.edge, p.sym.bottomLeft)
	l.fill(b.edge, p.sym.rule, width-2)
	l.text(b.edge, p.sym.bottomRight)
	return append(rows, l.done())
}
