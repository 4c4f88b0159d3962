package ui

import (
	"strconv"
	"strings"
	"time"

	"electop/election"
)

func (t *table) drawRow(l *line, e *election.Election, r row, columns []column, asOf time.Time, selected bool) {
	switch {
	case t.marks[e.ID()]:
		l.fill(roleAccent, l.sym.mark, 1)
		r.name.role = roleAccent
	case selected:
		l.fill(roleAccent, l.sym.cursor, 1)
	default:
		l.gap(leadIn)
	}
	x := leadIn
	for _, c := range columns {
		l.to(x)
		t.drawCell(l, e, &r, c, asOf)
		x += c.width + columnGap
	}
}

func (t *table) drawCell(l *line, e *election.Election, r *row, c column, asOf time.Time) {
	switch c.id {
	case colElection:
		l.fill(r.signRole, r.sign, 1)
		l.gap(1)
		drawName(l, &r.name, &r.mark, c.width-2)
	case colLeader:
		drawLeader(l, r, c.width)
	case colNode:
		l.cell(r.node.role, r.node.text, c.width)
	case colFor:
		l.cell(r.since.role, r.since.text, c.width)
	case colTerm:
		l.right(r.term.role, r.term.text, c.width)
	case colSession:
		l.cell(r.session.role, r.session.text, c.width)
	case colChecks:
		drawChecks(l, r, c.width, asOf)
	case colLane:
		t.drawLane(l, e, c.width, asOf)
	case colChanges:
		drawChanges(l, r.changes, c.width)
	default:
	}
}

// drawName writes the name and the mark behind it, which may stand in the gap
// between the columns.
func drawName(l *line, name, mark *span, width int) {
	if mark.text == "" {
		l.cell(name.role, name.text, width)
		return
	}
	used := min(width, textWidth(name.text))
	l.cell(name.role, name.text, used)
	if used < width {
		l.gap(1)
	}
	l.text(mark.role, mark.text)
}

// drawLeader writes the leader and what is to be said beside it, if there is
// room for that; a warning that does not fit shrinks to a sign.
func drawLeader(l *line, r *row, width int) {
	end := l.used + width
	extra := r.extra
	if short, found := strings.CutPrefix(r.leader.text, semaphoreWord); found && r.stands == standsSemaphore && textWidth(r.leader.text) > width {
		r.leader.text = short
	}
	left := width - textWidth(r.leader.text) - columnGap
	if textWidth(extra.text) > left {
		extra.text = r.extraSign
	}
	if extra.text == "" {
		l.cell(r.leader.role, r.leader.text, width)
		return
	}
	lead := min(textWidth(r.leader.text), width-columnGap-textWidth(extra.text))
	l.cell(r.leader.role, r.leader.text, lead)
	l.gap(columnGap)
	l.cell(extra.role, extra.text, end-l.used)
}

func drawChecks(l *line, r *row, width int, asOf time.Time) {
	switch {
	case r.stands != standsLed:
		l.fill(roleFaint, l.sym.dash, 1)
		l.gap(width - 1)
	case !r.checksKnown:
		l.cell(roleQuiet, l.sym.unknown, width)
	case r.checksUnread && r.checks.total() > 0:
		l.cell(roleQuiet, "unread", width)
	case r.checks.total() == 0:
		l.cell(roleQuiet, "none", width)
	case !r.checks.until.IsZero():
		writeOldTally(l, r.checks, asOf, width)
	default:
		writeTally(l, r.checks, width)
	}
}

func drawChanges(l *line, n, width int) {
	role := roleText
	switch {
	case n == 0:
		role = roleFaint
	case n > 3:
		role = roleDelay
	}
	l.right(role, strconv.Itoa(n), width)
}

func (t *table) drawLane(l *line, e *election.Election, width int, asOf time.Time) {
	if cap(t.cells) < width {
		t.cells = make([]laneCell, width)
	}
	if e.IsSemaphore() && len(e.Terms) == 0 {
		l.fill(roleFaint, l.sym.dash, 1)
		l.gap(width - 1)
		return
	}
	cells := t.cells[:width]
	lane(cells, e, asOf, t.widths.window)
	writeLane(l, cells)
}
