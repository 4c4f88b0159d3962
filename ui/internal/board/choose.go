package board

import (
	"cmp"
	"slices"
	"time"

	"electop/election"
)

// Marked are the marked elections in the order of their keys, those that the
// filter hides apart.
func (t *Model) Marked(snap *election.Snapshot, asOf time.Time) (visible, hidden []*election.Election) {
	for key := range t.Marks {
		switch e := snap.Find(key); {
		case e == nil:
		case t.Shows(e, asOf):
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

// Chosen are the elections that an action is about: the marked ones or, only
// when there is no mark at all, the one under the cursor.
func (t *Model) Chosen(snap *election.Snapshot, asOf time.Time) (visible, hidden []*election.Election) {
	visible, hidden = t.Marked(snap, asOf)
	if e := t.Selected(); e != nil && len(visible)+len(hidden) == 0 {
		visible = append(visible, e)
	}
	return visible, hidden
}
