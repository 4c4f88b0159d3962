package ui

import (
	"cmp"
	"slices"
	"time"

	"electop/election"
)

// marked are the marked elections in the order of their keys, those that the
// filter hides apart.
func (t *table) marked(snap *election.Snapshot, asOf time.Time) (visible, hidden []*election.Election) {
	for key := range t.marks {
		switch e := snap.Find(key); {
		case e == nil:
		case t.shows(e, asOf):
			visible = append(visible, e)
		default:
			hidden = append(hidden, e)
		}
	}
	byKey := func(a, b *election.Election) int { return cmp.Compare(a.Key(), b.Key()) }
	slices.SortFunc(visible, byKey)
	slices.SortFunc(hidden, byKey)
	return visible, hidden
}

// chosen are the elections that an action is about: the marked ones or, only
// when there is no mark at all, the one under the cursor.
func (t *table) chosen(snap *election.Snapshot, asOf time.Time) (visible, hidden []*election.Election) {
	visible, hidden = t.marked(snap, asOf)
	if e := t.selected(); e != nil && len(visible)+len(hidden) == 0 {
		visible = append(visible, e)
	}
	return visible, hidden
}
