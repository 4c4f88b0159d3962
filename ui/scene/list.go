package scene

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election/query"
	"electop/ui/keys"
	"electop/ui/kit"
)

// List is a list of rows with a filter, a cursor, marks and a sort order, which handles the messages of the program. The
// cursor and the marks follow the IDs of rows. A view consists of a List, its columns and its own keys.
type List[T any] struct {
	ListState
	ID func(T) string
	// Refresh selects the rows that match the filter, sorts them and sets them.
	Refresh func(s *Scene)
	// Select returns the rows that match a filter.
	Select func(f query.Filter, s *Scene) []T
	Rows   []T
}

// ListState is the part of a list that does not depend on the type of its rows.
type ListState struct {
	Keys keys.Map
	Rect kit.Rect
	// Scope selects the fields of the filter. [List.SetFilter] sets Filter.
	Scope  query.Scope
	Filter query.Filter
	// Cursor is the ID of the row under the cursor, or empty if there are no rows.
	Cursor string
	// Index is the row under the cursor. Offset is the first visible row. Height is the number of visible rows.
	Index, Offset, Height int
	// Sorts lists the sort keys. By is the index of the current key.
	Sorts   []string
	By      int
	Reverse bool

	marks map[string]bool
	shown int // number of marked rows in the list
}

// State returns the state of the list, which changes with the list.
func (l *ListState) State() *ListState { return l }

// SetFilter shows only the rows that match a filter.
func (l *List[T]) SetFilter(text string, s *Scene) {
	l.Filter = query.Parse(text, l.Scope)
	l.Refresh(s)
}

// Handle handles a message that concerns only the list.
func (l *List[T]) Handle(msg tea.Msg, s *Scene) Action {
	switch msg := msg.(type) {
	case Resized:
		l.Rect = msg.Rect
	case Filtered:
		l.SetFilter(msg.Text, s)
	case Wheeled:
		l.MoveTo(l.Index + msg.Step)
	case Clicked:
		if msg.Item == kit.Heading { // a second click on the heading reverses the order
			return l.sortBy(msg.Index, l.By == msg.Index && !l.Reverse, s)
		}
		l.MoveTo(msg.Index)
	case SortBy:
		if key, reverse, ok := query.ParseSort(msg.Text, l.Sorts); ok {
			return l.sortBy(key, reverse, s)
		}
		return Say{Role: kit.Quiet, Text: "Usage: :sort KEY [reverse]. Keys: " + strings.Join(l.Sorts, ", ") + "."}
	case tea.KeyPressMsg:
		return l.press(msg, s)
	case Back: // removes the filter or, without a filter, the marks
		switch {
		case !l.Filter.Empty():
			l.SetFilter("", s)
		case len(l.marks) == 0:
			return Pass{}
		default:
			clear(l.marks)
			l.count()
		}
	}
	return nil
}

// Set replaces the rows. If the row under the cursor is no longer listed, the cursor moves to the next row.
func (l *List[T]) Set(rows []T) {
	l.Rows = rows
	l.count()
	if !l.GoTo(l.Cursor) {
		l.MoveTo(l.Index)
	}
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
	i := slices.IndexFunc(l.Rows, func(row T) bool { return l.ID(row) == id })
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

func (l *List[T]) press(msg tea.KeyPressMsg, s *Scene) Action {
	k := &l.Keys
	step, moves := k.Step(msg, max(1, l.Height), len(l.Rows))
	switch {
	case moves:
		l.MoveTo(l.Index + step)
	case key.Matches(msg, k.Sort):
		return l.sortBy((l.By+1)%len(l.Sorts), false, s)
	case key.Matches(msg, k.Reverse):
		return l.sortBy(l.By, !l.Reverse, s)
	case !key.Matches(msg, k.Mark, k.MarkAll, k.Unmark):
	case s.Past != nil:
		return Say{Role: kit.Quiet, Text: "This is the past: marks are disabled. Press esc to return to now."}
	case key.Matches(msg, k.Mark):
		l.mark(l.Rows[l.Index:min(l.Index+1, len(l.Rows))], !l.marks[l.Cursor])
		l.MoveTo(l.Index + 1)
	case key.Matches(msg, k.MarkAll):
		l.mark(l.Rows, true)
	default:
		clear(l.marks)
		l.count()
	}
	return nil
}

// sortBy sorts by a key in a direction.
func (l *List[T]) sortBy(key int, reverse bool, s *Scene) Action {
	l.By, l.Reverse = key, reverse
	l.Refresh(s)
	text := "Sorted by " + l.Sorts[key]
	if reverse {
		text += ", reversed"
	}
	return Say{Role: kit.Quiet, Text: text + "."}
}

// Draw draws the visible rows. tone returns the background of a row, and draw draws its cells.
func (l *List[T]) Draw(p *kit.Painter, tone func(T) kit.Tone, draw func(line *kit.Line, row T)) []string {
	var lines []string
	line := kit.NewLine(p, l.Rect.W)
	for i, row := range l.Visible() {
		ground, selected := tone(row), l.Offset+i == l.Index
		line.Marked = len(l.marks) > 0 && l.marks[l.ID(row)]
		if selected {
			ground = ground.Selected()
		}
		line.Reset(ground)
		line.Area(kit.Area{Item: kit.Row, Index: l.Offset + i})
		switch {
		case line.Marked && selected:
			line.Text(kit.Accent, line.Sym.MarkedCursor)
		case line.Marked:
			line.Text(kit.Accent, line.Sym.Mark)
		case selected:
			line.Text(kit.Accent, line.Sym.Cursor)
		}
		draw(line, row)
		lines = append(lines, line.Done())
	}
	return lines
}
