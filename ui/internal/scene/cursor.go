package scene

import "electop/ui/internal/term"

// Cursor is a place in a list of rows, and the part of the list that is on the screen.
type Cursor struct {
	Index  int // the row under the cursor
	Offset int // first row on the screen
}

// MoveTo puts the cursor on a row of n, or on the nearest that there is.
func (c *Cursor) MoveTo(i, n int) { c.Index = max(0, min(i, n-1)) }

// Scroll brings the cursor's row of n onto a screen of this many rows. It changes
// nothing while no row is visible.
func (c *Cursor) Scroll(rows, n int) {
	if rows <= 0 {
		return
	}
	c.Offset = max(min(c.Offset, c.Index), c.Index-rows+1)
	c.Offset = max(0, min(c.Offset, n-rows))
}

// At is the row under the cursor, nil for none.
func At[T any](c Cursor, rows []*T) *T {
	if c.Index >= len(rows) {
		return nil
	}
	return rows[c.Index]
}

// Sorted says in the footer what a table is sorted by now.
func Sorted(word string, reverse bool) Action {
	if reverse {
		word += ", reversed"
	}
	return Say{Role: term.Quiet, Text: "Sorted by " + word + "."}
}
