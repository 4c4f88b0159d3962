// Package rescue finds elections without an effective leader and applies what resolves
// their problems. It reads the facts and writes the fixes; [insight.Board.Fix] decides.
package rescue

import (
	"context"
	"fmt"
	"slices"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
)

// Item is one election with a problem.
type Item struct {
	Election *election.Election
	Fix      *insight.Fix
	// Facts are what the fix was inferred from.
	Facts insight.FixFacts
	board *insight.Board
}

// Writes reports whether the fix writes to Consul.
func (i *Item) Writes() bool {
	return slices.Contains([]insight.FixKind{insight.FixSetFlags, insight.FixDestroy, insight.FixDelete}, i.Fix.Kind)
}

// Action returns the kind of the write.
func (i *Item) Action() election.ActionKind {
	switch i.Fix.Kind {
	case insight.FixSetFlags:
		return election.ActionSetFlags
	case insight.FixDelete:
		return election.ActionDelete
	default:
		return election.ActionDestroy
	}
}

// Apply writes the fix if the key is still as it was read; otherwise ErrMoved, nothing written. The
// evidence for a destroy is read again, because Consul destroys a session without conditions.
func (i *Item) Apply(ctx context.Context, c *consulx.Client, op *consulx.Operator) error {
	e := i.Election
	switch i.Fix.Kind {
	case insight.FixSetFlags:
		return op.SetFlags(ctx, e.Pair, election.LockFlag)
	case insight.FixDelete:
		return op.DeleteFree(ctx, e.Pair)
	case insight.FixDestroy:
		checks := consulx.NodeChecks(ctx, c, e.Session.Node)
		again := i.board.Fix(e, insight.FixFacts{Now: time.Now(), Checks: checks.Checks})
		if again == nil || again.Problem != i.Fix.Problem {
			return fmt.Errorf("the leader's checks changed: %w", consulx.ErrMoved)
		}
		return op.DestroySession(ctx, e.Target())
	default:
		return consulx.Fail(consulx.ErrRefused, "the fix %s writes nothing", i.Fix.Kind)
	}
}
