package election

import "time"

// change is one election being moved from what was known to what was read.
type change struct {
	t  *Tracker
	at time.Time
	// gap says that the key was not observed all the time since the read
	// before, until when it was: moments in between are not known.
	gap   bool
	until time.Time
	// restored says that Consul's data was lost or restored since the read before.
	restored bool
	e        *Election
	// ownTerms says that no snapshot shows e.Terms.
	ownTerms bool
}

// changeOf begins to change an election, which gives a new one.
func (t *Tracker) changeOf(e *Election, r *rangeRead) change {
	changed := *e
	c := change{t: t, at: r.At, e: &changed}
	c.gap, c.until = t.unobserved(e, r)
	return c
}

func (t *Tracker) foldNew(name string, p *Pair, r *rangeRead) *Election {
	e := &Election{
		Name: name, Datacenter: t.datacenter, Exists: true, Pair: *p, Unaddressable: !Addressable(p.Key),
	}
	c := change{t: t, at: r.At, ownTerms: true, e: e}
	t.newest = max(t.newest, p.ModifyIndex)
	c.gap, c.until = t.unobserved(e, r)
	if t.covered.contains(p.Key) {
		c.appear(p, r.newest)
	} else {
		c.found(p)
	}
	return c.e
}

// found records the state in which an election was when first looked at.
func (c *change) found(p *Pair) {
	switch {
	case p.Held():
		c.begin(p, false)
		c.record(Event{Type: Elected, Initial: true})
	case p.semaphore():
		c.foundSemaphore()
	default:
		c.e.Term = p.LockIndex
		c.e.VacantSince = c.at
		c.record(Event{Type: Vacated, Initial: true})
	}
}

// appear records a key that did not exist when its range was read before. One that
// is older than what was read since came with a restored snapshot.
func (c *change) appear(p *Pair, newest uint64) {
	c.e.VacantSince, c.e.VacantSinceKnown = c.at, !c.gap
	c.settle(p, advance{counted: p.CreateIndex > newest}, Event{})
}

func (t *Tracker) foldAbsent(e *Election, r *rangeRead) *Election {
	if !e.Exists {
		return e
	}
	if r.hides(e) {
		return t.foldHidden(e, r)
	}
	c := t.changeOf(e, r)
	if e.Unreadable {
		t.unreadable--
	}
	c.e.Exists, c.e.Unreadable = false, false
	c.release(Loss{Deleted: true, HeldIndex: e.Pair.ModifyIndex})
	c.record(Event{Type: Deleted})
	if len(c.e.Pair.Value) > maxGoneValue {
		c.e.Pair.Value = nil
	}
	t.gone++
	return c.e
}

func (t *Tracker) foldPresent(e *Election, p *Pair, r *rangeRead) *Election {
	if e.Exists && e.Pair.identical(p) && !e.Unreadable {
		return e
	}
	return t.foldChanged(e, p, r)
}

// foldChanged is apart from foldPresent, which runs for every key of every read.
func (t *Tracker) foldChanged(e *Election, p *Pair, r *rangeRead) *Election {
	c := t.changeOf(e, r)
	t.newest = max(t.newest, p.ModifyIndex)
	if e.Unreadable {
		c.readable(r.regained)
	}
	switch {
	case !e.Exists:
		t.gone--
		c.e.Exists = true
		c.settle(p, t.advanceOf(e, p), c.vacancy())
	case !e.Pair.identical(p):
		c.move(p)
	}
	return c.e
}

// move records a key that existed at both reads and is different.
func (c *change) move(p *Pair) {
	before := c.e.Pair
	a := c.t.advanceOf(c.e, p)
	switch {
	case continues(&before, p):
		c.restored = a.replayed
		c.hold(p, !a.replayed)
		return
	case before.semaphore() && p.semaphore() && !a.remade:
		c.restored = a.replayed
		c.t.replacePair(c.e, p)
		c.exchange(&before, p)
		return
	}
	vacancy := c.vacancy()
	if before.Held() {
		vacancy = Event{VacancyKnown: !c.gap}
	}
	a.reset = a.reset && !before.semaphore() // which is always written so
	c.release(Loss{
		Deleted: a.remade && !a.replayed, Replaced: a.replayed,
		HeldIndex: before.ModifyIndex, KeyIndex: lossIndex(&before, p),
	})
	if a.remade && !a.replayed {
		c.record(Event{Type: Deleted})
	}
	c.settle(p, a, vacancy)
}

// release records that whoever held the key holds it no longer: a leader, or the
// holders of a semaphore.
func (c *change) release(l Loss) {
	switch {
	case c.e.Pair.Held():
		c.vacate(l)
	case c.e.Pair.semaphore():
		c.exchange(&c.e.Pair, &Pair{})
		c.e.VacantSince, c.e.VacantSinceKnown = c.at, !c.gap
	}
}

// settle takes over a pair while no term lasts, and begins what it shows.
func (c *change) settle(p *Pair, a advance, vacancy Event) {
	c.t.replacePair(c.e, p)
	c.restored = a.replayed
	c.e.Term = p.LockIndex
	if p.semaphore() {
		c.e.VacantSince, c.e.VacantSinceKnown = time.Time{}, false
		c.e.LockDelayUntil, c.e.LockDelayDoubtful = time.Time{}, false
		c.exchange(&Pair{}, p)
		return
	}
	// After a gap the restart may as well come from a restored snapshot.
	if a.reset && (!p.Held() || p.LockIndex > 0) && (!c.gap || p.LockIndex == 0) {
		c.record(Event{Type: Overwritten})
	}
	if a.counted {
		c.missed(p, a.from)
	}
	if p.Held() {
		c.elect(p, vacancy)
	}
}

// hold records a write to a key that stays with its holder.
func (c *change) hold(p *Pair, written bool) {
	old := c.e.Pair
	c.t.replacePair(c.e, p)
	if label := LeaderLabel(c.e.Pair, c.e.Session); label != c.e.Leader {
		c.e.Leader = label
		if term := c.lastTerm(); term != nil {
			term.Leader = label
		}
	}
	switch {
	case old.LockIndex > 0 && p.LockIndex == 0 && written:
		c.record(Event{Type: Overwritten})
	case !p.sameContent(&old):
		c.record(Event{Type: Updated})
	}
}

// lastTerm is the latest term, nil if there is none, to be written.
func (c *change) lastTerm() *Term {
	last := len(c.e.Terms) - 1
	if last < 0 {
		return nil
	}
	if !c.ownTerms {
		// Whoever writes the last term often begins another one.
		c.e.Terms = append(make([]Term, 0, last+2), c.e.Terms...)
		c.ownTerms = true
	}
	return &c.e.Terms[last]
}

// missed reports the terms that began and ended between two reads: LockIndex
// counts them and the one that lasts now.
func (c *change) missed(p *Pair, from uint64) {
	to := p.LockIndex
	if p.Held() && to > 0 {
		to--
	}
	if to > from {
		c.record(Event{Type: Missed, Count: to - from})
	}
}

// vacancy says how long there was no leader until now.
func (c *change) vacancy() Event {
	if c.e.VacantSince.IsZero() || !c.e.VacantSinceKnown || c.gap {
		return Event{}
	}
	return Event{VacancyKnown: true, Vacancy: max(0, c.at.Sub(c.e.VacantSince))}
}

// begin makes p's holder the leader, without an event.
func (c *change) begin(p *Pair, known bool) {
	s := c.t.sessions[p.Session]
	c.t.replacePair(c.e, p)
	c.e.Session, c.e.Leader, c.e.Term = s, LeaderLabel(*p, s), p.LockIndex
	c.e.Since, c.e.SinceKnown = c.at, known
	c.e.VacantSince, c.e.VacantSinceKnown = time.Time{}, false
	c.e.LockDelayUntil, c.e.LockDelayDoubtful = time.Time{}, false
	term := Term{
		Number: p.LockIndex, CreateIndex: p.CreateIndex, Session: p.Session,
		Leader: c.e.Leader, Start: c.at, StartKnown: known,
	}
	if s != nil {
		term.Node = s.Node
	} else {
		c.t.unread[p.Session]++
	}
	if len(c.e.Terms) == 0 {
		c.e.Terms = c.t.firstTerm(term)
	} else {
		c.e.Terms = appendKept(c.e.Terms, term, c.t.keep)
	}
}

func (c *change) elect(p *Pair, vacancy Event) {
	c.begin(p, !c.gap)
	c.record(Event{Type: Elected, Vacancy: vacancy.Vacancy, VacancyKnown: vacancy.VacancyKnown})
	if p.LockIndex == 0 {
		c.record(Event{Type: Overwritten})
	}
}

// vacate ends the current term and asks for its cause.
func (c *change) vacate(l Loss) {
	l.Session, l.Gap = c.e.Session, c.gap
	ended := c.endTerm()
	event := c.record(Event{
		Type: Vacated, Held: ended.Held(c.at), HeldKnown: ended.HeldKnown() && !c.gap, SeenUntil: ended.SeenUntil,
	})
	c.t.awaitCause(event, l)
	if c.e.Session == nil {
		c.t.unreadLost(c.e.Pair.Session)
	}
	c.e.LastSession = c.e.Session
	c.e.Leader, c.e.Session = "", nil
	c.e.Since, c.e.SinceKnown = time.Time{}, false
	c.e.VacantSince, c.e.VacantSinceKnown = c.at, !c.gap
	c.e.LockDelayUntil, c.e.LockDelayDoubtful = time.Time{}, false
}

// endTerm ends the latest term. After a gap it lasted until the last moment of
// which something is known, or longer.
func (c *change) endTerm() Term {
	term := c.lastTerm()
	if term == nil {
		return Term{}
	}
	term.End = c.at
	if c.gap {
		term.SeenUntil = term.Start
		if c.until.After(term.Start) && !c.until.After(c.at) {
			term.SeenUntil = c.until
		}
	}
	return *term
}

// record emits an event about the election as it stands in c and adds it to
// the election's own list.
func (c *change) record(e Event) Event {
	emitted := c.t.emit(c.describe(e))
	if len(c.e.Events) == 0 {
		c.e.Events = emitted
	} else {
		c.e.Events = appendKept(c.e.Events, emitted[0], c.t.keep)
	}
	return emitted[0]
}

// describe completes an event with the election as it stands in c.
func (c *change) describe(e Event) Event {
	e.Time, e.Election, e.Key, e.Datacenter = c.at, c.e.Name, c.e.Key(), c.t.datacenter
	e.Term, e.CreateIndex, e.ModifyIndex = c.e.Term, c.e.Pair.CreateIndex, c.e.Pair.ModifyIndex
	e.Gap, e.Restored = c.gap, c.restored
	if c.e.Leader != "" {
		e.Leader, e.Session = c.e.Leader, c.e.Pair.Session
		if c.e.Session != nil {
			e.Node = c.e.Session.Node
		}
	}
	return e
}
