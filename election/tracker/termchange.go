package tracker

import (
	"cmp"
	"slices"
	"time"

	"electop/election"
)

// change updates one election from its known state to the state of a new read.
type change struct {
	t *Tracker
	*rangeRead
	// gap is set if observation of the key was interrupted since the previous read. until is the beginning of the
	// interruption. The times of changes in the gap are unknown.
	gap   bool
	until time.Time
	// restored is set if Consul lost data or restored a snapshot since the previous read.
	restored bool
	*election.Election
}

// changeOf starts a change on a copy of an election.
func (t *Tracker) changeOf(e *election.Election, r *rangeRead) change {
	changed := *e
	changed.Candidateless, changed.Unsearched = false, false
	c := change{t: t, rangeRead: r, Election: &changed}
	c.gap, c.until = t.unobserved(e, r)
	return c
}

func (t *Tracker) foldNew(name string, p *election.Pair, r *rangeRead) *election.Election {
	c := t.changeOf(&election.Election{Name: name, Datacenter: t.datacenter, Store: t.Store, Exists: true, Pair: *p}, r)
	t.newest = max(t.newest, p.ModifyIndex)
	until, created := t.createdUnobserved(p)
	switch {
	case t.covered.Contains(p.Key):
		c.appear(p, r.newest)
	case created && !p.OfSemaphore():
		c.gap, c.until = true, until
		c.appear(p, 0)
		if len(c.Events) == 0 { // the key was never held
			c.initial(p)
		}
	default:
		c.found(p)
	}
	return c.Election
}

// found records the state of an election at the first read of its key.
func (c *change) found(p *election.Pair) {
	switch {
	case p.Held():
		c.begin(p, false)
	case !p.OfSemaphore():
		c.Term = p.LockIndex
		c.vacantAt(c.At, false)
	}
	c.initial(p)
}

// initial emits the initial events: the state of the key at its first read. A semaphore has one event per holder, or one
// event without a session.
func (c *change) initial(p *election.Pair) {
	switch {
	case p.Held():
		c.record(election.Event{Type: election.Elected, Initial: true})
	case p.OfSemaphore():
		c.exchange(&election.Pair{}, &c.Pair, true)
		if slots, _ := c.Pair.Slots(); len(slots.Holders) == 0 {
			c.slot(election.Left, "", slots, true)
		}
	default:
		c.Unsearched = c.t.Searches && p.Queue == nil
		c.record(election.Event{Type: election.Vacated, Initial: true})
	}
}

// appear records a key that did not exist at the previous read of its range. If its CreateIndex is not higher than
// the indexes that were read before, a restored snapshot created the key, and LockIndex does not count unobserved
// terms.
func (c *change) appear(p *election.Pair, newest uint64) {
	c.vacantAt(c.At, !c.gap)
	c.settle(p, advance{counted: p.CreateIndex > newest}, election.Event{})
}

func (t *Tracker) foldAbsent(e *election.Election, r *rangeRead) *election.Election {
	switch {
	case e.Recorded():
		return t.foldRecordedAbsent(e, r)
	case !e.Exists:
		return e
	}
	switch _, hidden := slices.BinarySearch(r.Hidden, e.Key()); {
	case !hidden:
		return t.foldDeleted(e, r)
	case e.Unreadable:
		return e
	}
	c := t.changeOf(e, r) // its last state remains
	c.Unreadable = true
	c.happened(election.Unreadable)
	return c.Election
}

func (t *Tracker) foldDeleted(e *election.Election, r *rangeRead) *election.Election {
	c := t.changeOf(e, r)
	c.Exists, c.Unreadable = false, false
	c.release(Loss{Deleted: true, HeldIndex: e.Pair.ModifyIndex})
	c.deleted()
	c.Pair.Queue = c.Pair.Queue[:0:0]
	if len(c.Pair.Value) > maxGoneValue {
		c.Pair.Value = nil
	}
	return c.Election
}

func (t *Tracker) foldPresent(e *election.Election, p *election.Pair, r *rangeRead) *election.Election {
	switch {
	case e.Recorded():
		return t.foldRecorded(e, p, r)
	case e.Exists && e.Pair.Identical(p) && !e.Unreadable:
		return e
	}
	return t.foldChanged(e, p, r)
}

// foldChanged processes a changed key, the rare case in foldPresent. It is a separate function, because foldPresent
// runs for every key of every read.
func (t *Tracker) foldChanged(e *election.Election, p *election.Pair, r *rangeRead) *election.Election {
	c := t.changeOf(e, r)
	t.newest = max(t.newest, p.ModifyIndex)
	if e.Unreadable {
		c.Unreadable = false
		c.happened(election.Readable)
	}
	switch {
	case !e.Exists:
		c.Exists = true
		c.settle(p, advanceOf(e, p), c.vacancy())
	case !e.Pair.Identical(p), e.Recorded():
		c.move(p)
	}
	return c.Election
}

// move records a change of a key that exists in the previous and in the new read.
func (c *change) move(p *election.Pair) {
	before := c.Pair
	a := advanceOf(c.Election, p)
	switch {
	case continues(&before, p):
		c.restored = a.replayed
		c.hold(p, !a.replayed)
		return
	case before.OfSemaphore() && p.OfSemaphore() && !a.remade:
		c.restored = a.replayed
		c.Pair = *p
		c.exchange(&before, p, false)
		return
	}
	vacancy := c.vacancy()
	if before.Held() {
		vacancy = election.Event{VacancyKnown: !c.gap}
	}
	a.reset = a.reset && !before.OfSemaphore() // clients write the key of a semaphore without the lock
	ended := p.ModifyIndex                     // 0 if a client may have written the key again after the end, which only an unchanged LockIndex excludes
	if p.Held() || p.CreateIndex != before.CreateIndex || p.LockIndex != before.LockIndex || p.LockIndex == 0 {
		ended = 0
	}
	c.release(Loss{Deleted: a.remade && !a.replayed, Replaced: a.replayed, HeldIndex: before.ModifyIndex, KeyIndex: ended})
	if a.remade && !a.replayed {
		c.deleted()
	}
	c.settle(p, a, vacancy)
}

// deleted records that the key was deleted. If terms are revisions, every term ends with the deletion of a key.
func (c *change) deleted() {
	if !c.t.Store.Revisions {
		c.happened(election.Deleted)
	}
}

// release records that the leader, or every holder of a semaphore, has lost its hold.
func (c *change) release(l Loss) {
	switch {
	case c.Pair.Held():
		c.vacate(l)
	case c.Pair.OfSemaphore():
		c.exchange(&c.Pair, &election.Pair{}, false)
		c.vacantAt(c.At, !c.gap)
	}
}

// vacantAt sets the beginning of the vacancy. The lock-delay of an earlier term no longer counts.
func (c *change) vacantAt(at time.Time, known bool) {
	c.VacantSince, c.VacantSinceKnown = at, known
	c.LockDelayUntil, c.LockDelayDoubtful = time.Time{}, false
}

// settle stores the new pair after the previous term has ended. It begins a term if the pair is held.
func (c *change) settle(p *election.Pair, a advance, vacancy election.Event) {
	flags := c.Pair.Flags
	c.Pair = *p
	c.restored = a.replayed
	if p.Held() || p.LockIndex > 0 || a.remade || a.replayed {
		c.Term = p.LockIndex
	}
	if p.OfSemaphore() {
		c.vacantAt(time.Time{}, false)
		c.exchange(&election.Pair{}, p, false)
		return
	}
	// After a gap, a lower LockIndex may come from a restored snapshot.
	counts := !c.t.Store.Revisions
	if counts && a.reset && (!p.Held() || p.LockIndex > 0) && (!c.gap || p.LockIndex == 0) {
		c.overwritten(flags)
	}
	if counts && a.counted {
		c.missed(p, a.from)
	}
	if p.Held() {
		c.elect(p, vacancy)
		if p.LockIndex == 0 {
			c.overwritten(flags)
		}
	}
}

// hold records a write to a key whose holder did not change.
func (c *change) hold(p *election.Pair, written bool) {
	old := c.Pair
	c.Pair = *p
	// The value that another client wrote does not name the leader. If it wrote before the first read, a later value may be
	// the leader's.
	if label := election.LeaderLabel(c.Pair, c.Session); label != c.Leader && (p.LockIndex > 0 || c.Term == 0) {
		c.Leader = label
		if term := c.lastTerm(); term != nil {
			term.Leader = label
		}
	}
	switch {
	case p.LockIndex == 0 && written && (old.LockIndex > 0 || old.Flags != p.Flags):
		c.overwritten(old.Flags)
	case !p.SameContent(&old):
		c.happened(election.Updated)
	}
}

// lastTerm returns the latest term, or nil if there is none. The caller may modify it.
func (c *change) lastTerm() *election.Term {
	if len(c.Terms) == 0 {
		return nil
	}
	c.Terms = slices.Clone(c.Terms) // snapshots share the terms
	return &c.Terms[len(c.Terms)-1]
}

// vacancy returns an event with the time since the beginning of the vacancy.
func (c *change) vacancy() election.Event {
	if c.VacantSince.IsZero() || !c.VacantSinceKnown || c.gap {
		return election.Event{}
	}
	return election.Event{VacancyKnown: true, Vacancy: max(0, c.At.Sub(c.VacantSince))}
}

// begin makes the session of p the leader. It emits no event.
func (c *change) begin(p *election.Pair, known bool) {
	s := c.t.sessions[p.Session]
	c.Pair = *p
	c.Session, c.Leader, c.Term = s, election.LeaderLabel(*p, s), p.LockIndex
	c.Since, c.SinceKnown = c.At, known
	c.vacantAt(time.Time{}, false)
	term := election.Term{
		Number: p.LockIndex, CreateIndex: p.CreateIndex, Session: p.Session,
		Leader: c.Leader, Start: c.At, StartKnown: known,
	}
	if s != nil {
		term.Node = s.Node
	}
	c.Terms = appendKept(c.Terms, term, c.t.keep())
}

func (c *change) elect(p *election.Pair, vacancy election.Event) {
	vacancy.Type, vacancy.AliveUntil = election.Elected, c.LastSign()
	c.begin(p, !c.gap)
	if c.gap && !c.until.After(c.At) {
		c.lastTerm().NotBefore = c.until
	}
	c.record(vacancy)
}

// vacate ends the current term and begins the search for the cause of its end.
func (c *change) vacate(l Loss) {
	l.Session, l.Gap, l.At, l.Lease = c.Session, c.gap, c.At, c.t.Store.Leases
	l.Unread = l.Session == nil || l.Session.Read.IsZero() || l.Session.Read.Before(c.t.jumped)
	ended := c.endTerm()
	event := c.record(election.Event{
		Type: election.Vacated, Held: ended.Held(c.At), HeldKnown: ended.HeldKnown() && !c.gap, SeenUntil: ended.SeenUntil,
	})
	c.t.awaitCause(event, l)
	c.LastSession = c.Session
	c.Leader, c.Session = "", nil
	c.Since, c.SinceKnown = time.Time{}, false
	c.vacantAt(c.At, !c.gap)
}

// endTerm ends the latest term. After a gap, the term lasted at least until the beginning of the gap.
func (c *change) endTerm() election.Term {
	term := c.lastTerm()
	if term == nil {
		return election.Term{}
	}
	term.End = c.At
	if c.gap {
		term.SeenUntil = term.Start
		began := term.Start.Equal(c.At) && !c.until.IsZero() // in the same gap
		if (began || c.until.After(term.Start)) && !c.until.After(c.At) {
			term.SeenUntil = c.until
		}
	}
	return *term
}

// record emits an event with the state of the election, and appends it to the election's events.
func (c *change) record(e election.Event) election.Event {
	e.Time, e.Election, e.Key, e.Datacenter = c.At, c.Name, c.Key(), c.t.datacenter
	e.Term, e.CreateIndex, e.ModifyIndex = c.Term, c.Pair.CreateIndex, cmp.Or(c.Index, c.Pair.ModifyIndex)
	if e.Gap, e.Restored = c.gap, c.restored; c.gap && e.SeenUntil.IsZero() && !c.until.After(c.At) {
		e.SeenUntil = c.until
	}
	if c.Leader != "" {
		e.Leader, e.Session = c.Leader, c.Pair.Session
		if c.Session != nil {
			e.Node = c.Session.Node
		}
	}
	c.t.emit(e)
	if out := c.t.out; len(c.Events) == 0 && len(out) <= c.t.kept { // at the start, each election has one event: keep it once
		c.Events = tail(out, 1)
	} else {
		c.Events = appendKept(c.Events, e, c.t.keep())
	}
	return e
}

// happened records an event that has only a type.
func (c *change) happened(t election.EventType) { c.record(election.Event{Type: t}) }

// overwritten records a write without the lock. Without the earlier flags, candidates may reject the key for ever.
func (c *change) overwritten(flags uint64) {
	c.record(election.Event{Type: election.Overwritten, Evidence: election.ReplacedFlags(flags, c.Pair.Flags)})
}

// candidatesRead ends a search for candidates. It ignores the elections that have changed since the search.
func (t *Tracker) candidatesRead(o election.CandidatesRead) {
	none := make(map[*election.Election]bool, len(o.None))
	for _, e := range o.None {
		none[e] = true
	}
	t.replace(func(e *election.Election) *election.Election {
		if !e.Unsearched && !none[e] && e != o.Found {
			return e
		}
		changed := *e
		changed.Unsearched, changed.Candidateless = false, none[e] || e.Candidateless && e != o.Found
		return &changed
	})
}
