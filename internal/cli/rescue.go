package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
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

const rescueHelp = `Show every election that has no leader or whose leader has failed, with the
reason and the fix. electop applies a fix that writes to Consul only after a
confirmation, and only if the state is still the one that electop read.

  problem           fix
  lock_delay        wait: the lock-delay ends by itself
  lock_flags        set_flags: write the same value with the flags of Consul's
                    lock, which waiting api.Lock candidates expect
  patroni_released  delete_key: Patroni's leader key has a value and no session,
                    which disables automatic failover
  orphaned_session  destroy_session: the leader's service check is critical, and
                    the session has no TTL and does not depend on the check
  node_gone         destroy_session: the leader's node has failed (serfHealth
                    critical), and the session has no TTL and does not depend
                    on serfHealth
  check_critical    manual: a check on which the leader's session depends is
                    critical; Consul invalidates the session
  candidates_idle   manual: candidates exist, but none acquires the key
  no_candidate      manual: start an instance of the service
  unknown           manual: the token cannot read the key, or electop could not
                    read the session or the checks of the leader, so it is
                    unknown whether the leader has failed; "why" contains the
                    reason, and the exit code is 7 (without --dry-run)

electop reports a leader as failed only with such evidence. If the session has
no TTL and no checks and its node is healthy, Consul does not show whether the
leader's process runs.

Only a history contains deleted keys: without a history, rescue does not list
them. Without NAME, rescue omits a deleted key if no candidate was seen.

electop tests whether a lock-delay is active. The test changes no key, but
writes one Raft log entry per election unless a lock-delay is active. With
--read-only, electop skips the test and applies no fix.

--wait DURATION waits until each election has a leader, after the fixes. electop
does not wait for another leader if it is unknown whether the leader has failed.

-o json writes one object per election, one per line, with "problem", "why",
"fix", "do", "lock_delay_until" and "result": proposed (with --dry-run or
--read-only), applied, waiting (for a lock-delay), manual, led (with --wait),
changed, denied, refused, failed or unknown; "reason" explains the last five.

Exit codes, the first that applies:
  1  a fix failed, or was not confirmed
  2  usage error
  3  no such election
  5  denied by Consul's ACLs, or unknown token
  4  the state changed before a fix; nothing was written
  7  an election has no leader, or it is unknown whether its leader has failed,
     and electop applied no fix; with --wait also if no leader followed
  0  no problem, or every fix was applied; always with --dry-run`

func newRescueCommand(d deps, o *options) *cobra.Command {
	r := &rescueCommand{d: d, o: o}
	cmd := &cobra.Command{
		Use:               "rescue [NAME…]",
		Short:             "Show why elections have no leader, and apply the fix",
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
	r.recorder = r.o.record(r.client, r.d.warn)
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
	for _, i := range r.items {
		r.apply(ctx, operator, i)
	}
}

// apply applies the fix of one item, unless the state has changed since it was read.
func (r *rescueCommand) apply(ctx context.Context, operator *consulx.Operator, i *rescueItem) {
	switch {
	case i.Fix.Kind == insight.FixWait:
		i.result = resultWaiting
	case !i.Writes():
		i.result = resultManual
	case ctx.Err() != nil:
		i.fail(insight.OutcomeFailed, "interrupted before the fix")
	case slices.ContainsFunc(r.items, i.destroyedBy):
		i.result = resultApplied
		r.record(i)
	default:
		ctx, cancel := context.WithTimeout(ctx, writeTimeout)
		defer cancel()
		i.outcome(i.Apply(ctx, r.client, operator))
		r.record(i)
	}
}

// record stores a write in the history.
func (r *rescueCommand) record(i *rescueItem) {
	r.recorder.action(outcomeOf(insight.Outcome{Action: i.Action(), Target: i.Election.Target()}, i.err))
}

// inspect finds the problems with the chosen elections. It keeps the order of the elections.
func (r *rescueCommand) inspect(ctx context.Context, chosen []*election.Election) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	in := rescue.Inspector{Client: r.client, Elections: r.snapshot.Elections, Now: r.snapshot.At, Probe: !r.o.readOnly}
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
		err = cmp.Or(err, r.report(i))
	}
	if code := r.exitCode(); err == nil && code != exitOK {
		return exitError(code)
	}
	return err
}
