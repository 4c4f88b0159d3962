package board

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"electop/election"
	"electop/ui/internal/scene"
)

// SortKey is what the table is sorted by.
type SortKey uint8

const (
	ByElection SortKey = iota
	ByState
	byLeader
	byNode
	ByFor
	byTerm
	byChecks
	ByChanges
	SortKeyCount
)

// Sorting is a sort key and its direction. Each key begins with the direction
// that shows the trouble first.
type Sorting struct {
	Key     SortKey
	Reverse bool
}

func (k SortKey) Word() string {
	return [...]string{"election", "state", "leader", "node", "for", "term", "checks", "changes"}[k]
}

// descending reports keys whose natural order is the greatest first.
func (k SortKey) descending() bool { return k == byTerm || k == byChecks || k == ByChanges }

// up reports whether the column is drawn as ascending.
func (s Sorting) up() bool { return s.Key.descending() == s.Reverse }

// Column is the column that carries the sort's marker.
func (k SortKey) Column() ColumnID {
	return [...]ColumnID{
		colElection, colElection, colLeader, colNode, colFor, colTerm, colChecks, colChanges,
	}[k]
}

func SortKeyNamed(word string) (SortKey, bool) {
	for k := range SortKeyCount {
		if word != "" && strings.HasPrefix(k.Word(), word) {
			return k, true
		}
	}
	return 0, false
}

// ranked is an election with what it is sorted by.
type ranked struct {
	e    *election.Election
	num  int64
	text string
}

// SortElections orders the elections. Equal ones stay in the order of their
// names, so that a table never shuffles without a reason.
func SortElections(es []*election.Election, s Sorting, snap *election.Snapshot, asOf time.Time) {
	if !slices.IsSortedFunc(es, ByName) {
		slices.SortFunc(es, ByName)
	}
	if s.Key == ByElection {
		if s.Reverse {
			slices.Reverse(es)
		}
		return
	}
	list := make([]ranked, len(es))
	for i, e := range es {
		list[i] = Rank(e, s.Key, snap, asOf)
	}
	if slices.IsSortedFunc(list, s.Compare) {
		return
	}
	slices.SortStableFunc(list, s.Compare)
	for i := range list {
		es[i] = list[i].e
	}
}

// ByName orders any two elections: no two are equal, because their keys differ.
func ByName(a, b *election.Election) int {
	if c := strings.Compare(a.Name, b.Name); c != 0 {
		return c
	}
	return election.Compare(a, b)
}

// Compare orders elections by what they are sorted by, and by nothing else.
func (s Sorting) Compare(a, b ranked) int {
	c := cmp.Compare(a.num, b.num)
	if c == 0 {
		c = strings.Compare(a.text, b.text)
	}
	if s.Key.descending() != s.Reverse {
		return -c
	}
	return c
}

func Rank(e *election.Election, k SortKey, snap *election.Snapshot, asOf time.Time) ranked {
	r := ranked{e: e}
	switch k {
	case ByState:
		r.num = scene.Trouble(e, snap, asOf)
	case byLeader:
		r.text = e.Leader
	case byNode:
		if e.Session != nil {
			r.text = e.Session.Node
		}
	case ByFor:
		since := e.Since
		if e.State(asOf) != election.Led {
			since = e.VacantSince
		}
		r.num = int64(asOf.Sub(since))
	case byTerm:
		r.num = int64(min(e.Term, 1<<62))
	case byChecks:
		r.num = scene.TallyChecks(e.Session, snap.Checks).Worst()
	case ByChanges:
		r.num = int64(e.Changes(asOf, scene.ChangesWindow))
	default:
		r.text = e.Name
	}
	return r
}
