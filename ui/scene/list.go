package scene

import (
	"electop/ui/keys"
	"electop/ui/kit"
)

// ListKeys returns the keys of a list with marks.
func ListKeys(k keys.Map, s *Scene) kit.ListKeys {
	list := kit.ListKeys{
		Step: k.Step, Mark: k.Mark, MarkRange: k.MarkRange, MarkAll: k.MarkAll, Invert: k.Invert, Unmark: k.Unmark, Sort: k.Sort, Sorted: k.Reverse,
	}
	if s.Past != nil {
		list.NoMarks = "This is the past: marks are disabled. Press esc to return to now."
	}
	return list
}

// Listed returns the action that shows the note about the effect of an input on a list.
func Listed(effect kit.Effect, note string) Action {
	if effect >= kit.Noted {
		return Say{Role: kit.Quiet, Text: note}
	}
	return nil
}

// Unknown returns the action that shows an error about a text that the user typed.
func Unknown(err error) Action { return Say{Role: kit.Delay, Text: kit.Capital(err.Error()) + "."} }

// Cursor is a position in a list of rows, with the visible part of the list.
type Cursor struct {
	Index  int // row under the cursor
	Offset int // first row on the screen
}

// MoveTo moves the cursor to row i of n rows, or to the nearest existing row.
func (c *Cursor) MoveTo(i, n int) { c.Index = max(0, min(i, n-1)) }

// Scroll scrolls a list of n rows so that the cursor is on the screen. rows is the number of visible rows. If rows is
// 0, nothing changes.
func (c *Cursor) Scroll(rows, n int) {
	if rows <= 0 {
		return
	}
	c.Offset = max(min(c.Offset, c.Index), c.Index-rows+1)
	c.Offset = max(0, min(c.Offset, n-rows))
}

// At returns the row under the cursor, or nil if there is none.
func At[T any](c Cursor, rows []*T) *T {
	if c.Index >= len(rows) {
		return nil
	}
	return rows[c.Index]
}

// Sorted returns the action that shows the current sort order in the footer.
func Sorted(word string, reverse bool) Action {
	if reverse {
		word += ", reversed"
	}
	return Say{Role: kit.Quiet, Text: "Sorted by " + word + "."}
}
