package kit

// Rect is a rectangle on the screen, in cells.
type Rect struct{ X, Y, W, H int }

// Contains reports whether a cell is in the rectangle.
func (r Rect) Contains(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}
