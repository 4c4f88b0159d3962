package tracker

import (
	"slices"

	"electop/election"
)

// maxSlots is the maximum number of holders of one semaphore for which the tracker emits events. A value may list
// 10,000 holders; Consul's own clients list only a few.
const maxSlots = 256

// exchange emits events for the holders that left and the holders that entered.
func (c *change) exchange(old, next *election.Pair, initial bool) {
	before, _ := old.Slots()
	after, _ := next.Slots()
	for _, id := range bounded(without(before.Holders, after.Holders)) {
		c.slot(election.Left, id, after, initial)
	}
	for _, id := range bounded(without(after.Holders, before.Holders)) {
		c.slot(election.Entered, id, after, initial)
	}
}

// slot emits an event about one holder that entered or left. slots is the state after the change.
func (c *change) slot(kind election.EventType, id string, slots election.Slots, initial bool) {
	e := election.Event{Type: kind, Session: election.Label(id), Holders: len(slots.Holders), Limit: slots.Limit, Initial: initial}
	if s := c.t.sessions[id]; s != nil {
		e.Leader, e.Node = election.Label(s.Name), s.Node
	}
	c.record(e)
}

// without returns the IDs in all that are not in others, which are sorted.
func without(all, others []string) []string {
	return election.Without(all, func(id string) bool {
		_, found := slices.BinarySearch(others, id)
		return found
	})
}

func bounded(ids []string) []string { return ids[:min(len(ids), maxSlots)] }
