package query

import (
	"cmp"
	"time"

	"electop/election"
	"electop/election/insight"
)

// adviceAge is the lifetime of the advice on an unchanged election. The advice also depends on other elections, on
// checks and on the time.
const adviceAge = 3 * time.Second

// Advice returns a function that returns the advice on an election. The function remembers its results, because the
// dashboard evaluates its filter for each message; it is not safe for concurrent use. Elections are compared only within
// their datacenter. If there is only one datacenter, all sessions belong to it. See [Filter.On] for the arguments.
func Advice(all []*election.Election, sessions []*election.Session, facts Facts) func(*election.Election) []insight.Finding {
	elections := map[string][]*election.Election{}
	for _, e := range all {
		elections[e.Datacenter] = append(elections[e.Datacenter], e)
	}
	boards, known := make(map[string]*insight.Board, len(elections)), make(map[*election.Election][]insight.Finding, len(all))
	for name, es := range elections {
		own := sessions
		if len(elections) > 1 {
			own = election.Without(sessions, func(s *election.Session) bool { return s.Datacenter != name })
		}
		boards[name] = insight.NewBoard(es, own).WithChecks(facts.checks(es[0]))
	}
	return func(e *election.Election) []insight.Finding {
		advice, found := known[e]
		if !found {
			advice = cmp.Or(boards[e.Datacenter], insight.NewBoard(nil, nil)).Advise(e, nil, facts.At)
			known[e] = advice
		}
		return advice
	}
}
