package term

// Rect is a part of the screen, in cells.
type Rect struct{ X, Y, W, H int }

// Contains reports a cell of the part.
func (r Rect) Contains(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}

// ColumnGap is the number of cells between two columns, LeadIn those before the
// first one (the cursor's bar), LeadOut those after the last.
const (
	ColumnGap = 2
	LeadIn    = 1
	LeadOut   = 1
)
