package results

import (
	"sync/atomic"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/internal/act"
	"electop/ui/kit"
	"electop/ui/scene"
)

// action is one confirmed action of the operator and its outcome.
type action struct {
	insight.Outcome
	name string    // name of the election or session, sanitized
	at   time.Time // time when the user confirmed the action
	done time.Time // time when the call to Operator returned, or when the drain ended; zero before that
	by   string    // the key or command with which the user chose the targets
	// shown is what the user was shown about a session to destroy.
	shown election.Destroy
	ended time.Time // time when the outcome became final
	// over is set when the outcome is final.
	over bool
	// claimed is shared by the actions of one command. The command sets it at its start. At exit, Unfinished sets it, so
	// that a command that has not started never starts.
	claimed *atomic.Bool
	// drain is the drain of this election, or nil if there is none. step is the state of the election in this drain.
	drain *drainRun
	step  act.Result
}

// batch contains the actions that the user confirmed in one dialog.
type batch []*action

// actionLimit is the maximum number of stored actions. Above this limit, the log drops its oldest batches.
const actionLimit = 2000

// nextLeaderTime is the maximum time to wait for the next leader: the longest lock-delay plus the time that a
// candidate needs to retry.
const nextLeaderTime = election.MaxLockDelay + 30*time.Second

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

func (b batch) waiting() int {
	n := 0
	for _, a := range b {
		if !a.over {
			n++
		}
	}
	return n
}

// groups splits a batch into one group per command. Each release, each destroyed session and each drain has
// one command.
func (b batch) groups() []batch {
	if b[0].drain != nil {
		return []batch{b}
	}
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

// answered stores the outcome that the call returned. For a target without a key, this outcome is final.
func (a *action) answered(o insight.Outcome, now time.Time) {
	o.Action, o.Target = a.Action, a.Target
	a.Outcome, a.done = o, now
	if a.over = o.Settled() || o.Target.Key == ""; a.over {
		a.ended = now
	}
}

// follow looks for the next leader in a snapshot. It reports whether the outcome became final.
func (a *action) follow(live *election.Snapshot, now time.Time) bool {
	if a.done.IsZero() || a.over {
		return false
	}
	e := live.Find(a.Target.ID())
	next := a.Follow(e)
	a.over = next.Settled()
	if _, stale := live.In(a.Target.Datacenter).StaleSince(a.Target.Key); !a.over && now.Sub(a.done) > nextLeaderTime && !stale {
		a.over = true
		if next.Kind == insight.OutcomeDone && (e == nil || !e.Exists || !e.Pair.Held()) {
			next.Kind, next.Reason = insight.OutcomeVacant, "no candidate acquired the key within "+kit.Duration(nextLeaderTime)
		}
	}
	a.Outcome = next
	if a.over {
		a.ended = now
	}
	return a.over
}
