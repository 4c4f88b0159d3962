package election

import (
	"maps"
	"slices"
	"time"
)

func (t *Tracker) linkLost(o LinkLost) {
	t.links[o.Source] = o
	if t.conn.State != Lost {
		t.conn.State, t.conn.Since = Lost, o.At
		t.emit(Event{Time: o.At, Type: ConnectionLost, Error: o.Error})
	}
	t.describeLoss()
}

func (t *Tracker) linkUp(o LinkUp) {
	delete(t.links, o.Source)
	if o.At.After(t.conn.LastContact) {
		t.conn.LastContact = o.At
	}
	if o.Latency > 0 {
		t.conn.Latency = o.Latency
	}
	if len(t.links) > 0 {
		t.describeLoss()
		return
	}
	if t.conn.State == Lost {
		t.emit(Event{Time: o.At, Type: ConnectionRestored})
	}
	if t.conn.State != Live {
		t.conn.State, t.conn.Since, t.conn.Error, t.conn.RetryAt = Live, o.At, "", time.Time{}
	}
}

// describeLoss shows the oldest trouble that lasts, and the next attempt of any
// source.
func (t *Tracker) describeLoss() {
	t.conn.RetryAt = time.Time{}
	for i, source := range slices.Sorted(maps.Keys(t.links)) {
		lost := t.links[source]
		if i == 0 {
			t.conn.Error = lost.Error
		}
		if t.conn.RetryAt.IsZero() || lost.RetryAt.Before(t.conn.RetryAt) {
			t.conn.RetryAt = lost.RetryAt
		}
	}
}
