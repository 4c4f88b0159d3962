package tracker

import (
	"slices"
	"time"

	"electop/election"
)

// advance describes what the indexes prove about the changes between two reads.
type advance struct {
	// remade is set if the key was deleted and created again.
	remade bool
	// replayed is set if Consul lost data or restored a snapshot, and no write led to this state.
	replayed bool
	// reset is set if a write without the lock reset LockIndex, or created the key of an election again.
	reset bool
	// counted is set if LockIndex counts the terms since the previous read. The numbers of these terms are greater
	// than from.
	counted bool
	from    uint64
}

// advanceOf compares a pair with the known state of the key. LockIndex counts terms only within one CreateIndex.
func advanceOf(e *election.Election, p *election.Pair) advance {
	old := &e.Pair
	a := advance{remade: p.CreateIndex != old.CreateIndex}
	// A key that is created again has a higher CreateIndex.
	a.replayed = p.ModifyIndex < old.ModifyIndex || p.CreateIndex < old.CreateIndex || !e.Exists && p.CreateIndex <= old.ModifyIndex ||
		slices.ContainsFunc(e.Events, func(v election.Event) bool { // the result of the same write was read before
			return v.ModifyIndex == p.ModifyIndex && v.CreateIndex == p.CreateIndex && v.Session == p.Session
		})
	if a.remade {
		a.reset = !a.replayed && len(e.Terms) > 0 && !p.Held() && p.LockIndex == 0
	} else {
		a.reset = !a.replayed && counterReset(old, p)
	}
	a.counted = !a.replayed && !a.reset
	if !a.remade {
		a.from = old.LockIndex
	}
	return a
}

// missed records the terms that began and ended between two reads. LockIndex counts these terms and the current term.
func (c *change) missed(p *election.Pair, from uint64) {
	to := p.LockIndex
	if p.Held() && to > 0 {
		to--
	}
	if to <= from {
		return
	}
	if !p.Held() { // the vacancy began after the last missed term
		c.vacantAt(c.At, !c.gap)
	}
	c.record(election.Event{Type: election.Missed, Count: to - from})
}

// counterReset reports whether a write without the lock reset LockIndex. The reads must show different terms.
func counterReset(old, p *election.Pair) bool {
	switch {
	case p.Held():
		return p.LockIndex <= old.LockIndex && old.LockIndex > 0
	case old.Held():
		return p.LockIndex < old.LockIndex
	}
	return p.LockIndex < old.LockIndex || p.LockIndex == old.LockIndex && !p.SameContent(old)
}

// continues reports whether both reads show the same term.
func continues(old, p *election.Pair) bool {
	return old.Held() && p.CreateIndex == old.CreateIndex && p.Session == old.Session &&
		(p.LockIndex == old.LockIndex || p.LockIndex == 0)
}

// foundWithin is the maximum time between the creation of a key and its first read. The list of names, which finds
// new keys, is read at most every 3 s.
const foundWithin = 10 * time.Second

// settledIndex determines a Raft index that was current some time ago.
type settledIndex struct {
	before, current uint64
	since           time.Time
}

// at returns the index that was the newest between foundWithin and 2 × foundWithin before now. After the start, it
// returns the index of the first read.
func (s *settledIndex) at(now time.Time, newest uint64) uint64 {
	switch {
	case s.since.IsZero(), now.Before(s.since):
		s.since = now // before the first read: no index is known
	case s.current == 0:
		s.before, s.current = newest, newest // the index of the first read
	case now.Sub(s.since) >= foundWithin:
		s.before, s.current, s.since = s.current, newest, now
	}
	return s.before
}
