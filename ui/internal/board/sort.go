package board

import (
	"cmp"
	"slices"
	"strings"

	"electop/election"
	"electop/ui/internal/scene"
)

type sortKey uint8

const (
	byElection sortKey = iota
	byState
	byLeader
	byNode
	byFor
	byTerm
	byChecks
	byChanges
	sortKeyCount
)

// sorting is a sort key and its direction. The default direction shows problems first.
type sorting struct {
	key     sortKey
	reverse bool
}

func (k sortKey) word() string {
	return [...]string{"election", "state", "leader", "node", "for", "term", "checks", "changes"}[k]
}

// descending reports whether the default order is largest first.
func (k sortKey) descending() bool { return k == byTerm || k == byChecks || k == byChanges }

func (s sorting) up() bool { return s.key.descending() == s.reverse }

// column is the column with the sort marker.
func (k sortKey) column() columnID {
	return [...]columnID{
		colElection, colElection, colLeader, colNode, colFor, colTerm, colChecks, colChanges,
	}[k]
}

// ranked is an election and its precomputed sort value.
type ranked struct {
	e    *election.Election
	num  int64
	text string
}

// sortElections sorts elections. Elections with equal sort values are ordered by name, so that rows do not swap.
func sortElections(es []*election.Election, by sorting, s *scene.Scene) {
	if !slices.IsSortedFunc(es, byName) {
		slices.SortFunc(es, byName)
	}
	if by.key == byElection {
		if by.reverse {
			slices.Reverse(es)
		}
		return
	}
	list := make([]ranked, len(es))
	for i, e := range es {
		list[i] = rank(e, by.key, s)
	}
	if slices.IsSortedFunc(list, by.compare) {
		return
	}
	slices.SortStableFunc(list, by.compare)
	for i := range list {
		es[i] = list[i].e
	}
}

// byName is a total order: elections with equal names differ in their keys.
func byName(a, b *election.Election) int {
	if c := strings.Compare(a.Name, b.Name); c != 0 {
		return c
	}
	return election.Compare(a, b)
}

func (s sorting) compare(a, b ranked) int {
	c := cmp.Compare(a.num, b.num)
	if c == 0 {
		c = strings.Compare(a.text, b.text)
	}
	if s.key.descending() != s.reverse {
		return -c
	}
	return c
}

func rank(e *election.Election, k sortKey, s *scene.Scene) ranked {
	r := ranked{e: e}
	switch k {
	case byState:
		r.num = scene.ProblemRank(e, s.Shown, s.AsOf)
	case byLeader:
		r.text = e.Leader
	case byNode:
		if e.Pair.Held() {
			r.text = scene.NodeOf(e)
		}
	case byFor:
		since := e.Since
		if e.State(s.AsOf) != election.Led {
			since = e.VacantSince
		}
		r.num = int64(s.AsOf.Sub(since))
	case byTerm:
		r.num = int64(min(e.Term, 1<<62))
	case byChecks:
		r.num = scene.TallyChecks(e.Session, s.Shown.Checks).Worst()
	case byChanges:
		r.num = int64(e.Changes(s.AsOf, scene.ChangesWindow))
	default:
		r.text = e.Name
	}
	return r
}
