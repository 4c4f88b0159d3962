package election

import "time"

// furthest is how far a key has come in all reads. The key itself is behind that
// after Consul's data was lost or an older snapshot was restored, and after a write
// that restarted LockIndex.
type furthest struct{ create, lock, modify uint64 }

func reached(p *Pair) furthest {
	return furthest{create: p.CreateIndex, lock: p.LockIndex, modify: p.ModifyIndex}
}

// furthest is kept apart from the pair only while the pair is behind it, which is
// rare.
func (t *Tracker) furthest(e *Election) furthest {
	if peak, behind := t.peaks[e.ID()]; behind {
		return peak
	}
	return reached(&e.Pair)
}

// replacePair makes a pair the current one and remembers how far the key has come.
func (t *Tracker) replacePair(e *Election, p *Pair) {
	old := &e.Pair
	if len(t.peaks) == 0 && p.ModifyIndex >= old.ModifyIndex && (p.LockIndex >= old.LockIndex || p.CreateIndex != old.CreateIndex) {
		e.Pair = *p // nearly always
		return
	}
	peak := t.furthest(e)
	switch {
	case p.CreateIndex == peak.create:
		peak.lock, peak.modify = max(peak.lock, p.LockIndex), max(peak.modify, p.ModifyIndex)
	case p.ModifyIndex > peak.modify:
		peak = reached(p)
	}
	e.Pair = *p
	if peak == reached(p) {
		delete(t.peaks, e.ID())
	} else {
		t.peaks[e.ID()] = peak
	}
}

// advance is what the indexes of two reads say about the time between them.
type advance struct {
	// remade says that the key was deleted and created again.
	remade bool
	// replayed says that no write led to this state: the data was lost, or a
	// snapshot was restored.
	replayed bool
	// reset says that a write without the lock restarted LockIndex.
	reset bool
	// counted says that LockIndex counts the terms since the read before: those
	// with numbers above from.
	counted bool
	from    uint64
}

// advanceOf compares a key with what was known of it. LockIndex counts the terms of
// one CreateIndex only, and only while it grows beyond what was read.
func (t *Tracker) advanceOf(e *Election, p *Pair) advance {
	old, peak := &e.Pair, t.furthest(e)
	known := p.CreateIndex == peak.create
	restored := peak.modify > old.ModifyIndex // and not written since
	a := advance{remade: p.CreateIndex != old.CreateIndex}
	a.replayed = p.ModifyIndex < old.ModifyIndex || p.CreateIndex < old.CreateIndex || restored && known && p.ModifyIndex <= peak.modify ||
		!e.Exists && p.CreateIndex <= old.ModifyIndex // a key that is created again is younger
	a.reset = !a.remade && !a.replayed && counterReset(old, p)
	switch {
	case a.replayed, a.reset:
	case known && p.LockIndex > peak.lock:
		a.counted, a.from = true, peak.lock
	case known:
		// Another snapshot may have been restored before the write.
		a.counted, a.from = !a.remade && !restored, old.LockIndex
	case a.remade:
		a.counted = p.CreateIndex > peak.modify
	default:
		a.counted, a.from = true, old.LockIndex
	}
	return a
}

// counterReset reports whether a client wrote the key without the lock between
// two reads that do not show one term.
func counterReset(old, p *Pair) bool {
	switch {
	case p.Held():
		return p.LockIndex <= old.LockIndex && old.LockIndex > 0
	case old.Held():
		return p.LockIndex < old.LockIndex
	}
	return p.LockIndex < old.LockIndex || p.LockIndex == old.LockIndex && !p.sameContent(old)
}

// continues reports whether both reads show one term.
func continues(old, p *Pair) bool {
	return old.Held() && p.CreateIndex == old.CreateIndex && p.Session == old.Session &&
		(p.LockIndex == old.LockIndex || p.LockIndex == 0)
}

// lossIndex is the Raft index at which a term ended, 0 where later writes hide it:
// only while LockIndex is as it was, no write followed.
func lossIndex(old, p *Pair) uint64 {
	if p.Held() || p.CreateIndex != old.CreateIndex || p.LockIndex != old.LockIndex || p.LockIndex == 0 {
		return 0
	}
	return p.ModifyIndex
}

// foundWithin is how long a key may exist before it is read for the first time,
// while others were read already: a list of names finds it, at most every 3 s.
const foundWithin = 10 * time.Second

// settledIndex remembers an index for a while.
type settledIndex struct {
	before, current uint64
	since           time.Time
}

// at gives the index as it was between foundWithin and twice that ago, at first
// that of the first read.
func (s *settledIndex) at(now time.Time, newest uint64) uint64 {
	switch {
	case s.since.IsZero():
		s.since = now // nothing was read yet
	case s.current == 0:
		s.before, s.current = newest, newest // the first read was complete
	case now.Sub(s.since) >= foundWithin:
		s.before, s.current, s.since = s.current, newest, now
	}
	return s.before
}
