package tracker

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"electop/election"
)

func (t *Tracker) linkLost(o election.LinkLost) {
	o.At, o.RetryAt, o.Since = wall(o.At), wall(o.RetryAt), wall(o.Since)
	o.Since = cmp.Or(t.links[o.Source].Since, o.Since, t.conn.LastContact, o.At)
	t.links[o.Source] = o
	wasLost := t.conn.State == election.Lost
	t.judgeLinks(o.At)
	t.noteUnseen(o, wasLost)
}

// noteUnseen sets seenUntil when the connection or a source of keys fails. Changes after this time were not observed.
func (t *Tracker) noteUnseen(o election.LinkLost, wasLost bool) {
	lost := t.conn.State == election.Lost && !wasLost
	if !lost && o.Kind != election.PartKeys {
		return
	}
	if lost {
		t.seenUntil = t.conn.LastContact
	} else if !wasLost {
		t.seenUntil = o.Since
	}
	for _, link := range t.links {
		if link.Kind == election.PartKeys && link.Since.Before(t.seenUntil) {
			t.seenUntil = link.Since
		}
	}
}

func (t *Tracker) linkUp(o election.LinkUp) {
	o.At = wall(o.At)
	_, failed := t.links[o.Source]
	delete(t.links, o.Source)
	if o.Latency > 0 {
		t.conn.Latency = o.Latency
	}
	if failed || t.conn.State == election.Lost {
		t.judgeLinks(o.At)
	}
	if t.conn.State == election.Lost {
		return // a single response does not prove that the failing queries succeed again
	}
	t.conn.LastContact = election.Later(o.At, t.conn.LastContact)
	if t.conn.State == election.Connecting {
		t.conn.State, t.conn.Since = election.Live, o.At
	}
}

// judgeLinks determines whether the whole connection is lost or only some parts are stale.
func (t *Tracker) judgeLinks(at time.Time) {
	stale, causes := t.failing()
	switch lost := len(causes) > 0; {
	case lost && (t.conn.State != election.Lost || causes[0].Gap):
		t.conn.State, t.conn.Since = election.Lost, at
		t.emit(election.Event{Time: at, Type: election.ConnectionLost, Error: causes[0].Error})
	case !lost && t.conn.State == election.Lost:
		t.conn.State, t.conn.Since, t.conn.Error, t.conn.RetryAt, t.conn.Refused = election.Live, at, "", time.Time{}, false
		t.emit(election.Event{Time: at, Type: election.ConnectionRestored})
	}
	if t.conn.Stale = stale; len(causes) > 0 {
		earliest := slices.MinFunc(causes, func(a, b election.LinkLost) int { return a.RetryAt.Compare(b.RetryAt) })
		t.conn.Stale, t.conn.Error, t.conn.Refused, t.conn.RetryAt = nil, causes[0].Error, causes[0].Refused, earliest.RetryAt
	}
}

// failing returns the stale parts in order. causes contains the failures that show a lost connection: those of the
// connection itself, or those of every source of elections. It omits sources of elections whose first retry is in
// progress.
func (t *Tracker) failing() (stale, causes []election.LinkLost) {
	var keys, names election.RangeSet
	var whole, ofKeys []election.LinkLost
	for _, source := range slices.Sorted(maps.Keys(t.links)) {
		o := t.links[source]
		if o.Kind == election.PartWhole {
			whole = append(whole, o)
			continue
		}
		stale = append(stale, o)
		switch {
		case o.RetryAt.IsZero():
		case o.Kind == election.PartKeys:
			ofKeys = append(ofKeys, o)
			keys.Add(o.Range)
		case o.Kind == election.PartNames:
			names.Add(o.Range)
		}
	}
	slices.SortStableFunc(stale, func(a, b election.LinkLost) int { return strings.Compare(a.Range.From, b.Range.From) })
	if len(whole) > 0 {
		return stale, whole
	}
	covered := keys // the list of names also covers the ranges without elections
	for _, r := range names {
		covered.Add(r)
	}
	readable := func(p election.Pattern) bool { return !covered.Covers(p.Range()) }
	current := func(e *election.Election) bool { return e.Exists && !keys.Contains(e.Key()) }
	if slices.ContainsFunc(t.Patterns, readable) || slices.ContainsFunc(t.elections, current) {
		return stale, nil
	}
	return stale, ofKeys
}
