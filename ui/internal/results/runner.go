package results

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
)

// Operator carries out one action on exactly the hold that the target names, or not
// at all. An outcome says whether that was done, and its Reason why not; what follows
// is observed by the dashboard.
type Operator interface {
	// Release unlocks the key; value and flags are kept, the session lives on.
	Release(ctx context.Context, t election.Target) insight.Outcome
	// DestroySession ends the session and every hold of it.
	DestroySession(ctx context.Context, t election.Target) insight.Outcome
}

// Answered is how the actions of one command ended.
type Answered []answer

// answer is the outcome of one action.
type answer struct {
	of      *action
	outcome insight.Outcome
}

// actionTime is how long one action may take.
const actionTime = 10 * time.Second

// runner makes the command that carries out one action, or the destroy of one
// session for several.
type runner func(group batch) tea.Cmd

// newRunner binds the operator to the program's context. Each command has its
// own time limit, so it always ends.
func newRunner(ctx context.Context, op Operator) runner {
	return func(group batch) tea.Cmd {
		kind, claimed := group[0].Action, group[0].claimed
		targets := make([]election.Target, 0, len(group))
		for _, a := range group {
			targets = append(targets, a.Target)
		}
		return func() tea.Msg {
			if !claimed.CompareAndSwap(false, true) {
				return nil
			}
			ctx, cancel := context.WithTimeout(ctx, actionTime)
			defer cancel()
			do := op.Release
			if kind == election.ActionDestroy {
				do = op.DestroySession
			}
			msg := make(Answered, 0, len(group))
			for i, outcome := range actOnce(ctx, do, targets) {
				msg = append(msg, answer{of: group[i], outcome: outcome})
			}
			return msg
		}
	}
}

// actOnce gives an outcome to each of several holds of one session. A hold that
// changed does not save the session from a destroy that is bound to the next one.
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
