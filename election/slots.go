package election

import (
	"encoding/json"
	"slices"
)

// maxSlots is how many holders of one semaphore events tell of. A value may name
// ten thousand; Consul's own semaphores have a few.
const maxSlots = 256

// semaphore reports that the key has holders and no leader: it has the flags of a
// semaphore, and no session holds the key itself.
func (p *Pair) semaphore() bool { return p.Flags == SemaphoreFlag && !p.Held() }

// Slots are what a semaphore's key says of its slots.
type Slots struct {
	Limit int
	// Holders are the ids of the sessions that hold a slot, sorted.
	Holders []string
}

// Slots reads a semaphore's key. ok is false for any other key, and for one whose
// value is not a semaphore's.
func (p *Pair) Slots() (s Slots, ok bool) {
	var value semaphoreValue
	if !p.semaphore() || json.Unmarshal(p.Value, &value) != nil {
		return Slots{}, false
	}
	s.Limit = value.Limit
	for id, holds := range value.Holders {
		if holds {
			s.Holders = append(s.Holders, id)
		}
	}
	slices.Sort(s.Holders)
	return s, true
}

// foundSemaphore records a semaphore that was there when first looked at: an
// event for each holder, or one that names none.
func (c *change) foundSemaphore() {
	slots, _ := c.e.Pair.Slots()
	for _, id := range bounded(slots.Holders) {
		c.slot(Entered, id, slots, true)
	}
	if len(slots.Holders) == 0 {
		c.slot(Left, "", slots, true)
	}
}

// exchange records which holders a semaphore lost and got.
func (c *change) exchange(old, next *Pair) {
	before, _ := old.Slots()
	after, _ := next.Slots()
	for _, id := range bounded(without(before.Holders, after.Holders)) {
		c.slot(Left, id, after, false)
	}
	for _, id := range bounded(without(after.Holders, before.Holders)) {
		c.slot(Entered, id, after, false)
	}
}

// slot records that one holder entered or left. slots are those after the change.
func (c *change) slot(kind EventType, id string, slots Slots, initial bool) {
	e := Event{Type: kind, Session: Line(id, labelLength), Holders: len(slots.Holders), Limit: slots.Limit, Initial: initial}
	if s := c.t.sessions[id]; s != nil {
		e.Leader, e.Node = Line(s.Name, labelLength), s.Node
	}
	c.record(e)
}

// without lists what is in all and not in others; both are sorted.
func without(all, others []string) []string {
	var rest []string
	for _, id := range all {
		if _, found := slices.BinarySearch(others, id); !found {
			rest = append(rest, id)
		}
	}
	return rest
}

func bounded(ids []string) []string { return ids[:min(len(ids), maxSlots)] }
