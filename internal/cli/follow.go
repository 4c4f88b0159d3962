package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
)

// actAndFollow acts while it observes the elections, so that the vacancy is
// measured and a term from before the action is never taken for the next one.
func (j *job) actAndFollow(ctx context.Context) error {
	ps := exactPatterns(j.pending())
	observer := consulx.NewObserver(j.client, consulx.ObserverOptions{Patterns: ps})
	octx, cancel := context.WithCancel(ctx)
	var g errgroup.Group
	g.Go(func() error { return observer.Run(octx) })
	err := j.follow(ctx, observer, ps)
	cancel()
	return errors.Join(err, g.Wait())
}

func (j *job) follow(ctx context.Context, observer *consulx.Observer, ps election.Patterns) error {
	if _, err := firstLook(ctx, j.client, ps, observer.Snapshots()); err != nil {
		j.abandon(err)
		return nil
	}
	j.act(ctx, consulx.NewOperator(j.client, observer.Note))
	open := j.open()
	if len(open) == 0 {
		return nil
	}
	fmt.Fprintf(j.d.stderr, "waiting up to %s for the next leader of %s\n", j.wait, names(open))
	wctx, cancel := context.WithTimeout(ctx, j.wait)
	defer cancel()
	last := j.awaitLeaders(wctx, observer.Snapshots())
	for _, s := range j.open() {
		s.outcome = unfollowed(s.outcome, last, j.wait, ctx.Err() != nil)
		j.report(s)
	}
	return nil
}

// open lists the subjects whose next leader is not known yet.
func (j *job) open() []*subject {
	var all []*subject
	for _, s := range j.subjects {
		if !s.outcome.Settled() {
			all = append(all, s)
		}
	}
	return all
}

// awaitLeaders reports each election as soon as its next term is observed, and
// gives the last snapshot when ctx ends first.
func (j *job) awaitLeaders(ctx context.Context, snapshots <-chan *election.Snapshot) (last *election.Snapshot) {
	for len(j.open()) > 0 {
		select {
		case <-ctx.Done():
			return last
		case s, ok := <-snapshots:
			if !ok {
				return last
			}
			last = s
		}
		for _, s := range j.open() {
			if s.follow(last.Find(s.target().Key)) {
				j.report(s)
			}
		}
	}
	return last
}

// follow looks for the next term and reports whether it was found.
func (s *subject) follow(e *election.Election) bool {
	s.outcome = s.outcome.Follow(e)
	return s.outcome.Settled()
}

// stale reports an election that may differ from what the snapshot shows.
func stale(s *election.Snapshot, e *election.Election) bool {
	_, stale := s.StaleSince(e.Key())
	return stale
}

// unfollowed ends the wait for an election without a next leader.
func unfollowed(o insight.Outcome, last *election.Snapshot, wait time.Duration, interrupted bool) insight.Outcome {
	var e *election.Election
	if last != nil {
		e = last.Find(o.Target.Key)
	}
	reason := ""
	switch {
	case interrupted:
		reason = "interrupted while waiting for the next leader"
	case e == nil || stale(last, e):
		reason = "Consul did not respond; the current leader is unknown"
	case e.State(last.At) == election.Led:
		reason = "no later term was observed within " + wait.String()
	case o.Kind == insight.OutcomeUnknown:
		reason = "the election has no leader"
	default:
		o.Kind, reason = insight.OutcomeVacant, "no candidate acquired the key within "+wait.String()
		if left := time.Until(e.LockDelayUntil).Round(time.Second); left > 0 {
			reason += fmt.Sprintf("; the lock-delay lasts for about %s more", left)
		}
	}
	if o.Kind == insight.OutcomeUnknown {
		reason = o.Reason + "; " + reason
	}
	o.Reason = reason
	return o
}
