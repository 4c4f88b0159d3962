package election

import (
	"slices"
	"time"
)

// change is one election being moved from what was known to what was read.
type change struct {
	t   *Tracker
	at  time.Time
	gap bool // the link was broken in between: moments are not known
	e   *Election
	// ownTerms says that no snapshot shows e.Terms.
	ownTerms bool
}

// changeOf begins to change an election, which gives a new one.
func (t *Tracker) changeOf(e *Election, o *KeysRead) change {
	changed := *e
	return change{t: t, at: o.At, gap: o.AfterGap, e: &changed}
}

func (t *Tracker) foldNew(name string, p *Pair, o *KeysRead) *Election {
	c := change{
		t: t, at: o.At, gap: o.AfterGap, ownTerms: true,
		e: &Election{Name: name, Datacenter: t.datacenter, Exists: true, Pair: *p},
	}
	if t.covered.contains(p.Key) {
		c.appear(p)
	} else {
		c.found(p)
	}
	return c.e
}

// found records the state in which an election was when first looked at.
func (c *change) found(p *Pair) {
	if p.Held() {
		c.begin(p, false)
		c.record(Event{Type: Elected, Initial: true})
		return
	}
	c.e.Term = p.LockIndex
	c.e.VacantSince = c.at
	c.record(Event{Type: Vacated, Initial: true})
}

// appear records a key that did not exist when its range was read before.
func (c *change) appear(p *Pair) {
	c.e.VacantSince, c.e.VacantSinceKnown = c.at, !c.gap
	c.e.Term = p.LockIndex
	c.missed(p, 0)
	if p.Held() {
		c.elect(p, Event{})
	}
}

func (t *Tracker) foldAbsent(e *Election, o *KeysRead) *Election {
	if !e.Exists {
		return e
	}
	if _, hidden := slices.BinarySearch(o.Hidden, e.Key()); hidden {
		if e.Unreadable {
			return e
		}
		hidden := *e
		hidden.Unreadable = true
		return &hidden
	}
	c := t.changeOf(e, o)
	c.e.Exists, c.e.Unreadable = false, false
	if e.Pair.Held() {
		c.vacate(true)
	}
	c.record(Event{Type: Deleted})
	return c.e
}

func (t *Tracker) foldPresent(e *Election, p *Pair, o *KeysRead) *Election {
	if e.Exists && e.Pair.identical(p) {
		if !e.Unreadable {
			return e
		}
		readable := *e
		readable.Unreadable = false
		return &readable
	}
	c := t.changeOf(e, o)
	c.e.Unreadable = false
	if !e.Exists {
		c.e.Exists, c.e.Pair = true, *p
		c.e.Term = p.LockIndex
		c.missed(p, 0)
		if p.Held() {
			c.elect(p, c.vacancy())
		}
		return c.e
	}
	c.move(p)
	return c.e
}

// move follows the rules of LockIndex: it grows by one with each term of one
// CreateIndex, and a write without the lock sets it to 0.
func (c *change) move(p *Pair) {
	before := c.e.Pair
	old := &before
	remade := p.CreateIndex != old.CreateIndex
	// Indexes that went back mean that Consul's data was restored from an older
	// state: then counting says nothing.
	rewound := p.ModifyIndex < old.ModifyIndex
	if !remade && continues(old, p) {
		c.hold(p, !rewound)
		return
	}
	reset := !remade && !rewound && counterReset(old, p)
	vacancy := c.vacancy()
	if old.Held() {
		c.vacate(remade && !rewound)
		vacancy = Event{VacancyKnown: !c.gap}
	}
	if remade && !rewound {
		c.record(Event{Type: Deleted})
	}
	c.e.Pair = *p
	c.e.Term = p.LockIndex
	if reset && (!p.Held() || p.LockIndex > 0) {
		c.record(Event{Type: Overwritten})
	}
	if !rewound {
		c.missed(p, countedBefore(old, remade || reset))
	}
	if p.Held() {
		c.elect(p, vacancy)
	}
}

// continues reports whether both reads show one term.
func continues(old, p *Pair) bool {
	return old.Held() && p.Session == old.Session && (p.LockIndex == old.LockIndex || p.LockIndex == 0)
}

// counterReset reports whether somebody wrote the key without the lock between
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

func countedBefore(old *Pair, restarted bool) uint64 {
	if restarted {
		return 0
	}
	return old.LockIndex
}

// hold records a write to a key that stays with its holder.
func (c *change) hold(p *Pair, counts bool) {
	old := c.e.Pair
	c.e.Pair = *p
	if label := LeaderLabel(c.e.Pair, c.e.Session); label != c.e.Leader {
		c.e.Leader = label
		if term := c.lastTerm(); term != nil {
			term.Leader = label
		}
	}
	switch {
	case old.LockIndex > 0 && p.LockIndex == 0 && counts:
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

// missed reports terms that passed between two reads: LockIndex counts them,
// but for the one that is seen now.
func (c *change) missed(p *Pair, before uint64) {
	after := p.LockIndex
	if p.Held() && after > 0 {
		after--
	}
	if after > before {
		c.record(Event{Type: Missed, Count: after - before})
	}
}

// vacancy describes how long nobody led until now.
func (c *change) vacancy() Event {
	if c.e.VacantSince.IsZero() || !c.e.VacantSinceKnown || c.gap {
		return Event{}
	}
	return Event{VacancyKnown: true, Vacancy: c.at.Sub(c.e.VacantSince)}
}

// begin makes p's holder the leader, without an event.
func (c *change) begin(p *Pair, known bool) {
	s := c.t.sessions[p.Session]
	c.e.Pair, c.e.Session, c.e.Leader, c.e.Term = *p, s, LeaderLabel(*p, s), p.LockIndex
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
		c.e.Terms = appendKept(c.e.Terms, term)
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
func (c *change) vacate(deleted bool) {
	var ended Term
	if term := c.lastTerm(); term != nil {
		term.End = c.at
		if c.gap {
			term.SeenUntil = c.t.seenUntil
		}
		ended = *term
	}
	event := c.record(Event{
		Type: Vacated, Held: ended.Held(c.at), HeldKnown: ended.HeldKnown() && !c.gap,
	})
	c.t.awaitCause(event, c.e.Session, deleted)
	if c.e.Session == nil {
		c.t.unreadLost(c.e.Pair.Session)
	}
	c.e.LastSession = c.e.Session
	c.e.Leader, c.e.Session = "", nil
	c.e.Since, c.e.SinceKnown = time.Time{}, false
	c.e.VacantSince, c.e.VacantSinceKnown = c.at, !c.gap
	c.e.LockDelayUntil, c.e.LockDelayDoubtful = time.Time{}, false
}

// record emits an event about the election as it stands in c and adds it to
// the election's own list.
func (c *change) record(e Event) Event {
	e.Time, e.Election, e.Key, e.Datacenter = c.at, c.e.Name, c.e.Key(), c.t.datacenter
	e.Term, e.CreateIndex = c.e.Term, c.e.Pair.CreateIndex
	if c.e.Leader != "" {
		e.Leader, e.Session = c.e.Leader, c.e.Pair.Session
		if c.e.Session != nil {
			e.Node = c.e.Session.Node
		}
	}
	emitted := c.t.emit(e)
	if len(c.e.Events) == 0 {
		c.e.Events = emitted
	} else {
		c.e.Events = appendKept(c.e.Events, emitted[0])
	}
	return emitted[0]
}
