package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/election/insight"
)

// applyAndWait acts on the pending items, and observes their elections before, during and after the writes. Therefore
// it can measure the vacancy, and never reports an earlier term as the next term.
func (b *batch) applyAndWait(ctx context.Context) error {
	ps := exactPatterns(b.pending())
	observer := observe.New(b.client, observe.Options{Patterns: ps})
	octx, cancel := context.WithCancel(ctx)
	var g errgroup.Group
	g.Go(func() error { return observer.Run(octx) })
	err := b.applyObserved(ctx, observer, ps)
	cancel()
	return errors.Join(err, g.Wait())
}

func (b *batch) applyObserved(ctx context.Context, observer *observe.Observer, ps election.Patterns) error {
	if _, err := awaitSnapshot(ctx, b.client, ps, observer.Snapshots()); err != nil {
		b.failPending(err)
		return nil
	}
	b.applyAll(ctx, consulx.NewOperator(b.client, observer.Note))
	waiting := b.unresolved()
	if len(waiting) == 0 {
		return nil
	}
	fmt.Fprintf(b.d.stderr, "waiting up to %s for the next leader of %s\n", b.wait, itemNames(waiting))
	wctx, cancel := context.WithTimeout(ctx, b.wait)
	defer cancel()
	last := b.awaitLeaders(wctx, observer.Snapshots())
	for _, s := range b.unresolved() {
		s.outcome = waitEnded(s.outcome, last, b.wait, ctx.Err() != nil)
		b.report(s)
	}
	return nil
}

// unresolved returns the items whose outcome is not final.
func (b *batch) unresolved() []*item {
	return slices.DeleteFunc(slices.Clone(b.items), func(s *item) bool { return s.outcome.Settled() })
}

// awaitLeaders reports each item as soon as its next term is observed, until ctx ends. It returns the last snapshot
// that it received, or nil if it received no snapshot.
func (b *batch) awaitLeaders(ctx context.Context, snapshots <-chan *election.Snapshot) (last *election.Snapshot) {
	for len(b.unresolved()) > 0 {
		select {
		case <-ctx.Done():
			return last
		case s, ok := <-snapshots:
			if !ok {
				return last
			}
			last = s
		}
		for _, s := range b.unresolved() {
			if s.outcome = s.outcome.Follow(last.Find(election.KeyID(s.target().Key))); s.outcome.Settled() {
				b.report(s)
			}
		}
	}
	return last
}

// waitEnded returns the outcome of an item whose next term was not observed during the wait.
func waitEnded(o insight.Outcome, last *election.Snapshot, wait time.Duration, interrupted bool) insight.Outcome {
	var e *election.Election
	stale := false
	if last != nil {
		e = last.Find(election.KeyID(o.Target.Key))
		_, stale = last.StaleSince(o.Target.Key)
	}
	reason := ""
	switch {
	case interrupted:
		reason = "interrupted while waiting for the next leader"
	case e == nil || stale:
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
