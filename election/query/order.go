package query

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

// OrderKey is the property by which elections are sorted.
type OrderKey uint8

// The properties.
const (
	ByElection OrderKey = iota
	ByProblems
	ByState
	ByLeader
	ByNode
	ByFor
	ByTerm
	ByChecks
	ByChanges
)

// OrderKeys returns the names of the properties, in the order of their values.
func OrderKeys() []string {
	return []string{"election", "problems", "state", "leader", "node", "for", "term", "checks", "changes"}
}

func (k OrderKey) String() string { return OrderKeys()[k] }

// Order is a property and a direction.
type Order struct {
	Key     OrderKey
	Reverse bool
}

// Facts contains the data, in addition to the elections, that an order depends on.
type Facts struct {
	At     time.Time
	Checks func(e *election.Election) map[string]election.NodeChecks
}

// reverseWord after a property reverses the order.
const reverseWord = "reverse"

// ParseOrder parses a property or the beginning of its name, optionally followed by "reverse".
func ParseOrder(text string) (Order, error) {
	if i, reverse, ok := ParseSort(text, OrderKeys()); ok {
		return Order{OrderKey(i), reverse}, nil //nolint:gosec // the list of keys is short
	}
	return Order{}, fmt.Errorf("unknown order %q: use one of %s, optionally followed by reverse", sanitize.Line(text, shownText), strings.Join(OrderKeys(), ", "))
}

// ParseSort returns the index of the key whose name begins with the first word of a text. A second word "reverse", or its
// beginning, reverses the order.
func ParseSort(text string, keys []string) (key int, reverse, ok bool) {
	words := strings.Fields(strings.ToLower(text))
	reverse = len(words) == 2 && strings.HasPrefix(reverseWord, words[1])
	if len(words) != 1 && !reverse {
		return 0, false, false
	}
	key = slices.IndexFunc(keys, func(name string) bool { return strings.HasPrefix(name, words[0]) })
	return key, reverse, key >= 0
}

// String returns text that ParseOrder accepts.
func (o Order) String() string {
	if o.Reverse {
		return o.Key.String() + " " + reverseWord
	}
	return o.Key.String()
}

// Up reports whether the smallest value comes first. The default order of numbers is largest first.
func (o Order) Up() bool {
	return (o.Key == ByTerm || o.Key == ByChecks || o.Key == ByChanges) == o.Reverse
}

// ranked is an election with its sort value.
type ranked struct {
	e    *election.Election
	num  int64
	text string
}

// Sort sorts elections. It sorts equal elections by name, then by key, so that the order does not change between calls.
func (o Order) Sort(es []*election.Election, facts Facts) {
	list := make([]ranked, len(es))
	for i, e := range es {
		list[i] = facts.rank(e, o.Key)
	}
	slices.SortFunc(list, func(a, b ranked) int {
		c := cmp.Or(cmp.Compare(a.num, b.num), strings.Compare(a.text, b.text))
		switch {
		case c == 0:
			return cmp.Or(strings.Compare(a.e.Name, b.e.Name), election.Compare(a.e, b.e))
		case o.Up():
			return c
		}
		return -c
	})
	for i := range list {
		es[i] = list[i].e
	}
}

func (f Facts) rank(e *election.Election, k OrderKey) ranked {
	r := ranked{e: e}
	switch k {
	case ByProblems:
		r.num = f.ProblemRank(e)
	case ByState:
		r.num = int64(slices.Index(states(Elections), dashed(stateOf(e, f.At))))
	case ByLeader:
		r.text = e.Leader
	case ByNode:
		if e.Pair.Held() {
			r.text = e.Node()
		}
	case ByFor:
		since := e.Since
		if e.State(f.At) != election.Led {
			since = e.VacantSince
		}
		r.num = int64(f.At.Sub(since))
	case ByTerm:
		r.num = int64(min(e.Term, 1<<62))
	case ByChecks:
		// Until is ignored: the order would change continually, because the checks of rows outside the screen become outdated.
		t := insight.TallyChecks(e.Session, f.checks(e))
		r.num = int64(t.Critical)<<32 + int64(t.Warning)<<16 + int64(t.Unknown)
	case ByChanges:
		r.num = int64(e.Changes(f.At, ChangesWindow))
	default:
		r.text = e.Name
	}
	return r
}

// NoProblem is the rank of an election without a problem.
const NoProblem = 7

// ProblemRank returns the urgency of an election; a lower rank is more urgent.
func (f Facts) ProblemRank(e *election.Election) int64 {
	if e.Unreadable {
		return 3
	}
	switch e.State(f.At) {
	case election.Vacant:
		if e.Unsearched { // possibly idle
			return NoProblem
		}
		return 0
	case election.InLockDelay:
		return 2
	case election.OfSemaphore, election.Idle:
		return NoProblem
	case election.Led:
	}
	checks := f.checks(e) // regardless of when they stopped being current, as in [insight.Tally.Worst]
	t := insight.TallyChecks(e.Session, checks)
	switch {
	case insight.FailureOf(e, checks) != nil:
		return 1
	case t.Critical > 0:
		return 4
	case e.Overwritten():
		return 5
	case t.Warning > 0:
		return 6
	}
	return NoProblem
}

// checks returns the health checks of the election's datacenter, or nil if they are unknown.
func (f Facts) checks(e *election.Election) map[string]election.NodeChecks {
	if f.Checks == nil {
		return nil
	}
	return f.Checks(e)
}
