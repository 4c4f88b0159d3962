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
	DestroySession(ctx context.Context, t election.Target) insight.Outcome
}

// Answered is the message with the outcomes of one command.
type Answered []answer

type answer struct {
	of      *action
	outcome insight.Outcome
}

// actionTime is the timeout of one command.
const actionTime = 10 * time.Second

// runner creates the command for a group of actions: one release, one fix, or the destroy of one session.
type runner func(group batch) tea.Cmd

// newRunner returns a runner that calls op. Each command ends when ctx is cancelled or after actionTime.
func newRunner(ctx context.Context, op Operator) runner {
	return func(group batch) tea.Cmd {
		claimed := group[0].claimed
		targets := make([]election.Target, 0, len(group))
		for _, a := range group {
			targets = append(targets, a.Target)
		}
		return func() tea.Msg {
			defer crash.Recover() // ui.Run cannot guard the commands of a tea.Sequence
			if !claimed.CompareAndSwap(false, true) {
				return nil
			}
			ctx, cancel := context.WithTimeout(ctx, actionTime)
			defer cancel()
			msg := make(Answered, 0, len(group))
			for i, outcome := range actOnce(ctx, group[0].call(op), targets) {
				msg = append(msg, answer{of: group[i], outcome: outcome})
			}
			return msg
		}
	}
}

// call returns the function that executes the action on a hold.
func (a *action) call(op Operator) func(context.Context, election.Target) insight.Outcome {
	switch {
	case a.apply != nil:
		return func(ctx context.Context, _ election.Target) insight.Outcome { return a.apply(ctx) }
	case a.Action == election.ActionDestroy:
		return op.DestroySession
	}
	return op.Release
}

// actOnce executes an action once and returns an outcome for each hold. If a hold has changed, it tries the next
// hold.
func actOnce(ctx context.Context, do func(context.Context, election.Target) insight.Outcome, targets []election.Target) []insight.Outcome {
	outcomes := make([]insight.Outcome, 0, len(targets))
	var last insight.Outcome
	for i, t := range targets {
		if i == 0 || last.Kind == insight.OutcomeChanged {
			last = do(ctx, t)
		}
		outcomes = append(outcomes, last)
	}
	return outcomes
}
