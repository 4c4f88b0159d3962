package tracker

import (
	"maps"
	"time"

	"electop/election"
)

func (t *Tracker) checksRead(o election.ChecksRead) {
	t.checks = maps.Clone(t.checks) // snapshots share the old map
	at := wall(o.At)
	read := election.NodeChecks{At: at, Checks: o.Checks, Partial: o.Partial}
	if o.Err != "" {
		read = t.checks[o.Node].Outdated(t.currentUntil(t.checks[o.Node].At, at))
		read.Err = o.Err
	}
	t.checks[o.Node] = read
	t.pruneChecks()
}

// unwatched keeps the last checks, marks them as outdated and clears the error: the next read may succeed. Without a node,
// it marks the list of sessions.
func (t *Tracker) unwatched(node string, at time.Time) {
	if node == "" && t.sessionList != nil {
		t.sessionList = t.outdatedList(at)
	}
	known, read := t.checks[node]
	if !read {
		return
	}
	t.checks = maps.Clone(t.checks)
	if known.At.IsZero() {
		delete(t.checks, node)
		return
	}
	known = known.Outdated(t.currentUntil(known.At, at))
	known.Err = ""
	t.checks[node] = known
}

// currentUntil returns the last time at which a part was known to be current: the end of the watch (at), or an earlier
// time if Consul did not respond. read is the time of the latest read.
func (t *Tracker) currentUntil(read, at time.Time) time.Time {
	if contact := t.conn.LastContact; !contact.IsZero() && contact.Before(at) {
		at = contact
	}
	return election.Later(read, at)
}
