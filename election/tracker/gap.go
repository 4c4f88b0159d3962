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
	t.stop, t.jumped = s, o.At
	t.replace(func(e *election.Election) *election.Election {
		if e.LockDelayUntil.Sub(s.end) <= election.MaxLockDelay {
			return e
		}
		changed := *e // the clock was set back
		changed.LockDelayUntil = time.Time{}
		return &changed
	})
	t.checks = maps.Clone(t.checks)
	for node, known := range t.checks {
		t.checks[node] = known.Outdated(s.since)
	}
	t.listed = 0
	for _, p := range t.ends {
		p.loss.Gap = true // electop reads the evidence only after the gap
	}
}

// Interrupted reports whether a range has not been read since the latest [election.Gap].
func (t *Tracker) Interrupted() bool { return t.stop != nil }

// readAfterStop records that a range was read. The gap ends once every range has been read.
func (t *Tracker) readAfterStop(r election.Range, asked time.Time) {
	if t.stop == nil || asked.Before(t.stop.end) {
		return
	}
	t.stop.reread.Add(r)
	if !slices.ContainsFunc(t.covered, func(r election.Range) bool { return !t.stop.reread.Covers(r) }) {
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
		var since time.Time
		if ev := e.Latest(election.Unreadable); ev != nil {
			since = ev.Time
		}
		earliest(since)
	}
	if e.Recorded() {
		earliest(e.RecordedUntil)
	}
	return gap, until
}
