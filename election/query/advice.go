package query

import (
	"slices"
	"time"

	"electop/election"
	"electop/election/insight"
)

// adviceIndex holds the advice on all elections, because the dashboard evaluates its filter for each message and
// computing the advice on 10,000 elections takes longer than a frame. It is immutable.
type adviceIndex struct {
	sessions []*election.Session
	since    time.Time
	boards   map[string]*insight.Board // by datacenter
	advice   map[*election.Election][]insight.Finding
}

// adviceAge is the lifetime of the advice on an unchanged election. The advice also depends on other elections, on
// checks and on the time.
const adviceAge = 3 * time.Second

// next returns an index that is not older than adviceAge.
func (x *adviceIndex) next(all []*election.Election, sessions []*election.Session, facts Facts) *adviceIndex {
	if x != nil && facts.At.Sub(x.since).Abs() < adviceAge && same(x.sessions, sessions) {
		return x
	}
	n := &adviceIndex{sessions, facts.At, boardsOf(all, sessions, facts), make(map[*election.Election][]insight.Finding, len(all))}
	for _, e := range all {
		n.advice[e] = n.of(e, facts.At)
	}
	return n
}

// of returns the advice on an election, which may be newer than the index.
func (x *adviceIndex) of(e *election.Election, at time.Time) []insight.Finding {
	if known, found := x.advice[e]; found {
		return known
	}
	board := x.boards[e.Datacenter]
	if board == nil {
		board = insight.NewBoard(nil, nil)
	}
	return board.Advise(e, nil, at)
}

// boardsOf returns one board per datacenter, so that elections are compared only within their datacenter. If there is
// only one datacenter, all sessions belong to it.
func boardsOf(all []*election.Election, sessions []*election.Session, facts Facts) map[string]*insight.Board {
	elections := map[string][]*election.Election{}
	for _, e := range all {
		elections[e.Datacenter] = append(elections[e.Datacenter], e)
	}
	boards := make(map[string]*insight.Board, len(elections))
	for name, es := range elections {
		own := sessions
		if len(elections) > 1 {
			own = slices.DeleteFunc(slices.Clone(sessions), func(s *election.Session) bool { return s.Datacenter != name })
		}
		boards[name] = insight.NewBoard(es, own).WithChecks(facts.checks(es[0]))
	}
	return boards
}

// Advice returns a function that returns the advice on an election. See [Filter.On] for the arguments.
func Advice(all []*election.Election, sessions []*election.Session, facts Facts) func(*election.Election) []insight.Finding {
	index := (*adviceIndex)(nil).next(all, sessions, facts)
	return func(e *election.Election) []insight.Finding { return index.of(e, facts.At) }
}

// same reports whether two slices share memory. Snapshots are immutable, so shared memory means equal content.
func same[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
