package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	b.recorder = b.o.record(b.client, b.d.warn)
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
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if b.kind == election.ActionDestroy {
		return b.destroy(ctx, operator, s)
	}
	released, err := operator.Release(ctx, s.target())
	s.outcome = withNote(outcomeOf(s.outcome, err), released)
	return []*item{s}
}

// destroy destroys the session of an item once, and sets the outcomes of all elections that the session leads. If the
// key of the first item has changed, the other items stay pending.
func (b *batch) destroy(ctx context.Context, operator *consulx.Operator, first *item) []*item {
	group := slices.DeleteFunc(b.pending(), func(s *item) bool { return s.target().Session != first.target().Session })
	if len(group) > 1 || b.session != "" {
		if err := b.verifyHolders(ctx, group); err != nil {
			return finishAll(group, err)
		}
	}
	target := election.Target{Session: b.session}
	if b.session == "" {
		first = firstPending(group)
		if first == nil {
			return group
		}
		target = first.target()
	}
	err := operator.DestroySession(ctx, target)
	if errors.Is(err, consulx.ErrMoved) {
		first.outcome = outcomeOf(first.outcome, err)
		return group
	}
	return finishAll(group, err)
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

// verifyHolders reads the keys again and finishes the items whose keys the session no longer holds. With --session, it
// returns an error for the first of these keys. Consul destroys a session without conditions, and DestroySession checks
// only one key.
func (b *batch) verifyHolders(ctx context.Context, group []*item) error {
	session := group[0].target().Session
	keys := b.expectedKeys(group)
	holders, err := consulx.Holders(ctx, b.client, keys)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if holders[key] == session {
			continue
		}
		if b.session != "" {
			return fmt.Errorf("the session no longer holds %s: %w", sanitize.Line(key, 200), consulx.ErrMoved)
		}
		for _, s := range group {
			if s.target().Key == key {
				s.finish(insight.OutcomeChanged, "the session no longer holds the key")
			}
		}
	}
	return nil
}

// expectedKeys returns the keys that the session must still hold. With --session, they include the keys that the search
// found.
func (b *batch) expectedKeys(group []*item) []string {
	var keys []string
	for _, s := range group {
		if key := s.target().Key; key != "" {
			keys = append(keys, key)
		}
	}
	if b.session != "" {
		for _, p := range b.held.of(b.session) {
			keys = append(keys, p.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// failPending finishes and reports all pending items with an error.
func (b *batch) failPending(err error) {
	for _, s := range finishAll(b.pending(), err) {
		b.report(s)
	}
}
