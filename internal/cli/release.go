package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election"
)

func newReleaseCommand(d deps, o *options) *cobra.Command {
	a := &action{d: d, o: o, verb: "release", plan: releasePlan, perform: performRelease}
	cmd := &cobra.Command{
		Use:   "release NAME",
		Short: "Step a leader down: unlock the key, keep its value and flags",
		Long: `Unlock the key of an election in one transaction that is bound to the key, the
session and the index that were seen. Value and flags stay as they are, the
session lives on, and no lock-delay follows: the next candidate may lead at once,
and so may the old leader.

When the holder changed in between, nothing is written and the exit code is 4.`,
		Example:           "  electop release web\n  electop release web --yes --wait 30s",
		Args:              exactName,
		ValidArgsFunction: completeNames(o),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.run(cmd.Context(), args[0]) },
	}
	a.flags(cmd)
	return cmd
}

func releasePlan(p prospect) []string {
	t := p.target
	lines := []string{
		fmt.Sprintf("Release %s (key %s).", election.Line(t.Election, 100), election.Line(t.Key, 200)),
		"  leader    " + holder(t),
		"  happens   the key is unlocked; its value and flags are kept; the session lives on",
		"  delay     none: the next candidate may lead at once, and so may the old leader",
	}
	return append(lines, p.insight.planLines()...)
}

func performRelease(ctx context.Context, operator *consulx.Operator, t election.Target) (string, error) {
	released, err := operator.Release(ctx, t)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("released %s: %s no longer leads; no lock-delay", election.Line(t.Election, 100), t.Leader)
	if note := released.Note(); note != "" {
		text += "; " + note
	}
	return text, nil
}

// holder names who holds a key, for people.
func holder(t election.Target) string {
	text := fmt.Sprintf("%s, term %d, session %s", t.Leader, t.Term, election.Line(t.Session, 40))
	if t.Node != "" {
		text += " on " + election.Line(t.Node, 60)
	}
	return text
}
