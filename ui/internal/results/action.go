package results

import (
	"sync/atomic"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// action is one operator's action of this run and what became of it.
type action struct {
	insight.Outcome
	name string    // of the election or the session, safe to show
	at   time.Time // when the user confirmed it
	done time.Time // when its outcome came, zero before
	// over says that nothing more is awaited.
	over bool
	// claimed is shared by the actions that one command carries out. The first to
	// set it is that command, or the end of the program: then it never starts.
	claimed *atomic.Bool
}

// batch are the actions that were confirmed in one dialog.
type batch []*action

// actionLimit is how many actions are kept. The oldest batches go first.
const actionLimit = 2000

// nextLeaderTime is how long a next leader is awaited: the longest lock-delay
// and time for a candidate to retry.
const nextLeaderTime = election.MaxLockDelay + 30*time.Second

// newBatch notes actions that the user confirmed.
func newBatch(kind election.ActionKind, targets []scene.Target, now time.Time) batch {
	b := make(batch, 0, len(targets))
	for _, t := range targets {
		b = append(b, &action{Outcome: insight.Outcome{Action: kind, Target: t.Target}, name: t.Title(), at: now, claimed: new(atomic.Bool)})
	}
	for _, group := range b.groups() {
		for _, a := range group {
			a.claimed = group[0].claimed
		}
	}
	return b
}

// waiting counts the actions whose end is not known.
func (b batch) waiting() int {
	n := 0
	for _, a := range b {
		if !a.over {
			n++
		}
	}
	return n
}

// groups splits a batch into what one command carries out: a release, or the
// destroy of a session, which is one for all of its elections.
func (b batch) groups() []batch {
	var groups []batch
	of := map[string]int{}
	for _, a := range b {
		i, found := of[a.Target.Session]
		if !found || a.Action != election.ActionDestroy {
			i = len(groups)
			of[a.Target.Session], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], a)
	}
	return groups
}

// answered takes what the operator reports. Nothing follows the destroy of a
// session without an election.
func (a *action) answered(o insight.Outcome, now time.Time) {
	o.Action, o.Target = a.Action, a.Target
	a.Outcome, a.done = o, now
	a.over = o.Settled() || o.Target.Key == ""
}

// follow looks for the next leader and reports whether this ended the action.
func (a *action) follow(live *election.Snapshot, now time.Time) bool {
	if a.done.IsZero() || a.over {
		return false
	}
	e := live.Find(a.Target.Key)
	next := a.Follow(e)
	a.over = next.Settled()
	if _, stale := live.StaleSince(a.Target.Key); !a.over && now.Sub(a.done) > nextLeaderTime && !stale {
		a.over = true
		if next.Kind == insight.OutcomeDone && (e == nil || !e.Exists || !e.Pair.Held()) {
			next.Kind, next.Reason = insight.OutcomeVacant, "none within "+term.Duration(nextLeaderTime)
		}
	}
	a.Outcome = next
	return a.over
}
