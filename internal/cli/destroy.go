package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election"
)

func newDestroyCommand(d deps, o *options) *cobra.Command {
	a := &action{d: d, o: o, verb: "destroy", plan: destroyPlan, perform: performDestroy}
	var session string
	cmd := &cobra.Command{
		Use:   "destroy NAME | --session ID",
		Short: "Destroy the holder's session, and with it every lock it holds",
		Long: `Destroy the session that holds an election's key. Every lock of that session goes
with it; with Behavior "delete" the keys vanish. Nobody can lead until the
session's lock-delay has passed.

Consul cannot destroy a session on a condition. electop reads key and session
again right before and acts only if they still belong together.`,
		Example:           "  electop destroy web\n  electop destroy web --yes --wait 30s\n  electop destroy --session 695bfbd0-6350-7587-addf-a18084928f3c",
		ValidArgsFunction: completeNames(o),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || (len(args) == 1) == (session != "") {
				return usagef("destroy takes one NAME, or --session ID instead; see electop destroy --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if session != "" {
				return a.destroySession(cmd.Context(), session)
			}
			return a.run(cmd.Context(), args[0])
		},
	}
	a.flags(cmd)
	cmd.Flags().StringVar(&session, "session", "", "destroy the session with this id")
	cmd.Flags().BoolVar(&a.scan, "scan", false, "search the whole KV store for keys that the session holds; shows the plan even with --yes")
	return cmd
}

func destroyPlan(p prospect) []string {
	t := p.target
	var lines []string
	if t.Key == "" {
		lines = append(lines, fmt.Sprintf("Destroy session %s.", election.Line(t.Session, 40)))
	} else {
		lines = append(lines, fmt.Sprintf("Destroy session %s of %s (key %s).",
			election.Line(t.Session, 40), election.Line(t.Election, 100), election.Line(t.Key, 200)),
			"  leader    "+holder(t))
	}
	lines = append(lines, "  delay     "+delayText(t))
	lines = append(lines, heldLines(p)...)
	if p.insight != nil {
		lines = append(lines, p.insight.planLines()...)
	}
	return lines
}

func delayText(t election.Target) string {
	switch {
	case t.Node == "":
		return "not known: the session could not be read"
	case t.LockDelay == 0:
		return "none"
	}
	return fmt.Sprintf("nobody can lead for about %s (lock-delay)", t.LockDelay)
}

// fate is what becomes of a key that the session holds.
func (p prospect) fate() string {
	switch p.behavior {
	case election.BehaviorDelete:
		return "deleted"
	case election.BehaviorRelease:
		return "released"
	}
	return "released or deleted (its session could not be read):"
}

// heldLines tell what becomes of each key that the session holds, as far as they
// are known: the watched ones, and all that a search found.
func heldLines(p prospect) []string {
	var lines []string
	watched := map[string]bool{}
	for _, e := range p.snapshot.Elections {
		if e.Exists && e.Pair.Session == p.target.Session {
			watched[e.Key()] = true
			lines = append(lines, fmt.Sprintf("  %-8s  %s", p.fate(), election.Line(e.Key(), 200)))
		}
		if sem := election.ReadSemaphore(e, nil); sem != nil && sem.Holds(p.target.Session) {
			lines = append(lines, "  lost      a slot of the semaphore "+election.Line(e.Key(), 200))
		}
	}
	if p.found == nil {
		return append(lines, "  besides   keys that are not watched, if the session holds any (--scan searches for them)")
	}
	for _, pair := range p.found.pairs {
		if !watched[pair.Key] {
			lines = append(lines, fmt.Sprintf("  %-8s  %s (not watched)", p.fate(), election.Line(pair.Key, 200)))
		}
	}
	if p.found.incomplete {
		lines = append(lines, "  besides   keys that this token may not read, if the session holds any")
	}
	return lines
}

func performDestroy(ctx context.Context, operator *consulx.Operator, t election.Target) (string, error) {
	destroyed, err := operator.DestroySession(ctx, t)
	if err != nil {
		return "", err
	}
	return destroyedText(t, destroyed.LockDelay), nil
}

func destroyedText(t election.Target, delay time.Duration) string {
	text := "destroyed session " + election.Line(t.Session, 40)
	switch {
	case t.Key == "" && delay > 0:
		return fmt.Sprintf("%s: where it held a lock, nobody can lead for about %s (lock-delay)", text, delay)
	case t.Key == "":
		return text
	}
	text += " of " + election.Line(t.Election, 100)
	if delay > 0 {
		return fmt.Sprintf("%s: nobody can lead for about %s (lock-delay)", text, delay)
	}
	return text + ": no lock-delay, the next candidate may lead at once"
}

// destroySession destroys a session that was named by its id, whatever it holds.
func (a *action) destroySession(ctx context.Context, id string) error {
	if a.wait > 0 {
		return usagef("--wait needs the NAME of an election")
	}
	client, ps, err := a.begin()
	if err != nil {
		return err
	}
	snapshot, err := look(ctx, client, ps)
	if err != nil {
		return err
	}
	if a.asks() {
		if err := a.ask(ctx, client, describeSession(ctx, client, snapshot, id)); err != nil {
			return err
		}
	}
	return a.act(ctx, consulx.NewOperator(client, nil), election.Target{Session: id})
}

// describeSession reads a session for its plan. That it cannot be read is told
// there; that it does not exist, by the destroy itself.
func describeSession(ctx context.Context, client *consulx.Client, s *election.Snapshot, id string) prospect {
	p := prospect{snapshot: s, target: election.Target{Session: id}}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	// An incomplete list may still name this one.
	sessions, _ := consulx.Sessions(ctx, client)
	for _, ses := range sessions {
		if ses.ID == id {
			p.behavior, p.target.Behavior = ses.Behavior, ses.Behavior
			p.target.Node, p.target.LockDelay = ses.Node, ses.EnforcedLockDelay()
		}
	}
	return p
}
