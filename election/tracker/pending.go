package tracker

import (
	"slices"
	"time"

	"electop/election"
)

// explainWithin is the maximum time from a vacated event to its explained event.
const explainWithin = time.Second

// pendingEnd is a term that ended and whose cause is not known yet.
type pendingEnd struct {
	election.Event
	loss     Loss
	deadline time.Time
	evidence *election.Evidence
	done     bool
}

func (p *pendingEnd) id() termID {
	return termID{key: p.Key, createIndex: p.CreateIndex, number: p.Term, session: p.Session}
}

// Deadline returns the time at which the tracker needs the next [election.Clock] observation to explain a term whose
// evidence is missing, or to continue without the history.
func (t *Tracker) Deadline() (at time.Time, ok bool) {
	if w := t.waiting; w != nil {
		return w.until, !w.until.IsZero()
	}
	if p := t.oldestEnd(); p != nil {
		return p.deadline, true
	}
	return time.Time{}, false
}

// oldestEnd returns the oldest end without a cause, or nil if every end has a cause.
func (t *Tracker) oldestEnd() *pendingEnd {
	for len(t.ends) > 0 && t.ends[0].done {
		t.ends = t.ends[1:]
	}
	if len(t.ends) == 0 {
		t.ends = nil // release the memory of the list
		return nil
	}
	return t.ends[0]
}

func (t *Tracker) awaitCause(event election.Event, l Loss) {
	p := &pendingEnd{Event: event, loss: l, deadline: event.Time.Add(explainWithin)}
	if old := t.pending[p.id()]; old != nil {
		old.done = true
	}
	t.pending[p.id()] = p
	t.ends = append(t.ends, p)
}

func (t *Tracker) termEvidence(o election.TermEvidence) {
	p := t.pending[(&pendingEnd{Event: o.Event}).id()]
	if p == nil {
		return
	}
	p.evidence = &o.Outcome
	t.explainIfKnown(p, wall(o.At))
}

// explainIfKnown explains an end if its cause is known and no action in progress may be the cause.
func (t *Tracker) explainIfKnown(p *pendingEnd, at time.Time) {
	switch a := t.actionOn(p); {
	case a != nil && a.Stage == election.ActionDone:
		done := *a
		t.explain(p, at, done.explanation())
		if done.Kind == election.ActionRelease {
			t.forgetAction(done)
		}
	case a == nil && p.evidence != nil:
		t.explain(p, at, Explain(p.loss, *p.evidence))
	}
}

// explainOverdue explains the ends whose deadline has passed. It uses the evidence that is available.
func (t *Tracker) explainOverdue(at time.Time) {
	for p := t.oldestEnd(); p != nil && !at.Before(p.deadline); p = t.oldestEnd() {
		if p.evidence == nil {
			p.evidence = &election.Evidence{Err: "Consul did not respond within " + explainWithin.String()}
		}
		t.explain(p, at, Explain(p.loss, *p.evidence))
	}
}

// explain emits the explained event and stores the cause in the term.
func (t *Tracker) explain(p *pendingEnd, at time.Time, x Explanation) {
	p.done = true
	delete(t.pending, p.id())
	event := p.Event
	if at.Before(event.Time) {
		at = event.Time // the tracker receives an action of this process before the read of its effect
	}
	event.Time, event.Type, event.Held, event.HeldKnown = at, election.Explained, 0, false
	event.Cause, event.Evidence, event.Guess, event.By = x.Cause, x.Evidence, x.Guess, x.By
	i := t.search(event.Key)
	if t.Find(event.Key) == nil {
		t.emit(event)
		return
	}
	e := *t.elections[i]
	if until := lockDelayUntil(p, x, &e); !until.IsZero() {
		// After a gap, the end of the term and the end of the lock-delay are unknown.
		event.LockDelayUntil, e.LockDelayUntil, e.LockDelayDoubtful = until, until, x.Doubtful || p.loss.Gap
	}
	completeTerm(&e, p.id(), x)
	t.emit(event)
	e.Events = appendKept(e.Events, event, t.keep())
	t.set(i, &e)
}

func completeTerm(e *election.Election, id termID, x Explanation) {
	for i := len(e.Terms) - 1; i >= 0; i-- {
		term := &e.Terms[i]
		if term.Number == id.number && term.CreateIndex == id.createIndex && term.Session == id.session {
			e.Terms = slices.Clone(e.Terms)
			e.Terms[i].Cause, e.Terms[i].Evidence, e.Terms[i].Guess, e.Terms[i].By = x.Cause, x.Evidence, x.Guess, x.By
			return
		}
	}
}

// termID identifies a term across all keys.
type termID struct {
	key         string
	createIndex uint64
	number      uint64
	session     string
}
