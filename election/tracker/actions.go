package tracker

import (
	"slices"
	"time"

	"electop/election"
)

// actionMemory is how long an operator's action can explain a loss. A write times
// out after 15 s; a change that it caused is observed within 30 s at the latest.
const actionMemory = 30 * time.Second

// ownAction is what this program does or did to a hold.
type ownAction struct {
	election.OperatorAction
	// began is when the action started, zero if that was not told: it ended no
	// term whose end was observed before.
	began time.Time
	// spent says that it has explained a loss before Consul confirmed it.
	spent bool
}

func (t *Tracker) operatorAction(o election.OperatorAction) {
	o.At = wall(o.At)
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

// expireActions forgets actions that are too old to explain a loss.
func (t *Tracker) expireActions(at time.Time) {
	if len(t.actions) > 0 {
		t.actions = slices.DeleteFunc(t.actions, func(a ownAction) bool { return at.Sub(a.At) > actionMemory })
	}
}

func (t *Tracker) forgetAction(a ownAction) {
	t.actions = slices.DeleteFunc(t.actions, func(b ownAction) bool { return a == b })
}

// ends reports that the action can have ended a term: the very hold that it was
// bound to, and not one that ended before it began.
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

// actionOn finds what this program did to the hold that ended.
func (t *Tracker) actionOn(p *pendingEnd) *ownAction {
	for i := range t.actions {
		if t.actions[i].ends(p) {
			return &t.actions[i]
		}
	}
	return nil
}

// explanation is the cause of a loss that the action led to. One that Consul has
// not confirmed is only a guess, and none where the evidence says otherwise.
func (a *ownAction) explanation(found Explanation) Explanation {
	x := Explanation{Cause: election.OperatorRelease, Evidence: "released with electop"}
	if a.Kind == election.ActionDestroy {
		x = Explanation{Cause: election.OperatorDestroy, Evidence: "the session was destroyed with electop", Invalidated: true}
	}
	if a.Stage == election.ActionDone {
		return x
	}
	if possible := found.Cause == election.Unknown || found.Invalidated == x.Invalidated; !possible {
		return found
	}
	x.Guess, x.Doubtful = true, x.Invalidated
	x.Evidence += "; a guess: Consul has not confirmed that yet"
	return x
}
