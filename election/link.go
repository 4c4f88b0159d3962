package election

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// PartKind is what kind of data a source reads.
type PartKind string

// The kinds of data. Only keys that are stale make a board stale.
const (
	PartWhole    PartKind = ""         // everything: the link itself
	PartKeys     PartKind = "keys"     // the elections in a range
	PartNames    PartKind = "names"    // which keys exist in a range
	PartSessions PartKind = "sessions" // the list of all sessions
	PartChecks   PartKind = "checks"   // the health checks of a node
)

// Part is the part of the data that one source reads.
type Part struct {
	Kind  PartKind
	Range Range  // of keys and names
	Node  string // of checks
}

// StalePart is a part whose source does not respond while others do.
type StalePart struct {
	Part
	// Since is when it was last known to be current.
	Since time.Time
	Error string
	// RetryAt is when the next attempt is made; zero: one is under way.
	RetryAt time.Time
}

// StaleSince tells since when an election may differ from what is shown. It
// reports false while it is current.
func (s *Snapshot) StaleSince(key string) (since time.Time, stale bool) {
	if s.Connection.State == Lost {
		return s.Connection.LastContact, true
	}
	for _, p := range s.Connection.Stale {
		if p.Kind == PartKeys && p.Range.Contains(key) && (!stale || p.Since.Before(since)) {
			since, stale = p.Since, true
		}
	}
	return since, stale
}

// CountStale counts the elections in the parts that are stale.
func (s *Snapshot) CountStale() (n int) {
	at := func(key string) int {
		i, _ := slices.BinarySearchFunc(s.Elections, key, func(e *Election, key string) int { return strings.Compare(e.Key(), key) })
		return i
	}
	for _, r := range staleKeys(s.Connection.Stale).ranges {
		end := len(s.Elections)
		if r.To != "" {
			end = at(r.To)
		}
		n += end - at(r.From)
	}
	return n
}

func staleKeys(parts []StalePart) (keys rangeSet) {
	for _, p := range parts {
		if p.Kind == PartKeys {
			keys.add(p.Range)
		}
	}
	return keys
}

func (t *Tracker) linkLost(o LinkLost) {
	o.At, o.RetryAt, o.Since = wall(o.At), wall(o.RetryAt), wall(o.Since)
	switch before, failing := t.links[o.Source]; {
	case failing:
		o.Since = before.Since
	case o.Since.IsZero() && t.conn.LastContact.IsZero():
		o.Since = o.At
	case o.Since.IsZero():
		o.Since = t.conn.LastContact
	}
	t.links[o.Source] = o
	wasLost := t.conn.State == Lost
	t.judgeLinks(o.At)
	t.noteUnseen(o, wasLost)
}

// noteUnseen notes until when everything was observed that a failing source reads.
func (t *Tracker) noteUnseen(o LinkLost, wasLost bool) {
	lost := t.conn.State == Lost && !wasLost
	if !lost && o.Part.Kind != PartKeys {
		return
	}
	if lost {
		t.seenUntil = t.conn.LastContact
	} else if !wasLost {
		t.seenUntil = o.Since
	}
	for _, link := range t.links {
		if link.Part.Kind == PartKeys && link.Since.Before(t.seenUntil) {
			t.seenUntil = link.Since
		}
	}
}

func (t *Tracker) linkUp(o LinkUp) {
	o.At = wall(o.At)
	_, failed := t.links[o.Source]
	delete(t.links, o.Source)
	if o.Latency > 0 {
		t.conn.Latency = o.Latency
	}
	if failed || t.conn.State == Lost {
		t.judgeLinks(o.At)
	}
	if t.conn.State == Lost {
		return // one response says nothing about what the failing queries would tell
	}
	if o.At.After(t.conn.LastContact) {
		t.conn.LastContact = o.At
	}
	if t.conn.State == Connecting {
		t.conn.State, t.conn.Since = Live, o.At
	}
}

// judgeLinks decides whether the connection is lost or only parts are stale.
func (t *Tracker) judgeLinks(at time.Time) {
	stale, causes := t.failing()
	switch lost := len(causes) > 0; {
	case lost && t.conn.State != Lost:
		t.conn.State, t.conn.Since = Lost, at
		t.emit(Event{Time: at, Type: ConnectionLost, Error: causes[0].Error})
	case !lost && t.conn.State == Lost:
		t.conn.State, t.conn.Since, t.conn.Error, t.conn.RetryAt, t.conn.Refused = Live, at, "", time.Time{}, false
		t.emit(Event{Time: at, Type: ConnectionRestored})
	}
	if t.conn.Stale = stale; len(causes) > 0 {
		t.conn.Stale = nil
		t.describeLoss(causes)
	}
}

// failing lists the stale parts in order, and what makes the connection lost: the
// link itself, or else every source of elections. One that retries for the first
// time makes its part stale, and no loss.
func (t *Tracker) failing() (stale []StalePart, causes []LinkLost) {
	var keys, names rangeSet
	var whole, ofKeys []LinkLost
	for _, source := range slices.Sorted(maps.Keys(t.links)) {
		o := t.links[source]
		if o.Part.Kind == PartWhole {
			whole = append(whole, o)
			continue
		}
		stale = append(stale, StalePart{Part: o.Part, Since: o.Since, Error: o.Error, RetryAt: o.RetryAt})
		switch {
		case o.RetryAt.IsZero():
		case o.Part.Kind == PartKeys:
			ofKeys = append(ofKeys, o)
			keys.add(o.Part.Range)
		case o.Part.Kind == PartNames:
			names.add(o.Part.Range)
		}
	}
	slices.SortStableFunc(stale, func(a, b StalePart) int { return strings.Compare(a.Range.From, b.Range.From) })
	switch {
	case len(whole) > 0:
		return stale, whole
	case len(ofKeys) > 0 && !slices.ContainsFunc(t.patterns, func(p Pattern) bool { return t.readable(p.watched(), keys, names) }):
		return stale, ofKeys
	}
	return stale, nil
}

// readable reports that a source for a range responds: one for all of it, or, where
// ranges leave gaps that have no election, the list of keys or a range among them.
func (t *Tracker) readable(r Range, keys, names rangeSet) bool {
	if keys.covers(r) {
		return false
	}
	return !names.covers(r) || t.existOutside(r, keys)
}

// existOutside reports an election in a range that is not in the set.
func (t *Tracker) existOutside(r Range, keys rangeSet) bool {
	sorted := keys.ranges
	for _, e := range t.elections[t.search(r.From):] {
		key := e.Key()
		if !r.Contains(key) {
			return false
		}
		for len(sorted) > 0 && sorted[0].To != "" && sorted[0].To <= key {
			sorted = sorted[1:]
		}
		if e.Exists && (len(sorted) == 0 || !sorted[0].Contains(key)) {
			return true
		}
	}
	return false
}

// describeLoss shows the first of several causes, and the next attempt of any.
func (t *Tracker) describeLoss(causes []LinkLost) {
	t.conn.Error, t.conn.Refused, t.conn.RetryAt = causes[0].Error, causes[0].Refused, causes[0].RetryAt
	for _, lost := range causes[1:] {
		if lost.RetryAt.Before(t.conn.RetryAt) {
			t.conn.RetryAt = lost.RetryAt
		}
	}
}
