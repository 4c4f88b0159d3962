package tracker

import (
	"slices"
	"strings"
	"time"

	"electop/election"
)

// actionMemory is how long an operator's action can explain a loss. An observer reports every change within 30 s.
const actionMemory = 30 * time.Second

// ownAction is an operator's action on a hold, by this or another electop process.
type ownAction struct {
	election.OperatorAction
	// began is the time at which the action started, or zero if unknown. An action cannot end a term whose end was
	// observed before began.
	began time.Time
}

func (t *Tracker) operatorAction(o election.OperatorAction) {
	o.At = wall(o.At)
	a := ownAction{OperatorAction: o}
	if o.Stage == election.ActionDone && t.attribute(a) {
		return
	}
	if o.Stage == election.ActionStarted {
		a.began = o.At
	}
	t.actions = slices.DeleteFunc(t.actions, func(before ownAction) bool {
		if before.Kind != o.Kind || before.Key != o.Key || before.Session != o.Session {
			return false
		}
		if o.Stage != election.ActionStarted {
			a.began = before.began
		}
		return true
	})
	if o.Stage != election.ActionFailed {
		t.actions = append(t.actions, a)
	}
	for _, p := range t.ends {
		if !p.done {
			t.explainIfKnown(p, o.At)
		}
	}
}

// attribute replaces the causes of terms that were explained before the tracker received the result of an action, for
// example of another process. It reports whether it replaced a cause.
func (t *Tracker) attribute(a ownAction) (explained bool) {
	for _, e := range t.elections {
		for _, x := range e.Terms {
			if x.Cause == "" || a.At.Sub(x.End) > actionMemory || !a.Kind.Explains(x.Cause, x.Guess) {
				continue
			}
			p := pendingEnd{Event: election.Event{Time: x.End, Election: e.Name, Key: e.Key(), Datacenter: t.datacenter, Term: x.Number, CreateIndex: x.CreateIndex, Leader: x.Leader, Session: x.Session, Node: x.Node}}
			if s := e.LastSession; s != nil && s.ID == x.Session {
				p.loss.Session, p.loss.Gap = s, !x.SeenUntil.IsZero()
			}
			if a.ends(&p) {
				t.explain(&p, a.At, a.explanation())
				explained = true
			}
		}
	}
	return explained
}

// ends reports whether the action can have ended a term: it targets this hold, and it started before the end was
// observed.
func (a *ownAction) ends(p *pendingEnd) bool {
	switch {
	case !strings.EqualFold(a.Session, p.Session) || a.Key != "" && a.Key != p.Key,
		a.CreateIndex != 0 && a.CreateIndex != p.CreateIndex,
		a.LockIndex != 0 && a.LockIndex != p.Term,
		p.Time.Before(a.began):
		return false
	}
	return p.Time.Sub(a.At) <= actionMemory
}

// explanation returns the cause of a loss after this action.
func (a *ownAction) explanation() Explanation {
	x := Explanation{Cause: election.OperatorRelease, Evidence: "released with electop", By: election.Label(a.By)}
	if a.Kind == election.ActionDestroy {
		x.Cause, x.Evidence, x.Invalidated = election.OperatorDestroy, "the session was destroyed with electop", true
	}
	if x.By != "" {
		x.Evidence += " by " + x.By
	}
	if strings.HasPrefix(a.Detail, election.DrainOf) || strings.HasPrefix(a.Detail, election.FixOf) {
		x.Evidence += ", " + election.Label(a.Detail)
	}
	return x
}
