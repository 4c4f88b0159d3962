package query

import (
	"maps"
	"time"

	"electop/election"
	"electop/election/insight"
)

// adviceIndex holds the advice on all elections, because the dashboard evaluates its filter for each message and the
// advice on 10,000 elections takes longer than a frame. It is immutable.
type adviceIndex struct {
	all      []*election.Election
	sessions []*election.Session
	since    time.Time
	board    *insight.Board
	advice   map[*election.Election][]insight.Advice
}

// adviceAge is the lifetime of the advice on an unchanged election. The advice also depends on other elections and on
// the time.
const adviceAge = 3 * time.Second

// next returns an index for newer elections. It evaluates only changed elections, or all elections if the index is
// too old or nil.
func (x *adviceIndex) next(all []*election.Election, sessions []*election.Session, at time.Time) *adviceIndex {
	fresh := x != nil && !at.Before(x.since) && at.Sub(x.since) < adviceAge && same(x.sessions, sessions)
	if fresh && same(x.all, all) {
		return x
	}
	n := &adviceIndex{all: all, sessions: sessions, since: at}
	if fresh {
		n.since, n.board, n.advice = x.since, x.board, maps.Clone(x.advice)
	} else {
		n.board, n.advice = insight.NewBoard(all, sessions), make(map[*election.Election][]insight.Advice, len(all))
	}
	for _, e := range all {
		if _, found := n.advice[e]; !found {
			n.advice[e] = n.board.Advise(e, nil, at)
		}
	}
	return n
}

// of returns the advice on an election, which may belong to another snapshot.
func (x *adviceIndex) of(e *election.Election, at time.Time) []insight.Advice {
	if known, found := x.advice[e]; found {
		return known
	}
	return x.board.Advise(e, nil, at)
}

// same reports whether two slices share memory. Snapshots are immutable, so shared memory means equal content.
func same[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
