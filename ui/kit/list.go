package kit

import (
	"maps"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// List is a list of rows with a cursor, marks and a sort order. The cursor and the marks follow the IDs of rows.
type List[T any] struct {
	ID func(T) string
	// Is reports whether a row has an ID, without an allocation.
	Is   func(id string, row T) bool
	Rows []T
	// Index is the row under the cursor. Offset is the first visible row. Height is the number of visible rows.
	Index, Offset, Height int
	// Cursor is the ID of the row under the cursor. It is empty if there are no rows.
	Cursor string
	// Sorts lists the sort keys. By is the index of the current key.
	Sorts   []string
	By      int
	Reverse bool

	marks map[string]bool
	shown int // number of marked rows in Rows
}

// ListKeys are the keys of a list. Keys without a binding are ignored.
type ListKeys struct {
	// Step converts a movement key to a number of rows. page is the number of visible rows, and all that of all rows.
	Step                                        func(msg tea.KeyPressMsg, page, all int) (int, bool)
	Mark, MarkAll, Invert, Unmark, Sort, Sorted key.Binding
	// NoMarks is the reason why marks are not possible, or "".
	NoMarks string
}

// Set replaces the rows. If the row under the cursor is no longer listed, the cursor moves to the next row.
func (l *List[T]) Set(rows []T) {
	l.Rows = rows
	l.count()
	i := l.find(l.Cursor)
	if i < 0 {
		i = l.Index
	}
	l.MoveTo(i)
}

func (l *List[T]) find(id string) int {
	return slices.IndexFunc(l.Rows, func(row T) bool { return l.Is(id, row) })
}

// MoveTo moves the cursor to row i, or to the nearest row.
func (l *List[T]) MoveTo(i int) {
	l.Index, l.Cursor = max(0, min(i, len(l.Rows)-1)), ""
	if l.Index < len(l.Rows) {
		l.Cursor = l.ID(l.Rows[l.Index])
	}
}

// GoTo moves the cursor to the row with an ID. It returns false if the row is not listed.
func (l *List[T]) GoTo(id string) bool {
	i := l.find(id)
	if i >= 0 {
		l.MoveTo(i)
	}
	return i >= 0
}

// Selected returns the row under the cursor, or the zero value if there are no rows.
func (l *List[T]) Selected() (row T) {
	if l.Index < len(l.Rows) {
		row = l.Rows[l.Index]
	}
	return row
}

// Scroll sets the number of visible rows, and scrolls so that the row under the cursor is visible.
func (l *List[T]) Scroll(height int) {
	if l.Height = max(0, height); height > 0 {
		l.Offset = max(min(l.Offset, l.Index), l.Index-height+1)
		l.Offset = max(0, min(l.Offset, len(l.Rows)-height))
	}
}

// Visible returns the visible rows.
func (l *List[T]) Visible() []T {
	from := min(l.Offset, len(l.Rows))
	return l.Rows[from:min(len(l.Rows), from+l.Height)]
}

// Below returns the number of rows below the visible rows.
func (l *List[T]) Below() int { return max(0, len(l.Rows)-l.Offset-l.Height) }

// Key handles a key. If sorts is set, the caller must sort the rows. note, if not empty, describes the effect.
func (l *List[T]) Key(msg tea.KeyPressMsg, k ListKeys) (sorts bool, note string) {
	step, moves := k.Step(msg, max(1, l.Height), len(l.Rows))
	switch {
	case moves:
		l.MoveTo(l.Index + step)
	case key.Matches(msg, k.Sort):
		return l.SortBy((l.By+1)%len(l.Sorts), false)
	case key.Matches(msg, k.Sorted):
		return l.SortBy(l.By, !l.Reverse)
	case !key.Matches(msg, k.Mark, k.MarkAll, k.Invert, k.Unmark):
	case k.NoMarks != "":
		return false, k.NoMarks
	case key.Matches(msg, k.Mark):
		l.mark(l.Rows[l.Index:min(l.Index+1, len(l.Rows))], func(marked bool) bool { return !marked })
		l.MoveTo(l.Index + 1)
	case key.Matches(msg, k.MarkAll):
		l.mark(l.Rows, func(bool) bool { return true })
	case key.Matches(msg, k.Invert):
		l.mark(l.Rows, func(marked bool) bool { return !marked })
	default:
		l.Unmark(func(string) bool { return true })
	}
	return false, ""
}

// SortBy sets the sort key and the direction.
func (l *List[T]) SortBy(key int, reverse bool) (sorts bool, note string) {
	l.By, l.Reverse = key, reverse
	if reverse {
		return true, "Sorted by " + l.Sorts[key] + ", reversed."
	}
	return true, "Sorted by " + l.Sorts[key] + "."
}

// SortByText sets the sort key whose name begins with the first word of a text. A second word "reverse", or its
// beginning, reverses the order. If there is no such key, the note lists the keys.
func (l *List[T]) SortByText(text string) (sorts bool, note string) {
	words := strings.Fields(strings.ToLower(text))
	reverse := "reverse"
	if len(words) == 1 || len(words) == 2 && strings.HasPrefix(reverse, words[1]) {
		if i := slices.IndexFunc(l.Sorts, func(name string) bool { return strings.HasPrefix(name, words[0]) }); i >= 0 {
			return l.SortBy(i, len(words) == 2)
		}
	}
	return false, "Usage: :sort KEY [reverse]. Keys: " + strings.Join(l.Sorts, ", ") + "."
}

// Click selects a row, or sorts by a column. A second click on the column reverses the order.
func (l *List[T]) Click(a Area) (sorts bool, note string) {
	if a.Item == Heading {
		return l.SortBy(a.Index, l.By == a.Index && !l.Reverse)
	}
	l.MoveTo(a.Index)
	return false, ""
}

func (l *List[T]) mark(rows []T, mark func(marked bool) bool) {
	if l.marks == nil {
		l.marks = map[string]bool{}
	}
	for _, row := range rows {
		if id := l.ID(row); mark(l.marks[id]) {
			l.marks[id] = true
		} else {
			delete(l.marks, id)
		}
	}
	l.count()
}

// Unmark removes marks.
func (l *List[T]) Unmark(gone func(id string) bool) {
	maps.DeleteFunc(l.marks, func(id string, _ bool) bool { return gone(id) })
	l.count()
}

func (l *List[T]) count() {
	l.shown = 0
	for i := 0; i < len(l.Rows) && len(l.marks) > 0; i++ {
		if l.marks[l.ID(l.Rows[i])] {
			l.shown++
		}
	}
}

// Marks counts the marked rows, and the marks of rows that are not listed.
func (l *List[T]) Marks() (visible, hidden int) { return l.shown, len(l.marks) - l.shown }

// HasMarks reports whether any row is marked.
func (l *List[T]) HasMarks() bool { return len(l.marks) > 0 }

// Marked returns the marked rows, and the sorted IDs of marks whose rows are not listed.
func (l *List[T]) Marked() (visible []T, hidden []string) {
	if len(l.marks) == 0 {
		return nil, nil
	}
	out := maps.Clone(l.marks)
	for _, row := range l.Rows {
		if id := l.ID(row); out[id] {
			visible = append(visible, row)
			delete(out, id)
		}
	}
	return visible, slices.Sorted(maps.Keys(out))
}

// Draw draws the visible rows. tone returns the background of a row, and draw draws its cells.
func (l *List[T]) Draw(p *Painter, width int, tone func(T) Tone, draw func(line *Line, row T)) []string {
	lines := make([]string, 0, l.Height+2)
	line := NewLine(p, width)
	for i, row := range l.Visible() {
		ground, selected := tone(row), l.Offset+i == l.Index
		line.Marked = len(l.marks) > 0 && l.marks[l.ID(row)]
		if selected {
			ground = ground.Selected()
		}
		line.Reset(ground)
		line.Area(Area{Item: Row, Index: l.Offset + i})
		switch {
		case line.Marked && selected:
			line.Text(Accent, line.Sym.MarkedCursor)
		case line.Marked:
			line.Text(Accent, line.Sym.Mark)
		case selected:
			line.Text(Accent, line.Sym.Cursor)
		}
		draw(line, row)
		lines = append(lines, line.Done())
	}
	return lines
}
