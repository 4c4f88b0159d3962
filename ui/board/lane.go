package board

import (
	"slices"
	"strconv"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/ui/kit"
	"electop/ui/scene"
)

// laneKind is the state of an election during the time of one cell of its lane. A lane shows terms over time.
type laneKind uint8

const (
	laneUnseen laneKind = iota // not observed
	laneLed                    // one leader during the whole cell
	laneGap                    // no leader during the whole cell
	laneLost                   // a leader at the beginning, no leader at the end
	laneWon                    // no leader at the beginning, a leader at the end
	laneChange                 // the leader changed
)

// span is the period of a lane. step is the duration of one cell.
type span struct {
	from time.Time
	step time.Duration
	asOf time.Time
}

// lane draws the terms in the window before asOf into n cells; n is at least 1. The window moves by whole cells, so
// that all lanes of a table move at the same time.
func lane(n int, e *election.Election, asOf time.Time, window time.Duration, lanes *scene.Lanes) []laneKind {
	cells := make([]laneKind, n)
	step := window / time.Duration(n)
	s := span{from: asOf.Truncate(step).Add(step - window), step: step, asOf: asOf}
	stored, observed, known := lanes.Of(e)
	if known && lanes.Moment.IsZero() {
		known = len(stored)+len(observed) > 0 // otherwise the recorder does not watch the key
	}
	terms, since := scene.JoinTerms(stored, e.Terms), e.VacantSince
	switch {
	case len(terms) > 0:
		since = terms[0].Start
	case since.IsZero():
		since = asOf
	}
	seen := s.cell(since)
	for i := range cells {
		if cells[i] = laneGap; i < seen || known && s.unobserved(i, observed, lanes.At) {
			cells[i] = laneUnseen
		}
	}
	for i := range terms {
		t := &terms[i].Term
		if !t.Over() && i+1 < len(terms) { // the term ended before the next one
			t.End = terms[i+1].Start
		}
		if !t.Over() || !t.End.Before(s.from) {
			s.drawTerm(cells, t)
		}
	}
	return cells
}

// cell returns the index of the cell that contains t. The index may be out of range.
func (s span) cell(t time.Time) int {
	d := t.Sub(s.from)
	if d < 0 {
		return -1
	}
	return int(d / s.step)
}

// unobserved reports whether less than half of a cell was observed. Before until, only the periods in observed were
// observed. After until, this process has observed all of the time.
func (s span) unobserved(i int, observed history.Periods, until time.Time) bool {
	from := s.from.Add(time.Duration(i) * s.step)
	to := scene.Earlier(from.Add(s.step), s.asOf)
	seen := to.Sub(from)
	if from.Before(until) {
		end := scene.Earlier(to, until)
		seen = to.Sub(end) + observed.Within(from, end)
	}
	return 2*seen < to.Sub(from)
}

func (s span) drawTerm(cells []laneKind, t *election.Term) {
	last := len(cells) - 1
	first, end := s.cell(t.Start), last+1
	if t.Over() {
		end = s.cell(t.End)
	}
	unseen := end // the first cell after the last observed time of the term
	if !t.SeenUntil.IsZero() {
		unseen = min(end, s.cell(t.SeenUntil)+1)
	}
	for i := max(0, first); i <= min(end, last); i++ {
		if i >= unseen && i != end {
			cells[i] = laneUnseen
			continue
		}
		cells[i] = termCell(cells[i], i == first && t.StartKnown, i == end)
	}
}

// termCell returns the kind of a cell after a term is drawn into it. begins and ends report whether the term begins or
// ends in this cell.
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

// writeLane draws the cells. vacant is the role of cells that show a vacancy or a change of the leader.
func writeLane(l *kit.Line, cells []laneKind, vacant kit.Role) {
	for _, c := range cells {
		switch c {
		case laneUnseen:
			l.Fill(kit.Faint, l.Sym.LaneUnseen, 1)
		case laneLed:
			l.Fill(kit.Lane, l.Sym.LaneLed, 1)
		default:
			role := vacant
			if c == laneWon || c == laneChange { // a leader is no problem
				role = kit.Text
			}
			l.Fill(role, [...]string{laneGap: l.Sym.LaneGap, laneLost: l.Sym.LaneLost, laneWon: l.Sym.LaneWon, laneChange: l.Sym.LaneChange}[c], 1)
		}
	}
}

const day = 24 * time.Hour

// zoomLanes selects the next shorter or longer period, if there is one.
func (m *Model) zoomLanes(step int) {
	all := []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour, day, 7 * day, 30 * day}
	m.Window = all[max(0, min(slices.Index(all, m.Window)+step, len(all)-1))]
}

// windowText formats a period in minutes, hours or days: 15 MIN, 24 H, 7 D.
func windowText(w time.Duration) string {
	switch {
	case w > day:
		return strconv.Itoa(int(w/day)) + " D"
	case w >= time.Hour:
		return strconv.Itoa(int(w/time.Hour)) + " H"
	}
	return strconv.Itoa(int(w/time.Minute)) + " MIN"
}
