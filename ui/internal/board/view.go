package board

import (
	"fmt"
	"slices"
	"strconv"

	"electop/election/query"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// View draws the column titles and the rows that fit.
func (m Model) View(s *scene.Scene, p *term.Painter) []string {
	r := m.rect
	lines := make([]string, 0, r.H)
	columns := m.columns(r.W, s.Past != nil)
	lines = append(lines, m.head(p, columns, r.W))
	l := term.NewLine(p, r.W)
	ctx := rowContext{sym: p.Sym, fullID: slices.ContainsFunc(columns, func(c column) bool { return c.width == fullSession && c.id == colSession })}
	rows := m.rows(r.H)
	for i, e := range m.visible(rows) {
		ground, s := p.Tone, s.Of(e)
		if s.PartStale() {
			ground = term.Stale
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
		l.Area(term.Area{Item: term.Row, Index: m.at.Offset + i})
		m.drawRow(l, e, describe(e, ctx), columns, s, selected)
		lines = append(lines, l.Done())
	}
	switch {
	case rows < len(m.order) && rows == r.H-2:
		lines = append(lines, m.hiddenRows(p, r.W, rows))
	case len(m.order) == 0 && r.H > 3:
		lines = append(lines, p.Draw(r.W), p.Draw(r.W, term.Span{term.Quiet, " No election matches the filter. Esc clears the filter."}))
	}
	return p.Pad(lines, r.W, r.H)
}

func (m Model) head(p *term.Painter, columns []column, width int) string {
	l := term.NewLine(p, width)
	marker := p.Sym.Down
	if m.sort.Up() {
		marker = p.Sym.Up
	}
	x := term.LeadIn
	for _, c := range columns {
		l.To(x)
		sorted := sortColumn(m.sort.Key) == c.id
		if c.id == colElection {
			sign := " "
			if m.sort.Key == query.ByProblems || m.sort.Key == query.ByState {
				sign, sorted = marker, false
			}
			l.Area(term.Area{Item: term.Column, Index: int(c.id)})
			l.Texts(term.Span{term.Accent, sign}, term.Span{term.Head, " "})
		}
		l.Area(term.Area{Item: term.Column, Index: int(c.id)})
		writeTitle(l, c, x+c.width, sorted, marker)
		l.To(x + c.width)
		l.Area(term.Area{})
		x += c.width + term.ColumnGap
	}
	return l.Done()
}

// writeTitle draws a column title. The sort marker may use the gap after the column.
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

// hiddenRows shows the number of rows above and below the screen, and how many of them have no leader.
func (m Model) hiddenRows(p *term.Painter, width, rows int) string {
	end := min(len(m.order), m.at.Offset+rows)
	first, _ := slices.BinarySearch(m.vacant, m.at.Offset)
	last, _ := slices.BinarySearch(m.vacant, end)
	spans := []term.Span{{term.Quiet, fmt.Sprintf("   %s %d above  %s %d below", p.Sym.Up, m.at.Offset, p.Sym.Down, len(m.order)-end)}}
	hidden := len(m.vacant) - (last - first)
	if hidden > 0 && width < 70 {
		spans = []term.Span{{term.Quiet, fmt.Sprintf(" %s%d %s%d ", p.Sym.Up, m.at.Offset, p.Sym.Down, len(m.order)-end)},
			{term.Vacant, p.Sym.Vacant + " " + strconv.Itoa(hidden) + " more vacant"}}
	} else if hidden > 0 {
		spans = append(spans, term.Span{term.Text, "   "},
			term.Span{term.Vacant, p.Sym.Vacant + " " + strconv.Itoa(hidden) + " more without a leader"},
			term.Span{term.Text, "   "}, term.Span{term.Key, m.keys.NextTrouble.Help().Key}, term.Span{term.Quiet, " next problem"})
	}
	return p.Draw(width, spans...)
}
