package board

import (
	"strconv"
	"strings"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/ui/kit"
	"electop/ui/scene"
)

func (m Model) drawRow(l *kit.Line, e *election.Election, r row, columns []column, s *scene.Scene, selected bool) {
	switch {
	case m.marks[e.ID()] && selected:
		l.Fill(kit.Accent, l.Sym.MarkedCursor, 1)
	case m.marks[e.ID()]:
		l.Fill(kit.Accent, l.Sym.Mark, 1)
	case selected:
		l.Fill(kit.Accent, l.Sym.Cursor, 1)
	default:
		l.Gap(kit.LeadIn)
	}
	if m.marks[e.ID()] {
		r.name.Role = kit.Accent
	}
	x := kit.LeadIn
	for _, c := range columns {
		l.To(x)
		m.drawCell(l, e, &r, c, s)
		x += c.width + kit.ColumnGap
	}
}

func (m Model) drawCell(l *kit.Line, e *election.Election, r *row, c column, s *scene.Scene) {
	switch c.id {
	case colElection:
		l.Fill(r.signRole, r.sign, 1)
		l.Gap(1)
		drawName(l, &r.name, &r.mark, c.width-2)
	case colDatacenter:
		l.Cell(kit.Text, scene.Clean(e.Datacenter), c.width)
	case colLeader:
		drawLeader(l, r, c.width)
	case colNode:
		l.Cell(r.node.Role, r.node.Text, c.width)
	case colFor:
		l.Cell(r.since.Role, r.since.Text, c.width)
	case colTerm:
		l.Right(r.term.Role, r.term.Text, c.width)
	case colSession:
		l.Cell(r.session.Role, r.session.Text, c.width)
	case colChecks:
		drawChecks(l, r, c.width, s.AsOf)
	case colLane:
		drawLane(l, e, r.state, c.width, m.Window(), s)
	case colChanges:
		drawChanges(l, r.changes, c.width)
	default:
	}
}

// drawName draws the name and the mark. The mark may use the gap after the column.
func drawName(l *kit.Line, name, mark *kit.Span, width int) {
	if mark.Text == "" {
		l.Cell(name.Role, name.Text, width)
		return
	}
	used := min(width, kit.Width(name.Text))
	l.Cell(name.Role, name.Text, used)
	if used < width {
		l.Gap(1)
	}
	l.Text(mark.Role, mark.Text)
}

// leastLeader is the minimum width of the leader next to the result of an action, in cells.
const leastLeader = 6

// drawLeader draws the leader and, if it fits, the note next to it. If a warning does not fit, drawLeader draws
// its symbol instead.
func drawLeader(l *kit.Line, r *row, width int) {
	end := l.Used + width
	extra := r.extra
	if short, found := strings.CutPrefix(r.leader.Text, scene.SemaphoreWord); found && r.state == scene.StateSemaphore && kit.Width(r.leader.Text) > width {
		r.leader.Text = short
	}
	left := width - kit.Width(r.leader.Text) - kit.ColumnGap
	if r.result {
		left = max(left, width-leastLeader-kit.ColumnGap)
	}
	if kit.Width(extra.Text) > left {
		extra.Text = r.extraSign
	}
	if extra.Text == "" {
		l.Cell(r.leader.Role, r.leader.Text, width)
		return
	}
	lead := min(kit.Width(r.leader.Text), width-kit.ColumnGap-kit.Width(extra.Text))
	l.Cell(r.leader.Role, r.leader.Text, lead)
	l.Gap(kit.ColumnGap)
	l.Cell(extra.Role, extra.Text, end-l.Used)
}

func drawChecks(l *kit.Line, r *row, width int, asOf time.Time) {
	switch {
	case r.state != scene.StateLed:
		l.Fill(kit.Faint, l.Sym.Dash, 1)
		l.Gap(width - 1)
	case !r.checksKnown:
		l.Cell(kit.Quiet, l.Sym.Unknown, width)
	case r.checksUnread && r.checks.Total() > 0:
		l.Cell(kit.Quiet, "unread", width)
	case r.checks.Total() == 0:
		l.Cell(kit.Quiet, "none", width)
	case !r.checks.Until.IsZero():
		writeOldTally(l, r.checks, asOf, width)
	default:
		writeTally(l, r.checks, width)
	}
}

func drawChanges(l *kit.Line, n, width int) {
	role := kit.Text
	switch {
	case n == 0:
		role = kit.Faint
	case n > 3:
		role = kit.Delay
	}
	l.Right(role, strconv.Itoa(n), width)
}

func drawLane(l *kit.Line, e *election.Election, state scene.DisplayState, width int, window time.Duration, s *scene.Scene) {
	if e.IsSemaphore() && len(e.Terms) == 0 {
		l.Fill(kit.Faint, l.Sym.Dash, 1)
		l.Gap(width - 1)
		return
	}
	vacant := kit.Vacant
	if state == scene.StateIdle || state == scene.StateUnsearched {
		vacant = kit.Faint
	}
	writeLane(l, lane(width, e, s.AsOf, window, s.Lanes), vacant)
}

// writeTally draws "✓ 1 ! 1" into exactly n cells.
func writeTally(l *kit.Line, t insight.Tally, n int) {
	end := min(l.Used+n, l.Width)
	parts := [...]struct {
		count int
		role  kit.Role
		sign  string
	}{
		{t.Critical, kit.Bad, l.Sym.Critical},
		{t.Warning, kit.Delay, l.Sym.Warning},
		{t.Passing, kit.Led, l.Sym.Passing},
		{t.Unknown, kit.Quiet, l.Sym.Unknown},
	}
	first := true
	for _, p := range parts {
		if p.count == 0 {
			continue
		}
		number := strconv.Itoa(p.count)
		width := kit.Width(p.sign) + 1 + len(number)
		if !first {
			width++
		}
		if l.Used+width > end {
			break
		}
		if !first {
			l.Gap(1)
		}
		l.Text(p.role, p.sign)
		l.Text(p.role, " ")
		l.Text(p.role, number)
		first = false
	}
	l.Gap(end - l.Used)
}

// writeOldTally draws "! 12m ago" into exactly n cells. It omits the symbol if the text does not fit.
func writeOldTally(l *kit.Line, t insight.Tally, asOf time.Time, n int) {
	text := age(asOf.Sub(t.Until)) + " ago"
	if sign := scene.TallySign(t, l.Sym); kit.Width(sign)+1+len(text) <= n {
		text = sign + " " + text
	}
	l.Cell(kit.Quiet, text, n)
}

// age formats a duration in its largest unit: 45s, 12m, 3h, 2d.
func age(d time.Duration) string {
	d = max(0, d)
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < 24*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	}
	return strconv.Itoa(int(d/(24*time.Hour))) + "d"
}
