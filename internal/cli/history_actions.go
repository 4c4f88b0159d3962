package cli

import (
	"context"
	"slices"
	"time"

	"electop/election"
	"electop/internal/history"
)

const (
	// After a leader was lost, electop polls the actions of the last minute for some seconds, because another process
	// may store its action late.
	actionsEvery  = 500 * time.Millisecond
	actionsFor    = 5 * time.Second
	actionsWithin = time.Minute
)

// sharedActions searches a history for the actions of other processes after a leader was lost. With these actions, the
// observer can report who released the key or destroyed the session. A nil sharedActions finds no actions.
type sharedActions struct {
	source history.Source
	lost   chan struct{}
}

// newSharedActions returns nil if source is nil, because then no history is used.
func newSharedActions(source history.Source) *sharedActions {
	if source == nil {
		return nil
	}
	return &sharedActions{source: source, lost: make(chan struct{}, 1)}
}

// events starts a search if an operator may have caused one of the events. It never blocks.
func (s *sharedActions) events(events []election.Event) {
	if s == nil || !slices.ContainsFunc(events, func(e election.Event) bool {
		return e.Type == election.Explained && (election.ActionRelease.Explains(e.Cause, e.Guess) || election.ActionDestroy.Explains(e.Cause, e.Guess))
	}) {
		return
	}
	select {
	case s.lost <- struct{}{}:
	default:
	}
}

// run performs the searches that events starts, until ctx ends. It calls note for each new action that ended a hold.
func (s *sharedActions) run(ctx context.Context, note func(election.OperatorAction)) error {
	if s == nil {
		return nil
	}
	var known []history.Action
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.lost:
		}
		tick := time.NewTicker(actionsEvery)
		for until := time.Now().Add(actionsFor); time.Now().Before(until) && ctx.Err() == nil; {
			known = s.read(ctx, known, note)
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
		tick.Stop()
	}
}

// read calls note for each action of the last minute that ended a hold and is not in known. It returns all actions of
// the last minute. It ignores errors, because the commands that show the history report them.
func (s *sharedActions) read(ctx context.Context, known []history.Action, note func(election.OperatorAction)) []history.Action {
	now := time.Now()
	found, err := s.source.Actions(ctx, history.Range{Since: now.Add(-actionsWithin)})
	if err != nil {
		return known
	}
	for _, a := range found {
		if a.Result == history.ResultDone && !slices.Contains(known, a) {
			note(election.OperatorAction{
				At: now, Kind: a.Kind, Key: a.Key, Session: a.Session, CreateIndex: a.CreateIndex, LockIndex: a.Term,
				Stage: election.ActionDone, By: a.By,
			})
		}
	}
	return found
}
