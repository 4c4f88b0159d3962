package act

import (
	"context"
	"slices"
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
)

// Operator carries out a release or a destroy on exactly one hold, or does nothing. A release uses only the target of d,
// and keeps the value, the flags and the session. A destroy ends all holds of the session. An interruption of a drain does
// not cancel ctx, because the result of a write would then be unknown.
type Operator interface {
	Act(ctx context.Context, kind election.ActionKind, d election.Destroy) Outcome
}

// Writes returns the pending items by write, in their order: the destroy of a session ends all its holds.
func Writes(items []*Item) (all [][]*Item) {
	of := map[string]int{}
	for _, i := range Pending(items) {
		id := i.Target.Key
		if i.Action == election.ActionDestroy {
			id = strings.ToLower(i.Target.Session)
		}
		n, found := of[id]
		if !found {
			n = len(all)
			of[id], all = n, append(all, nil)
		}
		all[n] = append(all[n], i)
	}
	return all
}

// Write carries out one of [Writes] and returns its outcome, which each of its items has. The note names the keys that
// the session lost in addition to those of the items.
func Write(ctx context.Context, op Operator, items []*Item) Outcome {
	d := items[0].Destroy
	d.Target = items[0].Target
	var others []string
	for _, key := range d.Keys {
		if !slices.ContainsFunc(items, func(i *Item) bool { return i.Target.Key == key }) {
			others = append(others, sanitize.Line(key, 200))
		}
	}
	if len(others) > 0 {
		d.Note += "; the session also lost " + election.NameList(others, 10)
	}
	if d.Incomplete {
		d.Note += "; it may have lost more keys, which this token cannot read"
	}
	d.Note = strings.TrimPrefix(d.Note, "; ")
	return op.Act(ctx, items[0].Action, d)
}

// Settle applies a snapshot, reports the items whose outcomes it makes final, and returns the others.
func Settle(items []*Item, s *election.Snapshot, report func(*Item)) (unsettled []*Item) {
	for _, i := range items {
		if i.Settled() {
			continue
		}
		if i.Outcome = i.Follow(s.FindKey(i.Target.Key)); i.Settled() {
			report(i)
		} else {
			unsettled = append(unsettled, i)
		}
	}
	return unsettled
}

// Await settles the items with later snapshots until the next leader of each is observed, or wait has passed. now is the
// latest snapshot.
func Await(ctx context.Context, items []*Item, now *election.Snapshot, later <-chan *election.Snapshot, wait time.Duration, report func(*Item)) {
	see := func(s *election.Snapshot) bool {
		now, items = s, Settle(items, s, report)
		return len(items) == 0
	}
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	AwaitState(limited, later, see)
	if !seen(items, now) { // the store confirmed the action
		late, cancel := context.WithTimeout(ctx, observedWithin)
		defer cancel()
		AwaitState(late, later, func(s *election.Snapshot) bool { return see(s) || seen(items, s) })
	}
	for _, i := range items {
		i.Outcome = i.Ended(now, time.Now(), wait, ctx.Err() != nil)
		report(i)
	}
}

// AwaitState passes snapshots to done until it returns true, or until ctx or the observer ends.
func AwaitState(ctx context.Context, later <-chan *election.Snapshot, done func(*election.Snapshot) bool) {
	for {
		select {
		case <-ctx.Done():
			return
		case s, ok := <-later:
			if !ok || done(s) {
				return
			}
		}
	}
}

// seen reports whether the effects of all confirmed actions are observed and explained, or the connection is lost.
func seen(unsettled []*Item, s *election.Snapshot) bool {
	return s.Connection.State == election.Lost || !slices.ContainsFunc(unsettled, func(i *Item) bool {
		now := s.FindKey(i.Target.Key)
		return i.Kind == OutcomeDone && now != nil && (i.Target.SameHold(now.Pair) || now.LastTerm() != nil && now.LastTerm().Cause == "")
	})
}
