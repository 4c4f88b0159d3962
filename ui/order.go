package ui

import (
	"slices"
	"time"

	"electop/election"
)

// refresh makes the order anew from a snapshot. The cursor stays on its
// election; when that is gone, it goes to the one that took its place.
func (t *table) refresh(snap *election.Snapshot, asOf time.Time) {
	if snap == nil {
		return
	}
	t.made, t.until = asOf, time.Time{}
	t.order = t.order[:0]
	for _, e := range snap.Elections {
		t.expect(e, asOf)
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

// follow makes the order that of another snapshot, given what is new on it.
func (t *table) follow(n news, snap *election.Snapshot, asOf time.Time) {
	if !n.nothing() {
		t.measureAddresses(snap)
	}
	if !n.few || !t.holds(asOf) || n.checks && t.sort.readsChecks() {
		t.refresh(snap, asOf)
		return
	}
	for _, c := range n.changes {
		if !t.change(c, snap, asOf) {
			t.refresh(snap, asOf)
			return
		}
	}
	if len(n.changes) == 0 {
		return
	}
	t.made = asOf
	t.forgetMarks(snap)
	if e := t.selected(); e == nil || e.ID() != t.cursor {
		t.relocate()
	}
}

// holds reports that the order is the same at another moment, if nothing
// happened.
func (t *table) holds(asOf time.Time) bool {
	return !asOf.Before(t.made) && (t.until.IsZero() || asOf.Before(t.until))
}

// expect notes when an election will move in the order by itself.
func (t *table) expect(e *election.Election, asOf time.Time) {
	t.until = earlier(t.until, earlier(t.filter.until(e, asOf), t.sort.until(e, asOf)))
}

func (t *table) shows(e *election.Election, asOf time.Time) bool {
	return e != nil && (t.filter.empty() || t.filter.match(e, asOf))
}

// change puts one changed election into the order. It reports false when the
// order is not what it should be, which nothing can cause but an election that
// was changed in place.
func (t *table) change(c change, snap *election.Snapshot, asOf time.Time) bool {
	at := -1
	if t.shows(c.before, asOf) {
		i, found := t.find(c.before, snap, asOf)
		if !found || t.order[i] != c.before {
			return false
		}
		at = i
	}
	if c.after != nil {
		t.expect(c.after, asOf)
	}
	switch shows := t.shows(c.after, asOf); {
	case at < 0 && !shows:
	case !shows:
		t.remove(at)
	case at < 0:
		t.insert(c.after, snap, asOf)
	case t.sort.compare(rank(c.before, t.sort.key, snap, asOf), rank(c.after, t.sort.key, snap, asOf)) == 0:
		t.order[at] = c.after
		t.noteVacant(at, leaderless(c.after))
	default:
		t.remove(at)
		t.insert(c.after, snap, asOf)
	}
	return true
}

// find is where an election is in the order, or would be.
func (t *table) find(e *election.Election, snap *election.Snapshot, asOf time.Time) (int, bool) {
	return slices.BinarySearchFunc(t.order, rank(e, t.sort.key, snap, asOf), func(at *election.Election, wanted ranked) int {
		return t.sort.compare(rank(at, t.sort.key, snap, asOf), wanted)
	})
}

func (t *table) remove(i int) {
	t.order = slices.Delete(t.order, i, i+1)
	t.noteVacant(i, false)
	t.shiftVacant(i, -1)
	if i < t.index {
		t.index--
	}
}

func (t *table) insert(e *election.Election, snap *election.Snapshot, asOf time.Time) {
	i, _ := t.find(e, snap, asOf)
	t.order = slices.Insert(t.order, i, e)
	t.shiftVacant(i, 1)
	t.noteVacant(i, leaderless(e))
	if i <= t.index {
		t.index++
	}
}

// leaderless reports elections that are vacant, with or without a lock-delay.
func leaderless(e *election.Election) bool {
	return !e.Unreadable && (!e.Exists || !e.Pair.Held()) && !e.IsSemaphore()
}

// noteVacant notes whether the election in a row has a leader.
func (t *table) noteVacant(row int, vacant bool) {
	switch i, found := slices.BinarySearch(t.vacant, row); {
	case vacant && !found:
		t.vacant = slices.Insert(t.vacant, i, row)
	case !vacant && found:
		t.vacant = slices.Delete(t.vacant, i, i+1)
	}
}

// shiftVacant follows the rows from row on to where an insertion or a removal
// has moved them.
func (t *table) shiftVacant(row, by int) {
	i, _ := slices.BinarySearch(t.vacant, row)
	for ; i < len(t.vacant); i++ {
		t.vacant[i] += by
	}
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
	t.widths.name, t.widths.leader = c.names.most(), c.leaders.most()
	t.widths.node, t.widths.term = c.nodes.most(), c.terms.most()
	seen := time.Duration(0)
	if !c.earliest.IsZero() {
		seen = asOf.Sub(c.earliest)
	}
	t.widths.window = max(t.widths.window, laneWindow(seen))
}

// measureAddresses finds out how wide addresses are. They are decoded from JSON,
// so only those of the first hundred elections are.
func (t *table) measureAddresses(snap *election.Snapshot) {
	const sample = 100
	t.widths.address = 0
	for _, e := range snap.Elections[:min(sample, len(snap.Elections))] {
		t.widths.address = max(t.widths.address, textWidth(valueAddress(e)))
	}
}
