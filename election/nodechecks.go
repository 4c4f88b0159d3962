package election

import (
	"maps"
	"time"
)

func (t *Tracker) checksRead(o ChecksRead) {
	t.ownChecks()
	at := wall(o.At)
	read := NodeChecks{At: at, Checks: o.Checks, Partial: o.Partial}
	if o.Err != "" {
		read = t.checks[o.Node].outdated(at)
		read.Err = o.Err
	}
	t.checks[o.Node] = read
	t.pruneChecks()
}

// checksUnwatched keeps what was read, with its age. An error is not kept: the
// next read may succeed.
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
	known = known.outdated(at)
	known.Err = ""
	t.checks[node] = known
}

// outdateChecks says that no check was observed since.
func (t *Tracker) outdateChecks(since time.Time) {
	t.ownChecks()
	for node, known := range t.checks {
		t.checks[node] = known.outdated(since)
	}
}

// Current reports that the checks are watched and stand as they were read.
func (c NodeChecks) Current() bool { return c.Until.IsZero() && c.Err == "" }

func (c NodeChecks) olderThan(other NodeChecks) bool {
	switch {
	case c.Current() != other.Current():
		return other.Current()
	case c.Current():
		return c.At.Before(other.At)
	}
	return c.Until.Before(other.Until)
}

// outdated are the checks when they are no longer current after at.
func (c NodeChecks) outdated(at time.Time) NodeChecks {
	if c.Until.IsZero() && !c.At.IsZero() {
		c.Until = at
	}
	return c
}

// ownChecks makes checks writable: no snapshot shows them.
func (t *Tracker) ownChecks() {
	if t.checksLent {
		t.checks, t.checksLent = maps.Clone(t.checks), false
	}
}
