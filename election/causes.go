package election

import (
	"slices"
	"time"
)

const (
	// explainWithin is how long a vacated event may wait for its cause.
	explainWithin = time.Second
	// actionMemory is how long an operator's action can explain a loss.
	actionMemory = 30 * time.Second
)

// pendingEnd is a term that ended and whose cause is being looked for.
type pendingEnd struct {
	event    Event
	session  *Session
	deleted  bool
	deadline time.Time
	evidence *Evidence
	done     bool
}

func (p *pendingEnd) id() termID {
	return termID{key: p.event.Key, createIndex: p.event.CreateIndex, number: p.event.Term, session: p.event.Session}
}

// Deadline is when a [Clock] observation is needed next, so that an explanation
// does not wait for evidence for ever.
func (t *Tracker) Deadline() (at time.Time, ok bool) {
	if p := t.oldestEnd(); p != nil {
		return p.deadline, true
	}
	return time.Time{}, false
}

// oldestEnd is the end that has waited longest for its cause, nil if none waits.
func (t *Tracker) oldestEnd() *pendingEnd {
	for len(t.ends) > 0 && t.ends[0].done {
		t.ends = t.ends[1:]
	}
	if len(t.ends) == 0 {
		t.ends = nil // what was explained need not be kept
		return nil
	}
	return t.ends[0]
}

func (t *Tracker) awaitCause(event Event, s *Session, deleted bool) {
	p := &pendingEnd{event: event, session: s, deleted: deleted, deadline: event.Time.Add(explainWithin)}
	if old := t.pending[p.id()]; old != nil {
		old.done = true
	}
	t.pending[p.id()] = p
	t.ends = append(t.ends, p)
}

func (t *Tracker) termEvidence(o TermEvidence) {
	p := t.pending[(&pendingEnd{event: o.Event}).id()]
	if p == nil {
		return
	}
	p.evidence = &o.Outcome
	t.explainIfKnown(p, o.At)
}

func (t *Tracker) operatorAction(o OperatorAction) {
	t.actions = slices.DeleteFunc(t.actions, func(a OperatorAction) bool {
		return a.Kind == o.Kind && a.Key == o.Key && a.Session == o.Session || o.At.Sub(a.At) > actionMemory
	})
	if o.Stage != ActionFailed {
		t.actions = append(t.actions, o)
	}
	for _, p := range t.ends {
		if !p.done {
			t.explainIfKnown(p, o.At)
		}
	}
}

// actionOn finds what this program did to the hold that ended.
func (t *Tracker) actionOn(p *pendingEnd) *OperatorAction {
	for i := range t.actions {
		a := &t.actions[i]
		if a.Session == p.event.Session && (a.Key == "" || a.Key == p.event.Key) {
			return a
		}
	}
	return nil
}

// explainIfKnown tells the cause unless something that decides it is under way.
func (t *Tracker) explainIfKnown(p *pendingEnd, at time.Time) {
	switch a := t.actionOn(p); {
	case a != nil && a.Stage == ActionDone:
		t.explain(p, at, actionExplanation(a))
		if a.Kind == ActionRelease {
			t.forgetAction(*a)
		}
	case a == nil && p.evidence != nil:
		t.explain(p, at, Explain(p.session, p.deleted, *p.evidence))
	}
}

func (t *Tracker) forgetAction(done OperatorAction) {
	t.actions = slices.DeleteFunc(t.actions, func(a OperatorAction) bool { return a == done })
}

func actionExplanation(a *OperatorAction) Explanation {
	if a.Kind == ActionRelease {
		return Explanation{Cause: OperatorRelease, Evidence: "released with electop"}
	}
	return Explanation{Cause: OperatorDestroy, Evidence: "the session was destroyed with electop", Invalidated: true}
}

// explainOverdue tells what is known of ends that have waited long enough.
func (t *Tracker) explainOverdue(at time.Time) {
	for p := t.oldestEnd(); p != nil && !at.Before(p.deadline); p = t.oldestEnd() {
		if p.evidence == nil {
			p.evidence = &Evidence{Err: "Consul did not answer within " + explainWithin.String()}
		}
		t.explain(p, at, Explain(p.session, p.deleted, *p.evidence))
	}
}

// explain emits the explained event and completes the term that ended.
func (t *Tracker) explain(p *pendingEnd, at time.Time, x Explanation) {
	p.done = true
	delete(t.pending, p.id())
	event := p.event
	if at.Before(event.Time) {
		at = event.Time // what this program did was noted before its effect was read
	}
	event.Time, event.Type, event.Held, event.HeldKnown = at, Explained, 0, false
	event.Cause, event.Evidence = x.Cause, x.Evidence
	i := t.search(event.Key)
	if i == len(t.elections) || t.elections[i].Key() != event.Key {
		t.emit(event)
		return
	}
	e := *t.elections[i]
	if x.Invalidated && p.session != nil && p.session.LockDelay > 0 && e.State(at) != Led {
		until := p.event.Time.Add(p.session.EnforcedLockDelay())
		event.LockDelayUntil, e.LockDelayUntil, e.LockDelayDoubtful = until, until, x.Doubtful
	}
	completeTerm(&e, p.id(), x)
	t.emit(event)
	e.Events = appendKept(e.Events, event)
	t.set(i, &e)
}

func completeTerm(e *Election, id termID, x Explanation) {
	for i := len(e.Terms) - 1; i >= 0; i-- {
		term := &e.Terms[i]
		if term.Number == id.number && term.CreateIndex == id.createIndex && term.Session == id.session {
			e.Terms = slices.Clone(e.Terms)
			e.Terms[i].Cause, e.Terms[i].Evidence = x.Cause, x.Evidence
			return
		}
	}
}
