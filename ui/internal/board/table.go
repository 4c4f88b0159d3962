package board

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"electop/election"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// Model is the list of elections: what the user did to it (cursor, offset,
// filter, sort, marks) and the order that follows from that and the snapshot.
// Rows are known by the election's key, so the cursor stays on its election
// whatever happens around it.
type Model struct {
	Order  []*election.Election // filtered and sorted
	Cursor string               // key of the election under the cursor
	Index  int                  // where that is in order
	Offset int                  // first row on the screen
	Marks  map[string]bool
	Filter scene.Filter
	Sort   Sorting
	Widths Extent
	Wide   bool
	// vacant are the rows without a leader, in order.
	vacant []int
	cells  []LaneCell
}

func New() *Model {
	return &Model{Marks: map[string]bool{}}
}

// Selected is the election under the cursor, nil when there is none.
func (t *Model) Selected() *election.Election {
	if t.Index < 0 || t.Index >= len(t.Order) {
		return nil
	}
	return t.Order[t.Index]
}

// MoveTo puts the cursor on a row.
func (t *Model) MoveTo(i int) {
	t.Index = max(0, min(i, len(t.Order)-1))
	t.Cursor = ""
	if e := t.Selected(); e != nil {
		t.Cursor = e.ID()
	}
}

// Jump puts the cursor on the next election in direction step that is in
// trouble, and reports whether there is one.
func (t *Model) Jump(step int, snap *election.Snapshot, asOf time.Time) bool {
	n := len(t.Order)
	for k := 1; k <= n; k++ {
		i := ((t.Index+step*k)%n + n) % n
		if scene.Trouble(t.Order[i], snap, asOf) < scene.NoTrouble {
			t.MoveTo(i)
			return true
		}
	}
	return false
}

// Rows is how many elections a table of this height shows: without the head,
// and without the line that says what is out of sight.
func (t *Model) Rows(height int) int {
	if rows := height - 1; rows >= len(t.Order) || rows < 3 {
		return max(0, rows)
	}
	return height - 2
}

// outOfSight says how many rows there are above and below, and how many of them
// have no leader.
func (t *Model) outOfSight(p *term.Painter, width, rows int) string {
	end := min(len(t.Order), t.Offset+rows)
	first, _ := slices.BinarySearch(t.vacant, t.Offset)
	last, _ := slices.BinarySearch(t.vacant, end)
	spans := []term.Span{{term.Quiet, fmt.Sprintf("   %s %d above  %s %d below", p.Sym.Up, t.Offset, p.Sym.Down, len(t.Order)-end)}}
	hidden := len(t.vacant) - (last - first)
	if hidden > 0 && width < 70 {
		spans = []term.Span{{term.Quiet, fmt.Sprintf(" %s%d %s%d ", p.Sym.Up, t.Offset, p.Sym.Down, len(t.Order)-end)},
			{term.Vacant, p.Sym.Vacant + " " + strconv.Itoa(hidden) + " vacant out of sight"}}
	} else if hidden > 0 {
		spans = append(spans, term.Span{term.Text, "   "},
			term.Span{term.Vacant, p.Sym.Vacant + " " + strconv.Itoa(hidden) + " out of sight without a leader"},
			term.Span{term.Text, "   "}, term.Span{term.Key, "n"}, term.Span{term.Quiet, " goes there"})
	}
	return p.Draw(width, spans...)
}

// Scroll brings the cursor's row onto a screen of this many rows.
func (t *Model) Scroll(rows int) {
	t.Offset = min(t.Offset, t.Index)
	t.Offset = max(t.Offset, t.Index-rows+1)
	t.Offset = max(0, min(t.Offset, len(t.Order)-rows))
}

// Visible are the elections on a screen of this many rows.
func (t *Model) Visible(rows int) []*election.Election {
	from := min(t.Offset, len(t.Order))
	return t.Order[from:min(len(t.Order), from+max(0, rows))]
}

// head draws the titles of the columns with the sort's marker.
func (t *Model) head(p *term.Painter, columns []column, width int) string {
	l := term.NewLine(p, width)
	marker := p.Sym.Down
	if t.Sort.up() {
		marker = p.Sym.Up
	}
	x := term.LeadIn
	for _, c := range columns {
		l.To(x)
		sorted := t.Sort.Key.Column() == c.Id
		if c.Id == colElection {
			sign := " "
			if t.Sort.Key == ByState {
				sign, sorted = marker, false
			}
			l.Texts(term.Span{term.Accent, sign}, term.Span{term.Head, " "})
		}
		writeTitle(l, c, x+c.Width, sorted, marker)
		x += c.Width + term.ColumnGap
	}
	return l.Done()
}

// writeTitle writes one title; its marker may stand in the gap after the column.
func writeTitle(l *term.Line, c column, end int, sorted bool, marker string) {
	w := term.Width(c.Title)
	if c.Id.rightAligned() {
		l.To(end - w)
	}
	l.Cell(term.Head, c.Title, min(w, end-l.Used))
	if !sorted {
		return
	}
	if l.Used < end {
		l.Gap(1)
	}
	l.Text(term.Accent, marker)
}

// Draw draws the head and as many rows as fit. Only those are looked at.
func (t *Model) Draw(p *term.Painter, s *scene.Scene, width, height int) []string {
	t.Scroll(t.Rows(height))
	lines := make([]string, 0, height)
	columns := FitColumns(width, t.Widths, t.Wide)
	lines = append(lines, t.head(p, columns, width))
	l := term.NewLine(p, width)
	ctx := rowContext{
		asOf: s.AsOf, sym: p.Sym, checks: s.Shown.Checks, fullID: t.Wide,
	}
	rows := t.Rows(height)
	for i, e := range t.Visible(rows) {
		ground := p.Tone
		selected := t.Offset+i == t.Index
		if selected {
			ground = ground.Selected()
		}
		s := s.Of(e)
		if s.PartStale() {
			ground += term.Stale - term.Plain
		}
		l.Reset(ground)
		ctx.asOf, ctx.stale = s.AsOf, s.PartStale()
		t.drawRow(l, e, describe(e, ctx), columns, s.AsOf, selected)
		lines = append(lines, l.Done())
	}
	if rows < len(t.Order) && rows == height-2 {
		lines = append(lines, t.outOfSight(p, width, rows))
	}
	if len(t.Order) == 0 && height > 3 {
		lines = append(lines, p.Draw(width), p.Draw(width, term.Span{term.Quiet, " No election matches the filter. Esc clears it."}))
	}
	return p.Pad(lines, width, height)
}

// NameColumn is how wide the names of elections are in lists of events.
func (t *Model) NameColumn(width int) int { return max(6, min(t.Widths.Name, width/5)) }
