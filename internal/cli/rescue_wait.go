package cli

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"electop/consulx/observe"
	"electop/election"
)

// applyAndWait applies the fixes and observes the elections until each election has a leader or --wait expires.
func (r *rescueCommand) applyAndWait(ctx context.Context) error {
	var ps election.Patterns
	var names []string
	for _, i := range r.items {
		ps = append(ps, election.KeyPattern(i.Election.Key()))
		if !i.uncertain() {
			names = append(names, i.name())
		}
	}
	observer := observe.New(r.client, observe.Options{Patterns: ps})
	octx, cancel := context.WithCancel(ctx)
	defer cancel()
	var g errgroup.Group
	g.Go(func() error { return observer.Run(octx) })
	if _, err := awaitSnapshot(ctx, r.client, ps, observer.Snapshots()); err != nil {
		cancel()
		return errors.Join(err, g.Wait())
	}
	r.applyAll(ctx, observer.Note)
	fmt.Fprintf(r.d.stderr, "waiting up to %s for a leader of %s\n", r.wait, shortNames(names))
	wctx, stop := context.WithTimeout(ctx, r.wait)
	defer stop()
	for r.awaitsLeader() {
		s, ok := nextSnapshot(wctx, observer.Snapshots())
		if !ok {
			break
		}
		for _, i := range r.items {
			i.follow(s)
		}
	}
	cancel()
	return g.Wait()
}

func (r *rescueCommand) awaitsLeader() bool {
	for _, i := range r.items {
		if i.awaitsLeader() {
			return true
		}
	}
	return false
}
