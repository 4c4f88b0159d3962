package ui

import (
	"time"

	"electop/election"
)

// refresh makes the order anew from a snapshot. The cursor stays on its
// election; when that is gone, it goes to the one that took its place.
func (t *table) refresh(snap *election.Snapshot, asOf time.Time) {
	if snap == nil {
		return
	}
	t.order = t.order[:0]
	for _, e := range snap.Elections {
		if t.shows(e, asOf) {
			t.order = append(t.order, e)
		}
	}
	clear(t.order[len(t.order):cap(t.order)]) // they would keep old elections alive
	sortElections(t.order, t.sort, snap, asOf)
	t.vacant = t.vacant[:0]
	for i, e := range t.order {
		if leaderless(e) {
			t.vacant = append(t.vacant, i)
		}
	}
	t.forgetMarks(snap)
	t.relocate()
}

func (t *table) shows(e *election.Election, asOf time.Time) bool { return t.filter.Match(e, asOf) }

// leaderless reports elections that are vacant, with or without a lock-delay.
func leaderless(e *election.Election) bool {
	return !e.Unreadable && (!e.Exists || !e.Pair.Held()) && !e.IsSemaphore()
}

func (t *table) forgetMarks(snap *election.Snapshot) {
	for key := range t.marks {
		if snap.Find(key) == nil {
			delete(t.marks, key)
		}
	}
}

// relocate finds the cursor's election in a new order.
func (t *table) relocate() {
	for i, e := range t.order {
		if e.ID() == t.cursor {
			t.index = i
			return
		}
	}
	t.moveTo(t.index)
}

// measure takes over how wide the content is. Lanes reach no less far back than
// they did.
func (t *table) measure(c *census, asOf time.Time) {
	seen := time.Duration(0)
	if !c.earliest.IsZero() {
		seen = asOf.Sub(c.earliest)
	}
	t.widths = extent{
		name: c.name, leader: c.leader, address: c.address, node: c.node, term: c.term,
		window: max(t.widths.window, laneWindow(seen)),
	}
}
