package board

import (
	"time"

	"electop/election"
)

// Refresh makes the order anew from a snapshot. The cursor stays on its
// election; when that is gone, it goes to the one that took its place.
func (t *Model) Refresh(snap *election.Snapshot, asOf time.Time) {
	if snap == nil {
		return
	}
	t.Order = t.Order[:0]
	for _, e := range snap.Elections {
		if t.Shows(e, asOf) {
			t.Order = append(t.Order, e)
		}
	}
	clear(t.Order[len(t.Order):cap(t.Order)]) // they would keep old elections alive
	SortElections(t.Order, t.Sort, snap, asOf)
	t.vacant = t.vacant[:0]
	for i, e := range t.Order {
		if leaderless(e) {
			t.vacant = append(t.vacant, i)
		}
	}
	t.forgetMarks(snap)
	t.Relocate()
}

func (t *Model) Shows(e *election.Election, asOf time.Time) bool { return t.Filter.Match(e, asOf) }

// leaderless reports elections that are vacant, with or without a lock-delay.
func leaderless(e *election.Election) bool {
	return !e.Unreadable && (!e.Exists || !e.Pair.Held()) && !e.IsSemaphore()
}

func (t *Model) forgetMarks(snap *election.Snapshot) {
	for key := range t.Marks {
		if snap.Find(key) == nil {
			delete(t.Marks, key)
		}
	}
}

// Relocate finds the cursor's election in a new order.
func (t *Model) Relocate() {
	for i, e := range t.Order {
		if e.ID() == t.Cursor {
			t.Index = i
			return
		}
	}
	t.MoveTo(t.Index)
}

// Measure takes over how wide the content is. Lanes reach no less far back than
// they did.
func (t *Model) Measure(c *Census, asOf time.Time) {
	seen := time.Duration(0)
	if !c.earliest.IsZero() {
		seen = asOf.Sub(c.earliest)
	}
	t.Widths = Extent{
		Name: c.name, Leader: c.leader, Address: c.address, Node: c.node, Term: c.term,
		Window: max(t.Widths.Window, laneWindow(seen)),
	}
}
