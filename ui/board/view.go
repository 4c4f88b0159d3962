package board

import (
	"fmt"
	"slices"
	"strconv"

	"electop/election/query"
	"electop/ui/kit"
	"electop/ui/scene"
)

// View draws the column titles and the rows that fit.
func (m Model) View(s *scene.Scene, p *kit.Painter) []string {
	r := m.rect
	lines := make([]string, 0, r.H)
	columns := m.columns(r.W, s.Past != nil)
	lines = append(lines, m.head(p, columns, r.W))
	l := kit.NewLine(p, r.W)
	ctx := rowContext{sym: p.Sym, fullID: slices.ContainsFunc(columns, func(c column) bool { return c.width == fullSession && c.id == colSession })}
	rows := m.rows(r.H)
	for i, e := range m.visible(rows) {
		ground, s := p.Tone, s.Of(e)
		if s.PartStale() {
			ground = kit.Stale
		}
		selected := m.at.Offset+i == m.at.Index
		if selected {
			ground = ground.Selected()
		}
		if justChanged(e, s) {
			ground = ground.Changed()
		}
		l.Reset(ground)
		ctx.asOf, ctx.checks, ctx.stale, ctx.followed = s.AsOf, s.Shown.ChecksOf(e), s.PartStale(), s.Followed(e)
		l.Area(kit.Area{Item: kit.Row, Index: m.at.Offset + i})
		m.drawRow(l, e, describe(e, ctx), columns, s, selected)
		lines = append(lines, l.Done())
	}
	switch {
	case rows < len(m.order) && rows == r.H-2:
		lines = append(lines, m.hiddenRows(p, r.W, rows))
	case len(m.order) == 0 && r.H > 3:
		lines = append(lines, p.Draw(r.W), p.Draw(r.W, kit.Span{kit.Quiet, " No election matches the filter. Esc clears the filter."}))
	}
	return p.Pad(lines, r.W, r.H)
}

func (m Model) head(p *kit.Painter, columns []column, width int) string {
	l := kit.NewLine(p, width)
	marker := p.Sym.Down
	if m.sort.Up() {
		marker = p.Sym.Up
	}
	x := kit.LeadIn
	for _, c := range columns {
		l.To(x)
		sorted := sortColumn(m.sort.Key) == c.id
		if c.id == colElection {
			sign := " "
			if m.sort.Key == query.ByProblems || m.sort.Key == query.ByState {
				sign, sorted = marker, false
			}
			l.Area(kit.Area{Item: kit.Column, Index: int(c.id)})
			l.Texts(kit.Span{kit.Accent, sign}, kit.Span{kit.Head, " "})
		}
		l.Area(kit.Area{Item: kit.Column, Index: int(c.id)})
		writeTitle(l, c, x+c.width, sorted, marker)
		l.To(x + c.width)
		l.Area(kit.Area{})
		x += c.width + kit.ColumnGap
	}
	return l.Done()
}

// writeTitle draws a column title. The sort marker may use the gap after the column.
func writeTitle(l *kit.Line, c column, end int, sorted bool, marker string) {
	w := kit.Width(c.title)
	if c.id.rightAligned() {
		l.To(end - w)
	}
	l.Cell(kit.Head, c.title, min(w, end-l.Used))
	if !sorted {
		return
	}
	if l.Used < end {
		l.Gap(1)
	}
	l.Text(kit.Accent, marker)
}

// hiddenRows shows the number of rows above and below the screen, and how many of them have no leader.
func (m Model) hiddenRows(p *kit.Painter, width, rows int) string {
	end := min(len(m.order), m.at.Offset+rows)
	first, _ := slices.BinarySearch(m.vacant, m.at.Offset)
	last, _ := slices.BinarySearch(m.vacant, end)
	spans := []kit.Span{{kit.Quiet, fmt.Sprintf("   %s %d above  %s %d below", p.Sym.Up, m.at.Offset, p.Sym.Down, len(m.order)-end)}}
	hidden := len(m.vacant) - (last - first)
	if hidden > 0 && width < 70 {
		spans = []kit.Span{{kit.Quiet, fmt.Sprintf(" %s%d %s%d ", p.Sym.Up, m.at.Offset, p.Sym.Down, len(m.order)-end)},
			{kit.Vacant, p.Sym.Vacant + " " + strconv.Itoa(hidden) + " more vacant"}}
	} else if hidden > 0 {
		spans = append(spans, kit.Span{kit.Text, "   "},
			kit.Span{kit.Vacant, p.Sym.Vacant + " " + strconv.Itoa(hidden) + " more without a leader"},
			kit.Span{kit.Text, "   "}, kit.Span{kit.Key, m.keys.NextTrouble.Help().Key}, kit.Span{kit.Quiet, " next problem"})
	}
	return p.Draw(width, spans...)
}
