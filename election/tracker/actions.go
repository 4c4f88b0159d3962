package tracker

import (
	"slices"
	"time"

	"electop/election"
	"electop/election/sanitize"
)

// actionMemory is how long an operator's action can explain a loss. An observer reports every change within 30 s.
const actionMemory = 30 * time.Second

// ownAction is an operator's action on a hold, by this or another electop process.
type ownAction struct {
	election.OperatorAction
	// began is the time at which the action started, or zero if unknown. An action cannot end a term whose end was
	// observed before began.
	began time.Time
	// spent is set once an unconfirmed action has explained a loss.
	spent bool
}

func (t *Tracker) operatorAction(o election.OperatorAction) {
	o.At = wall(o.At)
	if o.By != "" && o.Stage == election.ActionDone && t.attribute(ownAction{OperatorAction: o}) {
		return
	}
	a := ownAction{OperatorAction: o}
	if o.Stage == election.ActionStarted {
		a.began = o.At
	}
	t.actions = slices.DeleteFunc(t.actions, func(before ownAction) bool {
		if before.Kind != o.Kind || before.Key != o.Key || before.Session != o.Session {
			return false
		}
		if o.Stage != election.ActionStarted {
			a.began, a.spent = before.began, before.spent && o.Kind == election.ActionRelease
		}
		return true
	})
	if o.Stage != election.ActionFailed && !a.spent {
		t.actions = append(t.actions, a)
	}
	for _, p := range t.ends {
		if !p.done {
			t.explainIfKnown(p, o.At)
		}
	}
}

// attribute replaces the causes of terms that ended before the tracker received another process's action. It reports
// whether it replaced a cause.
func (t *Tracker) attribute(a ownAction) (explained bool) {
	for _, e := range t.elections {
		for _, x := range e.Terms {
			if x.Session != a.Session || x.Cause == "" || a.At.Sub(x.End) > actionMemory || !a.Kind.Explains(x.Cause, x.Guess) {
				continue
			}
			p := pendingEnd{event: election.Event{Time: x.End, Election: e.Name, Key: e.Key(), Term: x.Number, CreateIndex: x.CreateIndex}}
			p.event.Leader, p.event.Session, p.event.Node = x.Leader, x.Session, x.Node
			if a.ends(&p) {
				t.explain(&p, a.At, a.explanation(Explanation{}))
				explained = true
			}
		}
	}
	return explained
}

// expireActions removes actions that are too old to explain a loss.
func (t *Tracker) expireActions(at time.Time) {
	if len(t.actions) > 0 {
		t.actions = slices.DeleteFunc(t.actions, func(a ownAction) bool { return at.Sub(a.At) > actionMemory })
	}
}

func (t *Tracker) forgetAction(a ownAction) {
	t.actions = slices.DeleteFunc(t.actions, func(b ownAction) bool { return a == b })
}

// ends reports whether the action can have ended a term: it targets this hold, and it started before the end was
// observed.
func (a *ownAction) ends(p *pendingEnd) bool {
	switch {
	case a.Session != p.event.Session || a.Key != "" && a.Key != p.event.Key,
		a.CreateIndex != 0 && a.CreateIndex != p.event.CreateIndex,
		a.LockIndex != 0 && a.LockIndex != p.event.Term,
		p.event.Time.Before(a.began):
		return false
	}
	return p.event.Time.Sub(a.At) <= actionMemory
}

// actionOn returns the action that can have ended the hold, or nil if there is none.
func (t *Tracker) actionOn(p *pendingEnd) *ownAction {
	for i := range t.actions {
		if t.actions[i].ends(p) {
			return &t.actions[i]
		}
	}
	return nil
}

// explanation returns the cause of a loss after this action. If Consul has not confirmed the action, the cause is a
// guess, and evidence that contradicts the action takes precedence.
func (a *ownAction) explanation(found Explanation) Explanation {
	x := Explanation{Invalidated: a.Kind == election.ActionDestroy, By: sanitize.Line(a.By, election.LabelLength)}
	x.Cause, x.Evidence = a.Kind.Cause(x.By)
	if a.Stage == election.ActionDone {
		return x
	}
	if possible := found.Cause == election.Unknown || found.Invalidated == x.Invalidated; !possible {
		return found
	}
	x.Guess, x.Doubtful = true, x.Invalidated
	x.Evidence += "; a guess: Consul has not confirmed this action"
	return x
}
