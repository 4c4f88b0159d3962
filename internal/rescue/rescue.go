// Package rescue finds elections without an effective leader and resolves their problems. It reads the facts and
// applies the fixes. [insight.Board.Fix] selects the fix.
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
	// Facts contains the data from which the fix was inferred.
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

// Apply applies the fix. If the key has changed since it was read, Apply writes nothing and returns ErrMoved. Before
// a destroy, Apply reads the evidence again, because Consul has no conditional destroy.
func (i *Item) Apply(ctx context.Context, c *consulx.Client, op *consulx.Operator) error {
	e := i.Election
	switch i.Fix.Kind {
	case insight.FixSetFlags:
		return op.SetFlags(ctx, e.Pair, election.LockFlag)
	case insight.FixDelete:
		return op.DeleteFree(ctx, e.Pair)
	case insight.FixDestroy:
		checks := consulx.NodeChecks(ctx, c, e.Session.Node)
		if checks.Err != "" {
			return consulx.Fail(consulx.ErrRefused, "%s", unread(e, checks))
		}
		again := i.board.Fix(e, insight.FixFacts{Now: time.Now(), Checks: checks.Checks})
		if again == nil || again.Problem != i.Fix.Problem {
			return fmt.Errorf("the leader's checks changed: %w", consulx.ErrMoved)
		}
		return op.DestroySession(ctx, election.Destroy{Target: e.Target(), Keys: []string{e.Key()}, Shown: time.Now()})
	default:
		return consulx.Fail(consulx.ErrRefused, "the fix %s writes nothing", i.Fix.Kind)
	}
}
