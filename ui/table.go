package ui

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"electop/election"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// table is the list of elections: what the user did to it (cursor, offset,
// filter, sort, marks) and the order that follows from that and the snapshot.
// Rows are known by the election's key, so the cursor stays on its election
// whatever happens around it.
type table struct {
	order  []*election.Election // filtered and sorted
	cursor string               // key of the election under the cursor
	index  int                  // where that is in order
	offset int                  // first row on the screen
	marks  map[string]bool
	filter scene.Filter
	sort   sorting
	widths extent
	wide   bool
	// vacant are the rows without a leader, in order.
	vacant []int
	cells  []laneCell
}

func newTable() *table {
	return &table{marks: map[string]bool{}}
}

// selected is the election under the cursor, nil when there is none.
func (t *table) selected() *election.Election {
	if t.index < 0 || t.index >= len(t.order) {
		return nil
	}
	return t.order[t.index]
}

// moveTo puts the cursor on a row.
func (t *table) moveTo(i int) {
	t.index = max(0, min(i, len(t.order)-1))
	t.cursor = ""
	if e := t.selected(); e != nil {
		t.cursor = e.ID()
	}
}

// jump puts the cursor on the next election in direction step that is in
// trouble, and reports whether there is one.
func (t *table) jump(step int, snap *election.Snapshot, asOf time.Time) bool {
	n := len(t.order)
	for k := 1; k <= n; k++ {
		i := ((t.index+step*k)%n + n) % n
		if scene.Trouble(t.order[i], snap, asOf) < scene.NoTrouble {
			t.moveTo(i)
			return true
		}
	}
	return false
}

// rows is how many elections a table of this height shows: without the head,
// and without the line that says what is out of sight.
func (t *table) rows(height int) int {
	if rows := height - 1; rows >= len(t.order) || rows < 3 {
		return max(0, rows)
	}
	return height - 2
}

// outOfSight says how many rows there are above and below, and how many of them
// have no leader.
func (t *table) outOfSight(p *term.Painter, width, rows int) string {
	end := min(len(t.order), t.offset+rows)
	first, _ := slices.BinarySearch(t.vacant, t.offset)
	last, _ := slices.BinarySearch(t.vacant, end)
	spans := []term.Span{{term.Quiet, fmt.Sprintf("   %s %d above  %s %d below", p.Sym.Up, t.offset, p.Sym.Down, len(t.order)-end)}}
	hidden := len(t.vacant) - (last - first)
	if hidden > 0 && width < 70 {
		spans = []term.Span{{term.Quiet, fmt.Sprintf(" %s%d %s%d ", p.Sym.Up, t.offset, p.Sym.Down, len(t.order)-end)},
			{term.Vacant, p.Sym.Vacant + " " + strconv.Itoa(hidden) + " vacant out of sight"}}
	} else if hidden > 0 {
		spans = append(spans, term.Span{term.Text, "   "},
			term.Span{term.Vacant, p.Sym.Vacant + " " + strconv.Itoa(hidden) + " out of sight without a leader"},
			term.Span{term.Text, "   "}, term.Span{term.Key, "n"}, term.Span{term.Quiet, " goes there"})
	}
	return p.Draw(width, spans...)
}

// scroll brings the cursor's row onto a screen of this many rows.
func (t *table) scroll(rows int) {
	t.offset = min(t.offset, t.index)
	t.offset = max(t.offset, t.index-rows+1)
	t.offset = max(0, min(t.offset, len(t.order)-rows))
}

// visible are the elections on a screen of this many rows.
func (t *table) visible(rows int) []*election.Election {
	from := min(t.offset, len(t.order))
	return t.order[from:min(len(t.order), from+max(0, rows))]
}

// head draws the titles of the columns with the sort's marker.
func (t *table) head(p *term.Painter, columns []column, width int) string {
	l := term.NewLine(p, width)
	marker := p.Sym.Down
	if t.sort.up() {
		marker = p.Sym.Up
	}
	x := term.LeadIn
	for _, c := range columns {
		l.To(x)
		sorted := t.sort.key.column() == c.id
		if c.id == colElection {
			sign := " "
			if t.sort.key == byState {
				sign, sorted = marker, false
			}
			l.Texts(term.Span{term.Accent, sign}, term.Span{term.Head, " "})
		}
		writeTitle(l, c, x+c.width, sorted, marker)
		x += c.width + term.ColumnGap
	}
	return l.Done()
}

// writeTitle writes one title; its marker may stand in the gap after the column.
func writeTitle(l *term.Line, c column, end int, sorted bool, marker string) {
	w := term.Width(c.title)
	if c.id.rightAligned() {
		l.To(end - w)
	}
	l.Cell(term.Head, c.title, min(w, end-l.Used))
	if !sorted {
		return
	}
	if l.Used < end {
		l.Gap(1)
	}
	l.Text(term.Accent, marker)
}

// draw draws the head and as many rows as fit. Only those are looked at.
func (t *table) draw(p *term.Painter, s *scene.Scene, width, height int) []string {
	lines := make([]string, 0, height)
	columns := fitColumns(width, t.widths, t.wide)
	lines = append(lines, t.head(p, columns, width))
	l := term.NewLine(p, width)
	ctx := rowContext{
		asOf: s.AsOf, sym: p.Sym, checks: s.Shown.Checks, fullID: t.wide,
	}
	rows := t.rows(height)
	for i, e := range t.visible(rows) {
		ground := p.Tone
		selected := t.offset+i == t.index
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
	if rows < len(t.order) && rows == height-2 {
		lines = append(lines, t.outOfSight(p, width, rows))
	}
	return p.Pad(lines, width, height)
}
