package results

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/internal/crash"
)

// Operator executes actions. A method does nothing if the hold in the target has changed.
type Operator interface {
	// Release unlocks the key. It keeps the value, the flags and the session.
	Release(ctx context.Context, t election.Target) insight.Outcome
	// DestroySession destroys the session and ends all its holds.
	DestroySession(ctx context.Context, d election.Destroy) insight.Outcome
}

// Answered is the message with the outcomes of one command.
type Answered []answer

type answer struct {
	of      *action
	outcome insight.Outcome
}

// actionTime is the timeout of one command. A destroy searches the whole store first.
const (
	actionTime  = 10 * time.Second
	destroyTime = 3 * time.Minute
)

// runner creates the command for a group of actions: one release, or the destroy of one session.
type runner func(group batch) tea.Cmd

// newRunner returns a runner that calls op. Each command ends when ctx is cancelled or after its timeout. The actions of
// a group share one call and its outcome.
func newRunner(ctx context.Context, op Operator) runner {
	return func(group batch) tea.Cmd {
		first := group[0]
		target, shown := first.Target, first.shown
		limit, do := actionTime, func(ctx context.Context) insight.Outcome { return op.Release(ctx, target) }
		if shown.Target = target; first.Action == election.ActionDestroy {
			limit, do = destroyTime, func(ctx context.Context) insight.Outcome { return op.DestroySession(ctx, shown) }
		}
		return func() tea.Msg {
			defer crash.Recover() // ui.Run cannot guard the commands of a tea.Sequence
			if !first.claimed.CompareAndSwap(false, true) {
				return nil
			}
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			outcome := do(ctx)
			msg := make(Answered, 0, len(group))
			for _, a := range group {
				msg = append(msg, answer{of: a, outcome: outcome})
			}
			return msg
		}
	}
}
