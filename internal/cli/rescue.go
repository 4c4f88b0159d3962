package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/internal/act"
	"electop/ui/kit"
)

// rescueCommand finds elections that have no leader or whose leader has failed, and applies the fixes.
type rescueCommand struct {
	engine
	dryRun bool
}

const rescueHelp = `Show every election that has no leader or whose leader's node has failed, with
the reason and the fix. The only fix that electop applies destroys the session
of a leader whose node has failed. For every other problem, electop shows what
to do and, if possible, a command.

  problem           fix
  leader_failed     destroy_session: the leader's node has failed (serfHealth
                    critical), and the session has no TTL and does not depend
                    on serfHealth
  lock_delay        wait: the lock-delay ends by itself
  lock_flags        manual: the key's flags are not those of Consul's lock,
                    which candidates that use api.Lock expect
  patroni_released  manual: Patroni's leader key has a value and no session,
                    which disables automatic failover
  check_critical    manual: a check on which the leader's session depends is
                    critical; Consul invalidates the session
  candidates_retry  wait: electop has seen the key free for less than 25 s, and
                    clients retry within 21 s; if there is still no leader,
                    see the logs of the candidates
  candidates_idle   manual: candidates exist, but none acquires the key
  no_candidate      manual: start an instance of the service
  unknown           manual: the token cannot read the key, or electop could not
                    read the session of the leader or the check serfHealth of
                    its node; "why" contains the reason

electop destroys a session only after a confirmation, and only if it has seen
for 15 seconds that serfHealth is critical and has not changed. It then reads
everything again. It refuses the fix if the session holds another key than
those shown, or a key of an election that is not among the chosen ones, or if
the token cannot read all keys of the store. No read is stale, even with
--stale.

If the session has no TTL and its node is healthy, Consul does not show whether
the leader's process runs.

Only a history contains deleted keys: without a history, rescue does not list
them. Without NAME, rescue omits a deleted key if no candidate was seen.

electop tests whether a lock-delay is active. The test changes no key, but
writes one Raft log entry per election unless a lock-delay is active. With
--read-only, electop skips the test and applies no fix.

--wait DURATION waits for the next leader of each election whose fix electop has
applied. For other elections, use electop wait NAME --led.

-o json writes one object per election, one per line, with "problem", "why",
"fix", "do", "keys" (all keys of the session to destroy), "lock_delay_until" and
"result": proposed (with --dry-run or --read-only), waiting (fix "wait"),
manual, or a result of electop destroy, which "reason" explains.

Exit codes, the first that applies:
  1  a fix failed, was refused, was not confirmed, or its effect was not seen;
     with --wait also if no leader followed
  2  usage error
  3  no such election
  5  denied by Consul's ACLs, or unknown token
  4  the state changed before a fix; nothing was written
  7  a listed problem remains: electop does not apply its fix, or it is unknown
     whether the leader has failed
  0  no problem, or every listed fix was applied and a read afterwards showed
     that the session no longer holds its keys; always with --dry-run`

func newRescueCommand(d deps, o *options) *cobra.Command {
	r := &rescueCommand{engine: engine{printer: printer{d: d}, o: o}}
	r.report = r.writeResult
	cmd := &cobra.Command{
		Use:               "rescue [NAME…]",
		Short:             "Show why elections have no leader; end sessions of failed nodes",
		Long:              rescueHelp,
		Example:           "  electop rescue\n  electop rescue --dry-run -o json\n  electop rescue web --yes --wait 60s",
		ValidArgsFunction: completeNames(o),
		RunE:              work(r.run),
	}
	f := cmd.Flags()
	f.BoolVar(&r.yes, "yes", false, "skip the confirmation")
	f.BoolVar(&r.dryRun, "dry-run", false, "show the problems and the fixes without applying them")
	f.DurationVar(&r.wait, "wait", 0, "wait up to this long for the next leader of each election whose fix was applied")
	outputFlag(cmd, &r.output, "text", "json")
	return cmd
}

func (r *rescueCommand) run(ctx context.Context, names []string) error {
	if r.wait < 0 {
		return usagef("--wait %s: must be 0 or more", r.wait)
	}
	r.o.consul.Stale = false // no fix may depend on stale data
	var err error
	if r.lookup, err = r.o.readOne(ctx, r.d, r.o.historySource); err != nil { // includes elections whose key was deleted
		return err
	}
	chosen, err := r.elections(ctx, names)
	if err != nil {
		return err
	}
	r.items = inspector{client: r.client, elections: r.snapshot.Elections, now: r.snapshot.At, probe: !r.o.readOnly, seen: r.d.seen}.inspect(ctx, chosen)
	if len(names) == 0 {
		// A deleted key for which no candidate was seen is normal, for example after the end of a job.
		r.items = slices.DeleteFunc(r.items, func(s *act.Item) bool { return !s.Election.Exists && s.Fix.Code == insight.NoCandidates })
	}
	switch proposed := r.dryRun || r.o.readOnly; {
	case proposed && r.output == "text":
		return r.writePlan(r.d.stdout)
	case proposed:
		r.set(resultProposed, func(*act.Item) bool { return true })
		return r.written
	}
	if err := r.confirmPlan(ctx); err != nil {
		return err
	}
	r.set(insight.OutcomeWaiting, func(s *act.Item) bool { return !s.Fix.Until.IsZero() })
	r.set(resultManual, func(s *act.Item) bool { return !fixable(s) })
	if len(r.pending()) > 0 {
		r.awaitReady(ctx)
		if err := r.engine.run(ctx); err != nil {
			return err
		}
	}
	return r.exit(ctx, len(names) == 0)
}

// set finishes the pending items for which is returns true, and reports them.
func (r *rescueCommand) set(kind insight.OutcomeKind, is func(*act.Item) bool) {
	for _, s := range r.pending() {
		if is(s) {
			s.Kind = kind
			r.report(s)
		}
	}
}

// confirmPlan shows the problems, and requests confirmation if a fix writes to Consul. --yes skips both.
func (r *rescueCommand) confirmPlan(ctx context.Context) error {
	if r.yes {
		return nil
	}
	fixes := uint64(0)
	for _, s := range r.items {
		if fixable(s) {
			fixes++
		}
	}
	if fixes > 0 {
		if err := r.d.canAsk(); err != nil {
			return err
		}
	}
	_ = r.writePlan(r.d.stderr) // a failed write of the plan must not stop the fixes
	if fixes == 0 {
		return nil
	}
	return r.d.confirm(ctx, fmt.Sprintf("Destroy the sessions of failed nodes (%s)", election.Plural(fixes, "election")))
}

// awaitReady waits until electop has seen for long enough that the nodes of the leaders have failed.
func (r *rescueCommand) awaitReady(ctx context.Context) {
	var wait time.Duration
	for _, s := range r.pending() {
		wait = max(wait, time.Until(s.Ready))
	}
	if wait > 0 {
		fmt.Fprintf(r.d.stderr, "electop waits %s to see that the node checks stay critical\n", wait.Round(time.Second))
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// Results of a rescue in addition to those of an action. OutcomeWaiting is the wait for the end of a lock-delay or for
// the candidates.
const (
	resultProposed insight.OutcomeKind = "proposed" // the fix was not applied, because of --dry-run or --read-only
	resultManual   insight.OutcomeKind = "manual"   // electop cannot fix the problem
)

// writePlan writes each election with its problem and the fix.
func (r *rescueCommand) writePlan(w io.Writer) error {
	if len(r.items) == 0 {
		r.d.warn("found no elections without a leader and no failed leaders")
	}
	return r.o.page(w, defaultWidth, func(page *kit.Page) {
		for _, i := range r.items {
			page.Para(kit.Strong, fmt.Sprintf("%s (key %s)", i.Name(), sanitize.Line(i.Target.Key, 200)))
			page.Field("Problem", kit.Span{kit.Text, i.Fix.Code})
			page.Field("Why", kit.Span{kit.Text, i.Fix.Why})
			page.Field("Fix", kit.Span{kit.Text, i.Fix.Fix})
		}
	})
}

// exit returns the most severe exit code. With all elections chosen, success needs that the token can read all of them.
func (r *rescueCommand) exit(ctx context.Context, all bool) error {
	err := cmp.Or(exitOfAll(r.outcomes(), r.wait > 0), r.written)
	if err == nil && all {
		var hidden bool
		if hidden, err = r.warnSilent(ctx); hidden {
			err = r.d.unverified()
		}
	}
	return err
}

type rescueJSON struct {
	Election       string              `json:"election"`
	Key            string              `json:"key"`
	Datacenter     string              `json:"datacenter"`
	Problem        string              `json:"problem"`
	Why            string              `json:"why"`
	Fix            string              `json:"fix"`
	Do             string              `json:"do"`
	Keys           []string            `json:"keys,omitempty"`
	LockDelayUntil string              `json:"lock_delay_until,omitempty"`
	Session        string              `json:"session,omitempty"`
	Result         insight.OutcomeKind `json:"result"`
	Reason         string              `json:"reason,omitempty"`
	Leader         string              `json:"leader,omitempty"`
}

// writeResult writes the result of one item. A problem that remains goes to stderr.
func (r *rescueCommand) writeResult(s *act.Item) {
	p, fix, text := s.Fix, "manual", s.Summary()
	switch {
	case !p.Until.IsZero():
		fix = "wait"
	case fixable(s):
		fix = "destroy_session"
	}
	if s.Kind == insight.OutcomeWaiting || s.Kind == resultManual {
		text = p.Why + " " + p.Fix
	}
	j := rescueJSON{
		Election: s.Target.Election, Key: s.Target.Key, Datacenter: s.Election.Datacenter, Problem: p.Code, Why: p.Why, Fix: fix, Do: p.Fix,
		Keys: s.Destroy.Keys, Session: s.Target.Session, Result: s.Kind, Reason: s.Reason, Leader: s.New.Leader,
	}
	if p.Code == insight.LockDelay {
		j.LockDelayUntil = election.FormatTime(p.Until)
	}
	r.line(j, s.Name()+": "+text, s.Kind != resultProposed && !wasApplied(s.Kind))
}
