package query

import (
	"maps"
	"slices"
	"time"

	"electop/election"
	"electop/election/insight"
)

// adviceIndex holds the advice on all elections, because the dashboard evaluates its filter for each message and
// computing the advice on 10,000 elections takes longer than a frame. It is immutable.
type adviceIndex struct {
	all      []*election.Election
	sessions []*election.Session
	since    time.Time
	boards   map[string]*insight.Board // by datacenter
	advice   map[*election.Election][]insight.Finding
}

// adviceAge is the lifetime of the advice on an unchanged election. The advice also depends on other elections, on
// checks and on the time.
const adviceAge = 3 * time.Second

// next returns an index for newer versions of the elections. It evaluates only changed elections, or all elections if
// the index is nil or too old, or if the sessions have changed.
func (x *adviceIndex) next(all []*election.Election, sessions []*election.Session, facts Facts) *adviceIndex {
	at := facts.At
	fresh := x != nil && !at.Before(x.since) && at.Sub(x.since) < adviceAge && same(x.sessions, sessions)
	if fresh && same(x.all, all) {
		return x
	}
	n := &adviceIndex{all: all, sessions: sessions, since: at}
	if fresh {
		n.since, n.boards, n.advice = x.since, x.boards, maps.Clone(x.advice)
	} else {
		n.boards, n.advice = boardsOf(all, sessions, facts), make(map[*election.Election][]insight.Finding, len(all))
	}
	for _, e := range all {
		if _, found := n.advice[e]; !found {
			n.advice[e] = n.advise(e, at)
		}
	}
	return n
}

// of returns the advice on an election, which may belong to another snapshot.
func (x *adviceIndex) of(e *election.Election, at time.Time) []insight.Finding {
	if known, found := x.advice[e]; found {
		return known
	}
	return x.advise(e, at)
}

func (x *adviceIndex) advise(e *election.Election, at time.Time) []insight.Finding {
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

// same reports whether two slices share memory. Snapshots are immutable, so shared memory means equal content.
func same[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
