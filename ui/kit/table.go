package kit

import (
	"cmp"
	"slices"
	"strings"
)

// ColumnGap is the number of cells between columns. LeadIn is the number of cells before the first column. These
// cells show the cursor. LeadOut is the number of cells after the last column.
const (
	ColumnGap = 2
	LeadIn    = 1
	LeadOut   = 1
)

// Column is a column of a table whose rows have the type R.
type Column[R any] struct {
	// Name is the name in the settings, and the sort key.
	Name string
	// Title is the heading, if it is not the name in capitals. Short replaces it if it does not fit.
	Title, Short string
	// The minimum, the usual and the maximum width, in cells. A column without a minimum always has the maximum width. A
	// column without a maximum is hidden.
	Least, Want, Most int
	// Rank is the order in which a narrow window hides columns, lowest first. A column without a rank is never hidden.
	Rank int
	// Whole is set if the column grows to its maximum at once or not at all.
	Whole bool
	Right bool // the heading and the text of Span are aligned to the right
	// Indent is the number of cells of the heading that belong to a sign at the beginning of each cell.
	Indent int
	// By compares two rows by the sort key. It is nil if the owner of the table sorts the rows, or nothing does.
	By func(a, b R) int
	// Span is the text of a row. Cell, if not nil, draws a row into exactly width cells instead.
	Span func(r R) Span
	Cell func(r R, l *Line, width int)

	width int
}

// Table is a list of columns.
type Table[R any] []Column[R]

// SortKeys lists the sort keys of the columns.
func (t Table[R]) SortKeys() (keys []string) {
	for _, c := range t {
		if c.By != nil {
			keys = append(keys, c.Name)
		}
	}
	return keys
}

// Sorted returns the comparison of a sort key.
func (t Table[R]) Sorted(by string) func(a, b R) int {
	return t[slices.IndexFunc(t, func(c Column[R]) bool { return c.Name == by })].By
}

// Fit returns the columns that fit into a width, with their widths.
func (t Table[R]) Fit(width int) Table[R] {
	shown := slices.DeleteFunc(slices.Clone(t), func(c Column[R]) bool { return c.Most == 0 })
	room := width - LeadIn - LeadOut + ColumnGap
	for i := range shown {
		c := &shown[i]
		c.width = cmp.Or(c.Least, c.Most)
		room -= c.width + ColumnGap
	}
	for room < 0 {
		least := -1
		for i, c := range shown {
			if c.Rank > 0 && (least < 0 || c.Rank < shown[least].Rank) {
				least = i
			}
		}
		if least < 0 { // the window is narrower than the sum of the minimum widths
			widest := &shown[0]
			for i := range shown {
				if shown[0].width <= 10 && shown[i].width > widest.width {
					widest = &shown[i]
				}
			}
			if widest.width <= 6 {
				break
			}
			widest.width--
			room++
			continue
		}
		room += shown[least].width + ColumnGap
		shown = slices.Delete(shown, least, least+1)
	}
	grow := func(c *Column[R], to int) {
		if n := min(to-c.width, room); n > 0 && (c.width+n == to || !c.Whole) {
			c.width, room = c.width+n, room-n
		}
	}
	for i := range shown {
		if c := &shown[i]; c.Want == c.Least+1 { // one cell more or less decides whether a text is cut
			grow(c, c.Want)
		}
	}
	for i := range shown {
		grow(&shown[i], shown[i].Want)
	}
	for i := range shown {
		grow(&shown[i], shown[i].Most)
	}
	return shown
}

// Head draws the headings. The heading of the column with the sort key by has a sign, which may use the gap after the
// column. If no column has this key, the sign is in the indentation of the first heading. keys lists all sort keys.
func (t Table[R]) Head(p *Painter, width int, keys []string, by string, up bool) string {
	l := NewLine(p, width)
	marker := p.Sym.Down
	if up {
		marker = p.Sym.Up
	}
	none := !slices.ContainsFunc(t, func(c Column[R]) bool { return c.Name == by })
	x := LeadIn
	for i, c := range t {
		end := x + c.width
		l.To(x)
		if key := slices.Index(keys, c.Name); key >= 0 {
			l.Area(Area{Item: Heading, Index: key})
		}
		if i == 0 && none && c.Indent > 0 {
			l.Text(Accent, marker)
		}
		l.To(x + c.Indent)
		title := cmp.Or(c.Title, strings.ToUpper(c.Name))
		if Width(title) > end-l.Used && c.Short != "" {
			title = c.Short
		}
		if c.Right {
			l.To(end - Width(title))
		}
		l.Cell(Head, title, min(Width(title), end-l.Used))
		if c.Name == by {
			if l.Used < end {
				l.Gap(1)
			}
			l.Text(Accent, marker)
		}
		l.To(end)
		l.Area(Area{})
		x = end + ColumnGap
	}
	return l.Done()
}

// Row draws the cells of a row.
func (t Table[R]) Row(l *Line, r R) {
	x := LeadIn
	for _, c := range t {
		l.To(x)
		if c.Cell != nil {
			c.Cell(r, l, c.width)
		} else if s := c.Span(r); c.Right {
			l.Right(s.Role, s.Text, c.width)
		} else {
			l.Cell(s.Role, s.Text, c.width)
		}
		x += c.width + ColumnGap
	}
}
