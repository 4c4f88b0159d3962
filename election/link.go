package election

import (
	"maps"
	"slices"
	"time"
)

func (t *Tracker) linkLost(o LinkLost) {
	o.At, o.RetryAt = wall(o.At), wall(o.RetryAt)
	t.links[o.Source] = o
	if t.conn.State != Lost {
		t.conn.State, t.conn.Since = Lost, o.At
		t.seenUntil = t.conn.LastContact
		t.emit(Event{Time: o.At, Type: ConnectionLost, Error: o.Error})
	}
	t.describeLoss()
}

func (t *Tracker) linkUp(o LinkUp) {
	o.At = wall(o.At)
	delete(t.links, o.Source)
	if o.Latency > 0 {
		t.conn.Latency = o.Latency
	}
	if len(t.links) > 0 {
		// One answer says nothing about what the failing queries would tell.
		t.describeLoss()
		return
	}
	if o.At.After(t.conn.LastContact) {
		t.conn.LastContact = o.At
	}
	if t.conn.State == Lost {
		t.emit(Event{Time: o.At, Type: ConnectionRestored})
	}
	if t.conn.State != Live {
		t.conn.State, t.conn.Since, t.conn.Error, t.conn.RetryAt, t.conn.Refused = Live, o.At, "", time.Time{}, false
	}
}

// describeLoss shows the oldest trouble that lasts, and the next attempt of any
// source.
func (t *Tracker) describeLoss() {
	t.conn.RetryAt = time.Time{}
	for i, source := range slices.Sorted(maps.Keys(t.links)) {
		lost := t.links[source]
		if i == 0 {
			t.conn.Error, t.conn.Refused = lost.Error, lost.Refused
		}
		if t.conn.RetryAt.IsZero() || lost.RetryAt.Before(t.conn.RetryAt) {
			t.conn.RetryAt = lost.RetryAt
		}
	}
}
