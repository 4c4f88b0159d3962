package act

import (
	"context"
	"slices"
	"strings"

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

// shownKeys is the maximum number of keys that a note names.
const shownKeys = 10

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
		d.Note = "the session also lost " + election.NameList(others, shownKeys)
	}
	if d.Incomplete {
		d.Note = strings.TrimPrefix(d.Note+"; it may have lost more keys, which this token cannot read", "; ")
	}
	return op.Act(ctx, items[0].Action, d)
}
