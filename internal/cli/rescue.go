package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/internal/rescue"
)

// rescueCommand finds elections that have no leader or whose leader has failed, and applies the fixes.
type rescueCommand struct {
	lookup
	d        deps
	o        *options
	yes      bool
	dryRun   bool
	wait     time.Duration
	output   string
	recorder *historyRecorder
	items    []*rescueItem
}

const rescueHelp = `Show every election that has no leader or whose leader's node has failed, with
the reason and the fix. The only fix that electop applies destroys the session
of a leader whose node has failed. For every other problem, electop shows what
to do and, if possible, a command.

  problem           fix
  node_gone         destroy_session: the leader's node has failed (serfHealth
                    critical), and the session has no TTL and does not depend
                    on serfHealth
  lock_delay        wait: the lock-delay ends by itself
  lock_flags        manual: the key's flags are not those of Consul's lock,
                    which candidates that use api.Lock expect
  patroni_released  manual: Patroni's leader key has a value and no session,
                    which disables automatic failover
  check_critical    manual: a check on which the leader's session depends is
                    critical; Consul invalidates the session
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

--wait DURATION waits until each election has a leader, after the fixes. electop
does not wait for another leader if it is unknown whether the leader has failed.

-o json writes one object per election, one per line, with "problem", "why",
"fix", "do", "keys" (all keys of the session to destroy), "lock_delay_until" and
"result": proposed (with --dry-run or --read-only), applied, waiting (for a
lock-delay), manual, led (with --wait), changed, denied, refused, failed or
unknown; "reason" explains the last five.

Exit codes, the first that applies:
  1  a fix failed, was refused, was not confirmed, or its effect was not seen
  2  usage error
  3  no such election
  5  denied by Consul's ACLs, or unknown token
  4  the state changed before a fix; nothing was written
  7  a listed problem remains: electop does not apply its fix, or it is unknown
     whether the leader has failed; with --wait also if no leader followed
  0  no problem, or every listed fix was applied and a read afterwards showed
     that the session no longer holds its keys; always with --dry-run`

func newRescueCommand(d deps, o *options) *cobra.Command {
	r := &rescueCommand{d: d, o: o}
	cmd := &cobra.Command{
		Use:               "rescue [NAME…]",
		Short:             "Show why elections have no leader; end sessions of failed nodes",
		Long:              rescueHelp,
		Example:           "  electop rescue\n  electop rescue --dry-run -o json\n  electop rescue web --yes --wait 60s",
		ValidArgsFunction: completeNames(o),
		RunE:              func(cmd *cobra.Command, names []string) error { return r.run(cmd.Context(), names) },
	}
	f := cmd.Flags()
	f.BoolVar(&r.yes, "yes", false, "skip the confirmation")
	f.BoolVar(&r.dryRun, "dry-run", false, "show the problems and the fixes without applying them")
	f.DurationVar(&r.wait, "wait", 0, "wait up to this long until each election has a leader")
	outputFlag(cmd, &r.output, "text", "json")
	return cmd
}

// showsOnly reports whether the command shows the fixes without applying them.
func (r *rescueCommand) showsOnly() bool { return r.dryRun || r.o.readOnly }

func (r *rescueCommand) run(ctx context.Context, names []string) error {
	if r.wait < 0 {
		return usagef("--wait %s: must be 0 or more", r.wait)
	}
	r.o.consul.Stale = false // no fix may depend on stale data
	l, err := r.o.lookUpWithDeleted(ctx, r.d)
	if err != nil {
		return err
	}
	defer l.client.Close()
	r.lookup = l
	chosen, err := r.elections(ctx, names)
	if err != nil {
		return err
	}
	r.inspect(ctx, chosen)
	slices.SortStableFunc(r.items, certainFirst)
	if len(names) == 0 {
		r.items = slices.DeleteFunc(r.items, (*rescueItem).ended)
	}
	if r.showsOnly() {
		return r.propose()
	}
	if err := r.confirmPlan(ctx); err != nil {
		return err
	}
	r.recorder = r.o.record(r.client, nil, r.d.warn)
	defer r.recorder.finish()
	r.recorder.observes(r.snapshot.Datacenter)
	if r.wait > 0 && slices.ContainsFunc(r.items, func(i *rescueItem) bool { return !i.uncertain() }) {
		err = r.applyAndWait(ctx)
	} else {
		r.applyAll(ctx, nil)
	}
	return r.finish(err)
}

// confirmPlan shows the problems, and requests confirmation if a fix writes to Consul.
func (r *rescueCommand) confirmPlan(ctx context.Context) error {
	n := 0
	for _, i := range r.items {
		if i.Writes() {
			n++
		}
	}
	if n > 0 && !r.yes {
		if err := r.d.canAsk(); err != nil {
			return err
		}
	}
	if !r.yes {
		r.writePlan(r.d.stderr)
	}
	if n == 0 || r.yes {
		return nil
	}
	if n == 1 {
		return r.d.confirm(ctx, "Apply 1 fix")
	}
	return r.d.confirm(ctx, fmt.Sprintf("Apply %d fixes", n))
}

// applyAll applies each fix in turn.
func (r *rescueCommand) applyAll(ctx context.Context, note func(election.OperatorAction)) {
	operator := consulx.NewOperator(r.client, note)
	r.awaitReady(ctx)
	for _, i := range r.items {
		r.apply(ctx, operator, i)
	}
}

// awaitReady waits until electop has seen for long enough that the nodes of the leaders have failed.
func (r *rescueCommand) awaitReady(ctx context.Context) {
	var ready time.Time
	var nodes []string
	for _, i := range r.items {
		if !i.Writes() {
			continue
		}
		nodes = append(nodes, sanitize.Line(i.Election.Session.Node, election.LabelLength))
		if i.Ready.After(ready) {
			ready = i.Ready
		}
	}
	wait := time.Until(ready)
	if len(nodes) == 0 || wait <= 0 {
		return
	}
	slices.Sort(nodes)
	fmt.Fprintf(r.d.stderr, "the node check of %s is critical; electop waits %s to see that it stays so\n",
		shortNames(slices.Compact(nodes)), wait.Round(time.Second))
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// apply applies the fix of one item, unless the state has changed since it was read.
func (r *rescueCommand) apply(ctx context.Context, operator *consulx.Operator, i *rescueItem) {
	switch {
	case i.Fix.Problem == insight.ProblemLockDelay:
		i.result = resultWaiting
	case !i.Writes():
		i.result = resultManual
	case ctx.Err() != nil:
		i.fail(insight.OutcomeFailed, "interrupted before the fix")
	case slices.ContainsFunc(r.items, i.destroyedBy):
		i.result = resultApplied
		r.record(i)
	default:
		i.outcome(i.Apply(ctx, operator))
		r.record(i)
	}
}

// record stores a write in the history.
func (r *rescueCommand) record(i *rescueItem) {
	r.recorder.action(outcomeOf(insight.Outcome{Action: election.ActionDestroy, Target: i.Election.Target()}, i.err))
}

// inspect finds the problems with the chosen elections. It keeps the order of the elections.
func (r *rescueCommand) inspect(ctx context.Context, chosen []*election.Election) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	in := rescue.Inspector{Client: r.client, Elections: r.snapshot.Elections, Now: r.snapshot.At, Probe: !r.o.readOnly, Seen: r.d.seen}
	for _, i := range in.Inspect(ctx, chosen) {
		r.items = append(r.items, &rescueItem{Item: i})
	}
}

// exitCode returns the most severe exit code.
func (r *rescueCommand) exitCode() int {
	codes := map[int]bool{}
	for _, i := range r.items {
		codes[i.exitCode(r.wait > 0)] = true
	}
	for _, code := range bySeverity() {
		if codes[code] {
			return code
		}
	}
	return exitOK
}

// finish reports the items and returns the exit code.
func (r *rescueCommand) finish(err error) error {
	for _, i := range r.items {
		if i.result == "" { // electop failed before it applied anything
			continue
		}
		if written := r.report(i); err == nil {
			err = written
		}
	}
	if code := r.exitCode(); err == nil && code != exitOK {
		return exitError(code)
	}
	return err
}
