package election

import (
	"maps"
	"slices"
	"time"
)

// wall is a moment without its reading of the monotonic clock, which stops while
// the machine sleeps. See the package's comment on time.
func wall(t time.Time) time.Time { return t.Round(0) }

// clockTolerance is how far two clocks may drift apart between two readings that
// are about a second apart. Clock discipline slews by 0.5 ms a second; a clock
// that is off by more than 128 ms is set (ntpd).
const clockTolerance = 100 * time.Millisecond

// ClockJump compares two readings of the clock, which must come from time.Now. now
// was due no later than limit after last. It returns what is to be observed before
// anything else: that the clock was set, and that nothing was observed meanwhile.
//
// A machine that slept and a clock that was set forward look the same. Both are a
// gap: nothing is claimed of that time.
func ClockJump(last, now time.Time, limit time.Duration) []Observation {
	return clockJump(wall(last), now, wall(now).Sub(wall(last)), now.Sub(last), limit)
}

// clockJump judges by how much the wall clock and the monotonic clock advanced.
func clockJump(last, now time.Time, wall, monotonic, limit time.Duration) (all []Observation) {
	set := wall - monotonic
	if set < -clockTolerance {
		all = append(all, ClockSet{At: now, By: set})
		last = last.Add(set)
	}
	if set > clockTolerance || monotonic > limit {
		all = append(all, Gap{At: now, Since: last})
	}
	return all
}

// stop is a time in which nothing was observed.
type stop struct {
	since time.Time
	end   time.Time // as it was given, to be compared with requests
	// reread is what was read by requests from after the end.
	reread rangeSet
}

// stopped takes a gap. Of two that overlap in their effect the earlier counts.
func (t *Tracker) stopped(o Gap) {
	s := &stop{since: wall(o.Since), end: o.At}
	if t.stop != nil && t.stop.since.Before(s.since) {
		s.since = t.stop.since
	}
	t.stop = s
	for _, p := range t.ends {
		p.loss.Gap = true // its evidence is collected later than it should be
	}
}

// readAfterStop notes a read of a range. The gap is over when all was read.
func (t *Tracker) readAfterStop(r Range, asked time.Time) {
	if t.stop == nil || asked.Before(t.stop.end) {
		return
	}
	t.stop.reread.add(r)
	if t.stop.reread.coversAll(t.covered) {
		t.stop = nil
	}
}

// unobserved reports whether the election was observed without interruption
// since the read before, and if not until when it was; zero if that is not known.
func (t *Tracker) unobserved(e *Election, r *rangeRead) (gap bool, until time.Time) {
	earliest := func(at time.Time) {
		if gap = true; until.IsZero() || !at.IsZero() && at.Before(until) {
			until = at
		}
	}
	if r.AfterGap {
		earliest(t.seenUntil)
	}
	if t.stop != nil && !t.stop.reread.contains(e.Key()) {
		earliest(t.stop.since)
	}
	if e.Unreadable {
		earliest(e.unreadableSince())
	}
	return gap, until
}

// clockSet moves every moment that is known onto the new clock.
func (t *Tracker) clockSet(o ClockSet) {
	move := func(at *time.Time) {
		if !at.IsZero() {
			*at = at.Add(o.By)
		}
	}
	t.elections, t.lent = slices.Clone(t.elections), false
	for i, e := range t.elections {
		t.elections[i] = e.moved(move)
	}
	t.recent = movedEvents(t.recent, move)
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
		t.links[source] = lost
	}
	for _, at := range []*time.Time{
		&t.seenUntil, &t.pruned, &t.conn.Since, &t.conn.LastContact, &t.conn.RetryAt,
	} {
		move(at)
	}
	if t.stop != nil {
		move(&t.stop.since)
	}
	t.moveReads(move)
}

// moveReads moves the moments at which other things were read.
func (t *Tracker) moveReads(move func(*time.Time)) {
	t.checks, t.checksLent = maps.Clone(t.checks), false
	for node, c := range t.checks {
		move(&c.At)
		t.checks[node] = c
	}
	if t.surroundings != nil {
		s := *t.surroundings
		move(&s.At)
		t.surroundings = &s
	}
	if t.sessionList != nil {
		s := *t.sessionList
		move(&s.At)
		move(&s.Began)
		s.FirstSeen = maps.Clone(s.FirstSeen)
		for id, at := range s.FirstSeen {
			move(&at)
			s.FirstSeen[id] = at
		}
		t.sessionList = &s
	}
}

// moved is the election with all its moments moved.
func (e *Election) moved(move func(*time.Time)) *Election {
	m := *e
	move(&m.Since)
	move(&m.VacantSince)
	move(&m.LockDelayUntil)
	m.Terms, m.Events = slices.Clone(m.Terms), movedEvents(m.Events, move)
	for i := range m.Terms {
		move(&m.Terms[i].Start)
		move(&m.Terms[i].End)
		move(&m.Terms[i].SeenUntil)
	}
	return &m
}

func movedEvents(events []Event, move func(*time.Time)) []Event {
	events = slices.Clone(events)
	for i := range events {
		move(&events[i].Time)
		move(&events[i].LockDelayUntil)
		move(&events[i].SeenUntil)
	}
	return events
}
