package tracker

import (
	"slices"
	"time"

	"electop/election"
)

// If at least manyUnreadable elections of a range become unreadable or readable in one read, one event reports all of
// them. Separate events would displace all other recent events.
const manyUnreadable = 10

// hides reports whether the response omits a key that the token has no permission to read.
func (r *rangeRead) hides(e *election.Election) bool {
	_, hidden := slices.BinarySearch(r.Hidden, e.Key())
	return hidden
}

// shows reports whether the response contains the election's key.
func (r *rangeRead) shows(e *election.Election) bool {
	_, found := slices.BinarySearchFunc(r.Pairs, e.Pair, election.ComparePairs)
	return found
}

// announce emits one event for a range with many elections if the token lost, or regained, the permission to read all
// of them.
func (t *Tracker) announce(r *rangeRead) {
	if len(r.Hidden) > 0 {
		r.lost = t.emitForAll(r, election.Unreadable, func(e *election.Election) bool { return !e.Unreadable }, r.hides)
	}
	if t.unreadable > 0 {
		r.regained = t.emitForAll(r, election.Readable, func(e *election.Election) bool { return e.Unreadable }, r.shows)
	}
}

// emitForAll emits one event for a range if there are enough elections for which may returns true, and changes returns
// true for each of them.
func (t *Tracker) emitForAll(r *rangeRead, kind election.EventType, may, changes func(*election.Election) bool) bool {
	var n uint64
	for _, e := range r.known {
		if !e.Exists || !may(e) {
			continue
		}
		if !changes(e) {
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
	c.recordPermission(election.Unreadable, r.lost)
	t.unreadable++
	return c.e
}

// readable records that the token can read the key again.
func (c *change) readable(announced bool) {
	c.e.Unreadable = false
	c.recordPermission(election.Readable, announced)
	c.t.unreadable--
}

// recordPermission records an event. If announced is set, an event for all elections was already emitted, and this
// event is only appended to the election's list.
func (c *change) recordPermission(kind election.EventType, announced bool) {
	if !announced {
		c.record(election.Event{Type: kind})
		return
	}
	c.e.Events = appendKept(c.e.Events, c.describe(election.Event{Type: kind}), c.t.keep)
}

// unreadableSince returns the time at which the election became unreadable.
func unreadableSince(e *election.Election) time.Time {
	for i := len(e.Events) - 1; i >= 0; i-- {
		if e.Events[i].Type == election.Unreadable {
			return e.Events[i].Time
		}
	}
	return time.Time{}
}
