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
	older, newer := mergeTerms(stored, e.Terms)
	seen := s.cell(seenSince(e, asOf, older, newer))
	for i := range cells {
		if cells[i] = laneGap; i < seen || known && s.unobserved(i, observed, lanes.At) {
			cells[i] = laneUnseen
		}
	}
	for _, terms := range [][]election.Term{older, newer} {
		for i := range terms {
			if t := &terms[i]; !t.Over() || !t.End.Before(s.from) {
				s.drawTerm(cells, t)
			}
		}
	}
	return cells
}

// seenSince returns when the observation of an election began.
func seenSince(e *election.Election, asOf time.Time, terms ...[]election.Term) time.Time {
	for _, part := range terms {
		if len(part) > 0 {
			return part[0].Start
		}
	}
	if !e.VacantSince.IsZero() {
		return e.VacantSince
	}
	return asOf
}

// mergeTerms joins recorded and live terms, oldest first. It returns the recorded terms before the first live term as
// older, without copying them, because there can be many. A live term without a known start gets its start from the
// history.
func mergeTerms(stored, live []election.Term) (older, newer []election.Term) {
	if len(stored) == 0 || len(live) == 0 {
		return stored, live
	}
	n := len(stored)
	for n > 0 && (!stored[n-1].Over() || stored[n-1].End.After(live[0].Start)) {
		n--
	}
	rest := slices.Clone(stored[n:])
	newer = make([]election.Term, 0, len(live)+len(rest))
	for _, t := range live {
		if i := slices.IndexFunc(rest, func(s election.Term) bool { return scene.SameTerm(&s, &t) }); i >= 0 {
			if !t.StartKnown {
				t.Start, t.StartKnown = rest[i].Start, rest[i].StartKnown
			}
			rest = slices.Delete(rest, i, i+1)
		}
		newer = append(newer, t)
	}
	for _, t := range rest {
		if !t.Over() { // the term ended before the first live one
			t.End = latest(t.Start, live[0].Start)
		}
		newer = append(newer, t)
	}
	if len(rest) > 0 {
		slices.SortStableFunc(newer, func(a, b election.Term) int { return a.Start.Compare(b.Start) })
	}
	return stored[:n:n], newer
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
	to := from.Add(s.step)
	if to.After(s.asOf) {
		to = s.asOf
	}
	stored := to
	if stored.After(until) {
		stored = until
	}
	seen := max(0, to.Sub(latest(from, until)))
	if stored.After(from) {
		seen += observed.Within(from, stored)
	}
	return 2*seen < to.Sub(from)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
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
			l.Fill(vacant, [...]string{laneGap: l.Sym.LaneGap, laneLost: l.Sym.LaneLost, laneWon: l.Sym.LaneWon, laneChange: l.Sym.LaneChange}[c], 1)
		}
	}
}

// laneWindow returns the default period of the lanes: 15 minutes. While electop has observed for less time, the period
// is shorter, so that the lanes are never mostly empty.
func laneWindow(seen time.Duration) time.Duration {
	switch {
	case seen <= time.Minute:
		return time.Minute
	case seen <= 5*time.Minute:
		return 5 * time.Minute
	}
	return 15 * time.Minute
}

const day = 24 * time.Hour

// Window returns the period that the lanes show.
func (m *Model) Window() time.Duration {
	if m.zoom > 0 {
		return m.zoom
	}
	return m.window
}

// zoomLanes selects the next shorter or longer period.
func (m *Model) zoomLanes(longer bool) scene.Action {
	now := m.Window()
	all := []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour, day, 7 * day, 30 * day}
	i, found := slices.BinarySearch(all, now)
	switch {
	case !longer:
		i--
	case found:
		i++
	}
	switch {
	case i < 0:
		return scene.Say{Role: kit.Quiet, Text: "The shortest lane shows " + strconv.Itoa(int(now/time.Minute)) + " min."}
	case i == len(all):
		return scene.Say{Role: kit.Quiet, Text: "The longest lane shows 30 days."}
	}
	m.zoom = all[i]
	return nil
}

// windowText formats a period in minutes, hours or days: 15 MIN, 24 H, 7 D.
func windowText(w time.Duration) string {
	switch {
	case w >= 2*day:
		return strconv.Itoa(int(w/day)) + " D"
	case w >= time.Hour:
		return strconv.Itoa(int(w/time.Hour)) + " H"
	}
	return strconv.Itoa(max(1, int(w/time.Minute))) + " MIN"
}
