package tracker

import (
	"maps"
	"slices"
	"time"

	"electop/election"
)

// wall removes the monotonic clock reading, because the monotonic clock stops while the machine sleeps (see "Time" in
// the package documentation).
func wall(t time.Time) time.Time { return t.Round(0) }

// stop is a period in which nothing was observed.
type stop struct {
	since time.Time
	end   time.Time // includes the monotonic clock reading, for comparison with the times of requests
	// reread contains the ranges that were read by requests sent after end.
	reread election.RangeSet
}

// stopped records a gap. If an earlier gap has not ended, the new gap begins when the earlier gap began.
func (t *Tracker) stopped(o election.Gap) {
	s := &stop{since: wall(o.Since), end: o.At}
	if t.stop != nil && t.stop.since.Before(s.since) {
		s.since = t.stop.since
	}
	t.stop = s
	t.outdateChecks(s.since)
	t.listed = 0
	for _, p := range t.ends {
		p.loss.Gap = true // electop reads the evidence only after the gap
	}
}

// readAfterStop records that a range was read. The gap ends once every range has been read.
func (t *Tracker) readAfterStop(r election.Range, asked time.Time) {
	if t.stop == nil || asked.Before(t.stop.end) {
		return
	}
	t.stop.reread.Add(r)
	if t.stop.reread.CoversAll(t.covered) {
		t.stop = nil
	}
}

// unobserved reports whether observation of the election was interrupted since the previous read. until is the
// beginning of the interruption, or zero if unknown.
func (t *Tracker) unobserved(e *election.Election, r *rangeRead) (gap bool, until time.Time) {
	earliest := func(at time.Time) {
		if gap = true; until.IsZero() || !at.IsZero() && at.Before(until) {
			until = at
		}
	}
	if r.AfterGap {
		earliest(t.seenUntil)
	}
	if t.stop != nil && !t.stop.reread.Contains(e.Key()) {
		earliest(t.stop.since)
	}
	if e.Unreadable {
		earliest(unreadableSince(e))
	}
	if e.Recorded() {
		earliest(e.RecordedUntil)
	}
	return gap, until
}

// clockSet moves every stored time to the new clock.
func (t *Tracker) clockSet(o election.ClockSet) {
	move := func(at *time.Time) {
		if !at.IsZero() {
			*at = at.Add(o.By)
		}
	}
	t.elections, t.lent = slices.Clone(t.elections), false
	for i, e := range t.elections {
		t.elections[i] = e.Moved(move)
	}
	t.recent = election.MovedEvents(t.recent, move)
	for _, p := range t.ends {
		move(&p.event.Time)
		move(&p.deadline)
	}
	for i := range t.actions {
		move(&t.actions[i].At)
		move(&t.actions[i].began)
	}
	for source, lost := range t.links {
		move(&lost.At)
		move(&lost.RetryAt)
		move(&lost.Since)
		t.links[source] = lost
	}
	t.conn.Stale = slices.Clone(t.conn.Stale)
	for i := range t.conn.Stale {
		move(&t.conn.Stale[i].Since)
		move(&t.conn.Stale[i].RetryAt)
	}
	for _, at := range []*time.Time{
		&t.seenUntil, &t.pruned, &t.conn.Since, &t.conn.LastContact, &t.conn.RetryAt, &t.recorded.until,
	} {
		move(at)
	}
	if t.stop != nil {
		move(&t.stop.since)
	}
	t.moveReads(move)
}

// moveReads moves the times of reads of sessions and checks.
func (t *Tracker) moveReads(move func(*time.Time)) {
	t.checks, t.checksLent = maps.Clone(t.checks), false
	for node, c := range t.checks {
		move(&c.At)
		move(&c.Until)
		t.checks[node] = c
	}
	for id, seen := range t.seen {
		move(&seen.At)
		t.seen[id] = seen
	}
	if t.surroundings != nil {
		s := *t.surroundings
		move(&s.At)
		t.surroundings = &s
	}
	if t.sessionList != nil {
		s := *t.sessionList
		move(&s.At)
		move(&s.Until)
		s.FirstSeen = t.seenOf(s.Sessions)
		t.sessionList = &s
	}
}
