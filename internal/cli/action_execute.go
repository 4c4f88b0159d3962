package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

// writeTimeout bounds one write to Consul.
const writeTimeout = 15 * time.Second

// execute acts on the pending items and, with --wait, observes the result.
func (b *batch) execute(ctx context.Context) error {
	if len(b.pending()) == 0 {
		return nil
	}
	b.recorder = b.o.record(b.client, nil, b.d.warn)
	defer b.recorder.finish()
	b.recorder.observes(b.snapshot.Datacenter)
	if b.wait > 0 {
		return b.applyAndWait(ctx)
	}
	b.applyAll(ctx, consulx.NewOperator(b.client, nil))
	return nil
}

// applyAll acts on each pending item in turn, and reports the outcomes that are
// final.
func (b *batch) applyAll(ctx context.Context, operator *consulx.Operator) {
	for {
		next := firstPending(b.items)
		if next == nil {
			return
		}
		interrupted := ctx.Err() != nil
		for _, s := range b.apply(ctx, operator, next) {
			if !s.pending() && !interrupted {
				b.recorder.action(s.outcome)
			}
			if !s.pending() && (b.wait == 0 || s.outcome.Settled()) {
				b.report(s)
			}
		}
	}
}

// apply acts on one item and returns the items that the action affects. If it destroys a session, these are the pending
// items of all elections that the session leads.
func (b *batch) apply(ctx context.Context, operator *consulx.Operator, s *item) []*item {
	if ctx.Err() != nil {
		s.finish(insight.OutcomeFailed, "interrupted before the "+string(b.kind))
		return []*item{s}
	}
	if b.kind == election.ActionDestroy {
		return b.destroy(ctx, operator, s)
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	s.outcome = outcomeOf(s.outcome, operator.Release(ctx, s.target()))
	return []*item{s}
}

// destroy destroys the session of an item once, and sets the outcomes of all elections that the session leads.
func (b *batch) destroy(ctx context.Context, operator *consulx.Operator, first *item) []*item {
	group := slices.DeleteFunc(b.pending(), func(s *item) bool { return !strings.EqualFold(s.target().Session, first.target().Session) })
	d := election.Destroy{Target: first.target(), Keys: b.keysOf(first.target().Session), Unsearched: b.held == nil}
	if b.held != nil {
		d.Shown, d.Incomplete = b.held.at, b.held.incomplete
	}
	finishAll(group, operator.DestroySession(ctx, d))
	for _, s := range group {
		if others := keysWithout(d.Keys, group); s.outcome.Kind == insight.OutcomeDone && len(others) > 0 {
			s.outcome.Note = "the session also lost " + shortNames(others)
		}
	}
	return group
}

// keysOf returns the known keys of a session, sorted: those of the snapshot and those that the search found.
func (b *batch) keysOf(session string) []string {
	var keys []string
	for _, e := range b.snapshot.Elections {
		if e.Exists && e.Pair.HeldBy(session) {
			keys = append(keys, e.Key())
		}
	}
	for _, p := range b.held.of(session) {
		keys = append(keys, p.Key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// keysWithout returns the keys that are not the keys of the items, safe to print.
func keysWithout(keys []string, all []*item) []string {
	var others []string
	for _, key := range keys {
		if !slices.ContainsFunc(all, func(s *item) bool { return s.target().Key == key }) {
			others = append(others, sanitize.Line(key, 200))
		}
	}
	return others
}

func firstPending(all []*item) *item {
	if i := slices.IndexFunc(all, (*item).pending); i >= 0 {
		return all[i]
	}
	return nil
}

func finishAll(all []*item, err error) []*item {
	for _, s := range all {
		if s.pending() {
			s.outcome = outcomeOf(s.outcome, err)
		}
	}
	return all
}

// failPending finishes and reports all pending items with an error.
func (b *batch) failPending(err error) {
	for _, s := range finishAll(b.pending(), err) {
		b.report(s)
	}
}
