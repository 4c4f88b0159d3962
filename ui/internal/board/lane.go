package board

import (
	"time"

	"electop/election"
	"electop/ui/internal/term"
)

// laneWindow is the period that the lanes show: 15 minutes, or less while electop has observed
// less, so that the lanes are full from the start.
func laneWindow(seen time.Duration) time.Duration {
	switch {
	case seen <= time.Minute:
		return time.Minute
	case seen <= 5*time.Minute:
		return 5 * time.Minute
	}
	return 15 * time.Minute
}

// laneKind is the state during one cell's part of the window.
type laneKind uint8

const (
	laneUnseen laneKind = iota // not observed
	laneLed                    // one leader all the time
	laneGap                    // no leader all the time
	laneLost                   // a leader at first, then none
	laneWon                    // none at first, then a leader
	laneChange                 // the leader changed
)

type laneCell struct {
	kind laneKind
	odd  bool // alternates the colour of neighbouring terms
}

// lane returns the terms in the window before asOf as n cells, at least one. The window moves
// by whole cells, so that all lanes of a table move together.
func lane(n int, e *election.Election, asOf time.Time, window time.Duration) []laneCell {
	cells := make([]laneCell, n)
	step := window / time.Duration(n)
	from := asOf.Truncate(step).Add(step - window)
	seen := cellAt(seenSince(e, asOf), from, step)
	for i := range cells {
		cells[i] = laneCell{kind: laneGap}
		if i < seen {
			cells[i].kind = laneUnseen
		}
	}
	for _, t := range e.Terms {
		drawTerm(cells, t, from, step)
	}
	return cells
}

// seenSince is the start of the observation of an election.
func seenSince(e *election.Election, asOf time.Time) time.Time {
	switch {
	case len(e.Terms) > 0:
		return e.Terms[0].Start
	case !e.VacantSince.IsZero():
		return e.VacantSince
	}
	return asOf
}

// cellAt is the index of the cell that contains t; it may be out of range.
func cellAt(t, from time.Time, step time.Duration) int {
	d := t.Sub(from)
	if d < 0 {
		return -1
	}
	return int(d / step)
}

func drawTerm(cells []laneCell, t election.Term, from time.Time, step time.Duration) {
	last := len(cells) - 1
	first, end := cellAt(t.Start, from, step), last+1
	if t.Over() {
		end = cellAt(t.End, from, step)
	}
	for i := max(0, first); i <= min(end, last); i++ {
		cells[i] = laneCell{
			kind: termCell(cells[i].kind, i == first && t.StartKnown, i == end),
			odd:  (t.Number+t.CreateIndex)%2 == 1,
		}
	}
}

// termCell combines a cell with a term that begins or ends in it.
func termCell(before laneKind, begins, ends bool) laneKind {
	touched := before == laneLost || before == laneChange || before == laneWon
	switch {
	case touched, begins && ends:
		return laneChange
	case begins:
		return laneWon
	case ends:
		return laneLost
	}
	return laneLed
}

// writeLane draws the cells; time without a leader is highlighted.
func writeLane(l *term.Line, cells []laneCell) {
	for _, c := range cells {
		led := term.TermA
		if c.odd {
			led = term.TermB
		}
		switch c.kind {
		case laneUnseen:
			l.Fill(term.Faint, l.Sym.LaneUnseen, 1)
		case laneLed:
			l.Fill(led, l.Sym.LaneLed, 1)
		case laneGap:
			l.Fill(term.Vacant, l.Sym.LaneGap, 1)
		case laneLost:
			l.Fill(term.Vacant, l.Sym.LaneLost, 1)
		case laneWon:
			l.Fill(term.Vacant, l.Sym.LaneWon, 1)
		case laneChange:
			l.Fill(term.Vacant, l.Sym.LaneChange, 1)
		}
	}
}
