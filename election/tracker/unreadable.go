package tracker

import (
	"slices"
	"time"

	"electop/election"
)

// manyUnreadable is the number of elections that become unreadable, or readable, in one read from which one event
// reports all of them: a lost permission must not displace all other recent events.
const manyUnreadable = 10

// hides reports whether a key is missing in a response because the token may not
// read it. An unaddressable key cannot be verified.
func (r *rangeRead) hides(e *election.Election) bool {
	if e.Unaddressable {
		return r.Filtered
	}
	_, hidden := slices.BinarySearch(r.Hidden, e.Key())
	return hidden
}

// shows reports whether the response contains the election's key.
func (r *rangeRead) shows(e *election.Election) bool {
	_, found := slices.BinarySearchFunc(r.Pairs, e, func(p election.Pair, e *election.Election) int {
		if p.Key == e.Key() && !e.Unaddressable {
			return 0
		}
		return election.ComparePairs(p, e.Pair)
	})
	return found
}

// announce emits one event for all elections of a range if the token lost or
// regained the permission to read each of them and they are many.
func (t *Tracker) announce(r *rangeRead) {
	if len(r.Hidden) > 0 {
		r.lost = t.allTurn(r, election.Unreadable, func(e *election.Election) bool { return !e.Unreadable }, r.hides)
	}
	if t.unreadable > 0 {
		r.regained = t.allTurn(r, election.Readable, func(e *election.Election) bool { return e.Unreadable }, r.shows)
	}
}

// allTurn emits the event if all elections that can change do so.
func (t *Tracker) allTurn(r *rangeRead, kind election.EventType, may, turns func(*election.Election) bool) bool {
	var n uint64
	for _, e := range r.known {
		if !e.Exists || !may(e) {
			continue
		}
		if !turns(e) {
			return false
		}
		n++
	}
	if n < manyUnreadable || r.Range != election.PrefixRange(r.Range.From) {
		return false
	}
	t.emit(election.Event{Time: r.At, Type: kind, Prefix: r.Range.From, Count: n})
	return true
}

// foldHidden marks an election as unreadable and keeps its last state.
func (t *Tracker) foldHidden(e *election.Election, r *rangeRead) *election.Election {
	if e.Unreadable {
		return e
	}
	c := t.changeOf(e, r)
	c.e.Unreadable = true
	c.turn(election.Unreadable, r.lost)
	t.unreadable++
	return c.e
}

// readable records that the token can read the key again.
func (c *change) readable(announced bool) {
	c.e.Unreadable = false
	c.turn(election.Readable, announced)
	c.t.unreadable--
}

// turn records the event; if one event was emitted for all elections, only in the list of this one.
func (c *change) turn(kind election.EventType, announced bool) {
	if !announced {
		c.record(election.Event{Type: kind})
		return
	}
	c.e.Events = appendKept(c.e.Events, c.describe(election.Event{Type: kind}), c.t.keep)
}

// unreadableSince returns when the election became unreadable.
func unreadableSince(e *election.Election) time.Time {
	for i := len(e.Events) - 1; i >= 0; i-- {
		if e.Events[i].Type == election.Unreadable {
			return e.Events[i].Time
		}
	}
	return time.Time{}
}
