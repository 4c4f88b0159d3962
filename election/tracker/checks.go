package tracker

import (
	"maps"
	"time"

	"electop/election"
)

func (t *Tracker) checksRead(o election.ChecksRead) {
	t.ownChecks()
	at := wall(o.At)
	read := election.NodeChecks{At: at, Checks: o.Checks, Partial: o.Partial}
	if o.Err != "" {
		read = t.checks[o.Node].Outdated(t.currentUntil(t.checks[o.Node], at))
		read.Err = o.Err
	}
	t.checks[o.Node] = read
	t.pruneChecks()
}

// checksUnwatched keeps the last checks with their age, but no error: the next read
// may succeed.
func (t *Tracker) checksUnwatched(node string, at time.Time) {
	known, read := t.checks[node]
	if !read {
		return
	}
	t.ownChecks()
	if known.At.IsZero() {
		delete(t.checks, node)
		return
	}
	known = known.Outdated(t.currentUntil(known, at))
	known.Err = ""
	t.checks[node] = known
}

// currentUntil is when checks whose watch ends at a time were last known to be current:
// Consul may have been silent before that.
func (t *Tracker) currentUntil(known election.NodeChecks, at time.Time) time.Time {
	if contact := wall(t.conn.LastContact); !contact.IsZero() && contact.Before(at) {
		at = contact
	}
	if at.Before(known.At) {
		return known.At
	}
	return at
}

// outdateChecks marks all checks as not observed since then.
func (t *Tracker) outdateChecks(since time.Time) {
	t.ownChecks()
	for node, known := range t.checks {
		t.checks[node] = known.Outdated(since)
	}
}

// ownChecks copies checks if a snapshot shares them.
func (t *Tracker) ownChecks() {
	if t.checksLent {
		t.checks, t.checksLent = maps.Clone(t.checks), false
	}
}
