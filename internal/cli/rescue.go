package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/internal/output"
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
	l, err := r.o.openOne(r.d)
	if err != nil {
		return err
	}
	if err := l.read(ctx, r.o.recorded(r.d)); err != nil { // includes elections whose key was deleted
		return err
	}
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
	err = r.finish(err)
	if err == nil && len(names) == 0 {
		hidden, readErr := l.warnSilent(ctx)
		if err = readErr; hidden {
			err = r.d.unverified()
		}
	}
	return err
}

// confirmPlan shows the problems, and requests confirmation if a fix writes to Consul. --yes skips both.
func (r *rescueCommand) confirmPlan(ctx context.Context) error {
	if r.yes {
		return nil
	}
	n := 0
	for _, i := range r.items {
		if i.Writes() {
			n++
		}
	}
	if n > 0 {
		if err := r.d.canAsk(); err != nil {
			return err
		}
	}
	r.writePlan(r.d.stderr)
	switch n {
	case 0:
		return nil
	case 1:
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

// apply applies the fix of one item and of the other items with the same session, unless the state has changed since it
// was read.
func (r *rescueCommand) apply(ctx context.Context, operator *consulx.Operator, i *rescueItem) {
	switch {
	case i.result != "": // applied with an earlier item
	case i.Fix.Problem == insight.ProblemLockDelay:
		i.result = resultWaiting
	case !i.Writes():
		i.result = resultManual
	case ctx.Err() != nil:
		i.fail(insight.OutcomeFailed, "interrupted before the fix")
	default:
		err := operator.DestroySession(ctx, i.Destroy)
		for _, other := range r.items {
			if other.Writes() && other.Destroy.Session == i.Destroy.Session {
				r.recorder.action(other.outcome(err))
			}
		}
	}
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

// finish reports the items and returns the exit code.
func (r *rescueCommand) finish(err error) error {
	codes := map[int]bool{}
	for _, i := range r.items {
		codes[i.exitCode(r.wait > 0)] = true
		if i.result == "" { // electop failed before it applied anything
			continue
		}
		if written := r.report(i); err == nil {
			err = written
		}
	}
	return cmp.Or(err, worstOf(codes))
}

// applyAndWait applies the fixes and observes the elections until each election has a leader or --wait expires.
func (r *rescueCommand) applyAndWait(ctx context.Context) error {
	var ps election.Patterns
	var names []string
	for _, i := range r.items {
		ps = append(ps, election.KeyPattern(i.Election.Key()))
		if !i.uncertain() {
			names = append(names, i.name())
		}
	}
	observer := observe.New(r.client, observe.Options{Patterns: ps})
	octx, cancel := context.WithCancel(ctx)
	defer cancel()
	var g errgroup.Group
	g.Go(func() error { return observer.Run(octx) })
	if _, err := awaitSnapshot(ctx, r.client, ps, observer.Snapshots()); err != nil {
		cancel()
		return errors.Join(err, g.Wait())
	}
	r.applyAll(ctx, observer.Note)
	fmt.Fprintf(r.d.stderr, "waiting up to %s for a leader of %s\n", r.wait, shortNames(names))
	wctx, stop := context.WithTimeout(ctx, r.wait)
	defer stop()
	for slices.ContainsFunc(r.items, (*rescueItem).awaitsLeader) {
		s, ok := nextSnapshot(wctx, observer.Snapshots())
		if !ok {
			break
		}
		for _, i := range r.items {
			i.follow(s)
		}
	}
	cancel()
	return g.Wait()
}

// Results of an item. If a fix failed, the result is the kind of its outcome instead.
const (
	resultProposed = "proposed" // the fix was not applied, because of --dry-run or --read-only
	resultApplied  = "applied"
	resultWaiting  = "waiting" // waiting for the end of a lock-delay
	resultManual   = "manual"  // electop cannot fix the problem
	resultLed      = "led"     // a leader was observed later, with or without a fix
)

// rescueItem is one election with a problem.
type rescueItem struct {
	*rescue.Item
	result string
	reason string // why the fix was not applied
	leader string // set if the result is resultLed
}

func (i *rescueItem) name() string { return sanitize.Line(i.Election.Name, 100) }

// ended reports whether the key was deleted and no candidate was seen. This state is normal, for example after the
// end of a job.
func (i *rescueItem) ended() bool {
	return !i.Election.Exists && i.Fix.Problem == insight.ProblemNoCandidate
}

func (i *rescueItem) fail(kind insight.OutcomeKind, reason string) {
	i.result, i.reason = string(kind), reason
}

// outcome returns the outcome of the write, and sets the result.
func (i *rescueItem) outcome(err error) insight.Outcome {
	o := outcomeOf(insight.Outcome{Action: election.ActionDestroy, Target: i.Election.Target()}, err)
	i.fail(o.Kind, o.Reason)
	if err == nil {
		i.result = resultApplied
	}
	return o
}

// uncertain reports whether the election has a leader, but electop cannot tell whether that leader has failed.
func (i *rescueItem) uncertain() bool {
	return i.Fix.Problem == insight.ProblemUnknown && i.Election.Pair.Held()
}

// certainFirst orders items whose leader may be healthy after all other items.
func certainFirst(a, b *rescueItem) int {
	switch {
	case a.uncertain() == b.uncertain():
		return 0
	case b.uncertain():
		return -1
	}
	return 1
}

// awaitsLeader reports whether the election may still get a leader.
func (i *rescueItem) awaitsLeader() bool {
	return !i.uncertain() && slices.Contains([]string{resultApplied, resultWaiting, resultManual}, i.result)
}

// follow sets the result if the election has a new leader.
func (i *rescueItem) follow(s *election.Snapshot) {
	e := s.Find(election.KeyID(i.Election.Key()))
	if _, stale := s.StaleSince(i.Election.Key()); stale || e == nil || !i.awaitsLeader() {
		return
	}
	problem := i.Election.Pair
	if e.State(s.At) == election.Led && (!i.Election.Exists || !problem.Held() || e.Pair.Session != problem.Session) {
		i.result, i.leader = resultLed, e.Leader
	}
}

func (i *rescueItem) exitCode(waited bool) int {
	switch i.result {
	case resultProposed, resultLed:
		return exitOK
	case resultApplied:
		if waited {
			return exitNoLeader
		}
		return exitOK
	case resultWaiting, resultManual:
		return exitNoLeader
	default:
		return outcomeExit(insight.Outcome{Kind: insight.OutcomeKind(i.result)}, false)
	}
}

// propose reports the problems and their fixes without applying the fixes.
func (r *rescueCommand) propose() error {
	for _, i := range r.items {
		i.result = resultProposed
	}
	if r.output == "text" {
		r.writePlan(r.d.stdout)
		return nil
	}
	for _, i := range r.items {
		if err := r.report(i); err != nil {
			return err
		}
	}
	return nil
}

// writePlan writes each election with its problem and the fix.
func (r *rescueCommand) writePlan(w io.Writer) {
	if len(r.items) == 0 {
		fmt.Fprintln(r.d.stderr, "electop: found no elections without a leader and no failed leaders")
	}
	width := cmp.Or(terminalWidth(w), output.DefaultWidth)
	for _, i := range r.items {
		for _, line := range []string{
			fmt.Sprintf("%s (key %s)", i.name(), sanitize.Line(i.Election.Key(), 200)),
			"  problem   " + string(i.Fix.Problem),
			"  why       " + i.Fix.Why,
			"  fix       " + i.Fix.Do,
		} {
			fmt.Fprintln(w, output.Wrap(line, width))
		}
	}
}

type rescueJSON struct {
	Election       string          `json:"election"`
	Key            string          `json:"key"`
	Datacenter     string          `json:"datacenter"`
	Problem        insight.Problem `json:"problem"`
	Why            string          `json:"why"`
	Fix            string          `json:"fix"`
	Do             string          `json:"do"`
	Keys           []string        `json:"keys,omitempty"`
	LockDelayUntil string          `json:"lock_delay_until,omitempty"`
	Session        string          `json:"session,omitempty"`
	Result         string          `json:"result"`
	Reason         string          `json:"reason,omitempty"`
	Leader         string          `json:"leader,omitempty"`
}

// report writes the result of one item: results and JSON to stdout, failures to stderr.
func (r *rescueCommand) report(i *rescueItem) error {
	if r.output == "json" {
		return r.reportJSON(i)
	}
	switch i.result {
	case resultApplied:
		_, err := fmt.Fprintf(r.d.stdout, "%s: %s applied (%s)\n", i.name(), i.Kind(), i.Fix.Problem)
		return err
	case resultLed:
		_, err := fmt.Fprintf(r.d.stdout, "%s: %s leads\n", i.name(), election.ShortLeader(i.leader))
		return err
	case resultWaiting, resultManual:
		if i.uncertain() {
			fmt.Fprintf(r.d.stderr, "electop: %s: %s %s\n", i.name(), i.Fix.Why, i.Fix.Do)
			return nil
		}
		fmt.Fprintf(r.d.stderr, "electop: %s: %s. %s\n", i.name(), i.Fix.Problem, i.Fix.Do)
	default:
		applied := "was not applied"
		if i.result == string(insight.OutcomeUnknown) {
			applied = "may have been applied"
		}
		fmt.Fprintf(r.d.stderr, "electop: %s: %s %s (%s): %s\n", i.name(), i.Kind(), applied, i.result, sanitize.Line(i.reason, 1000))
	}
	return nil
}

func (r *rescueCommand) reportJSON(i *rescueItem) error {
	e := i.Election
	j := rescueJSON{
		Election: e.Name, Key: e.Key(), Datacenter: e.Datacenter, Problem: i.Fix.Problem, Why: i.Fix.Why, Fix: i.Kind(), Do: i.Fix.Do, Keys: i.Destroy.Keys,
		LockDelayUntil: election.FormatTime(i.Fix.Until), Result: i.result, Reason: i.reason, Leader: i.leader,
	}
	if i.Fix.Problem == insight.ProblemNodeGone {
		j.Session = e.Pair.Session
	}
	return writeJSONLine(r.d.stdout, j)
}
