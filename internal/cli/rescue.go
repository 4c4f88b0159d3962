package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

// rescueCommand finds elections that have no leader or whose leader has failed, and applies the fixes.
type rescueCommand struct {
	engine
	d      deps
	o      *options
	yes    bool
	dryRun bool
	output string
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
	r.report = func(*item) {} // finish reports all items in their order
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

func (r *rescueCommand) run(ctx context.Context, names []string) error {
	if r.wait < 0 {
		return usagef("--wait %s: must be 0 or more", r.wait)
	}
	r.o.consul.Stale = false // no fix may depend on stale data
	var err error
	if r.lookup, err = r.o.readOne(ctx, r.d, r.o.recorded(r.d)); err != nil { // includes elections whose key was deleted
		return err
	}
	chosen, err := r.elections(ctx, names)
	if err != nil {
		return err
	}
	r.inspect(ctx, chosen)
	if len(names) == 0 {
		// A deleted key for which no candidate was seen is normal, for example after the end of a job.
		r.items = slices.DeleteFunc(r.items, func(s *item) bool { return !s.election.Exists && s.problem.Code == insight.NoCandidates })
	}
	if r.dryRun || r.o.readOnly {
		return r.propose()
	}
	if err := r.confirmPlan(ctx); err != nil {
		return err
	}
	for _, s := range r.items {
		switch {
		case s.problem.Code == insight.LockDelay:
			s.Kind = resultWaiting
		case !s.fixable():
			s.Kind = resultManual
		}
	}
	if len(r.pending()) > 0 || r.wait > 0 && len(r.unsettled()) > 0 {
		recorder := r.o.recordActions(r.d, r.lookup)
		defer recorder.finish()
		r.awaitReady(ctx)
		if err := r.engine.run(ctx, recorder); err != nil {
			return err
		}
	}
	return r.finish(ctx, len(names) == 0)
}

// inspect finds the problems with the chosen elections. Those whose leader may be healthy come last.
func (r *rescueCommand) inspect(ctx context.Context, chosen []*election.Election) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	all := inspector{client: r.client, elections: r.snapshot.Elections, now: r.snapshot.At, probe: !r.o.readOnly, seen: r.d.seen}.inspect(ctx, chosen)
	uncertain := slices.DeleteFunc(slices.Clone(all), func(s *item) bool { return !s.uncertain() })
	r.items = append(slices.DeleteFunc(all, (*item).uncertain), uncertain...)
}

// confirmPlan shows the problems, and requests confirmation if a fix writes to Consul. --yes skips both.
func (r *rescueCommand) confirmPlan(ctx context.Context) error {
	if r.yes {
		return nil
	}
	n := len(r.fixable())
	if n > 0 {
		if err := r.d.canAsk(); err != nil {
			return err
		}
	}
	_ = r.writePlan(r.d.stderr) // a failed write of the plan must not stop the fixes
	switch n {
	case 0:
		return nil
	case 1:
		return r.d.confirm(ctx, "Apply 1 fix")
	}
	return r.d.confirm(ctx, fmt.Sprintf("Apply %d fixes", n))
}

func (r *rescueCommand) fixable() []*item {
	return slices.DeleteFunc(slices.Clone(r.items), func(s *item) bool { return !s.fixable() })
}

// awaitReady waits until electop has seen for long enough that the nodes of the leaders have failed.
func (r *rescueCommand) awaitReady(ctx context.Context) {
	var ready time.Time
	var nodes []string
	for _, s := range r.fixable() {
		nodes = append(nodes, s.election.Session.Node)
		if s.problem.ready.After(ready) {
			ready = s.problem.ready
		}
	}
	wait := time.Until(ready)
	if len(nodes) == 0 || wait <= 0 {
		return
	}
	slices.Sort(nodes)
	fmt.Fprintf(r.d.stderr, "the node check of %s is critical; electop waits %s to see that it stays so\n",
		lineNames(slices.Compact(nodes)), wait.Round(time.Second))
	select {
	case <-time.After(wait):
	case <-ctx.Done():
	}
}

// Results of a rescue in addition to those of an action.
const (
	resultProposed insight.OutcomeKind = "proposed" // the fix was not applied, because of --dry-run or --read-only
	resultWaiting  insight.OutcomeKind = "waiting"  // waiting for the end of a lock-delay
	resultManual   insight.OutcomeKind = "manual"   // electop cannot fix the problem
	resultLed      insight.OutcomeKind = "led"      // a leader was observed later, with or without a fix
)

// uncertain reports whether the election has a leader, but electop cannot tell whether that leader has failed.
func (s *item) uncertain() bool {
	return s.problem.Code == insight.UnknownProblem && s.election.Pair.Held()
}

// awaitsLeader reports whether the election may still get a leader.
func (s *item) awaitsLeader() bool {
	return !s.uncertain() && slices.Contains([]insight.OutcomeKind{insight.OutcomeDone, resultWaiting, resultManual}, s.Kind)
}

// seeLeader sets the result if the election has a new leader.
func (s *item) seeLeader(now *election.Snapshot) {
	was, is := s.election, now.Find(election.KeyID(s.Target.Key))
	if _, stale := now.StaleSince(s.Target.Key); stale || is == nil {
		return
	}
	if is.State(now.At) == election.Led && (!was.Exists || !was.Pair.Held() || is.Pair.Session != was.Pair.Session) {
		s.Kind, s.New.Leader = resultLed, is.Leader
	}
}

// propose reports the problems and their fixes without applying the fixes.
func (r *rescueCommand) propose() error {
	if r.output == "text" {
		return r.writePlan(r.d.stdout)
	}
	for _, s := range r.items {
		s.Kind = resultProposed
		if err := r.write(s); err != nil {
			return err
		}
	}
	return nil
}

// writePlan writes each election with its problem and the fix.
func (r *rescueCommand) writePlan(w io.Writer) error {
	if len(r.items) == 0 {
		r.d.warn("found no elections without a leader and no failed leaders")
	}
	var lines []string
	for _, s := range r.items {
		lines = append(lines, fmt.Sprintf("%s (key %s)", s.name(), sanitize.Line(s.Target.Key, 200)),
			"  problem   "+s.problem.Code, "  why       "+s.problem.Why, "  fix       "+s.problem.Fix)
	}
	return writePlanLines(w, lines)
}

// finish reports the items and returns the exit code. With all elections chosen, success needs that the token can read
// all of them.
func (r *rescueCommand) finish(ctx context.Context, all bool) error {
	codes := map[int]bool{}
	var err error
	for _, s := range r.items {
		code := exitOf(s.Kind, false)
		if s.Kind == insight.OutcomeDone && r.wait > 0 {
			code = exitNoLeader
		}
		codes[code] = true
		if written := r.write(s); err == nil {
			err = written
		}
	}
	if err == nil {
		err = worstOf(codes)
	}
	if err == nil && all {
		hidden, readErr := r.warnSilent(ctx)
		if err = readErr; hidden {
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

// write writes the result of one item: results and JSON to stdout, failures to stderr.
func (r *rescueCommand) write(s *item) error {
	p := s.problem
	if r.output == "json" {
		j := rescueJSON{
			Election: s.Target.Election, Key: s.Target.Key, Datacenter: s.election.Datacenter, Problem: p.Code, Why: p.Why, Fix: s.fixName(), Do: p.Fix,
			Keys: s.destroy.Keys, LockDelayUntil: election.FormatTime(p.Until), Result: s.Kind, Reason: s.Reason, Leader: s.New.Leader,
		}
		if s.Kind == insight.OutcomeDone {
			j.Result = "applied"
		}
		if p.Code == insight.LeaderFailed {
			j.Session = s.Target.Session
		}
		return writeJSONLine(r.d.stdout, j)
	}
	var err error
	switch s.Kind {
	case insight.OutcomeDone:
		_, err = fmt.Fprintf(r.d.stdout, "%s: %s applied (%s)\n", s.name(), s.fixName(), p.Code)
	case resultLed:
		_, err = fmt.Fprintf(r.d.stdout, "%s: %s leads\n", s.name(), election.ShortLeader(s.New.Leader))
	case resultWaiting, resultManual:
		why := p.Code + "."
		if s.uncertain() {
			why = p.Why
		}
		r.d.warn(fmt.Sprintf("%s: %s %s", s.name(), why, p.Fix))
	case insight.OutcomeUnknown:
		r.d.warn(fmt.Sprintf("%s: %s may have been applied (%s): %s", s.name(), s.fixName(), s.Kind, sanitize.Line(s.Reason, 1000)))
	default:
		r.d.warn(fmt.Sprintf("%s: %s was not applied (%s): %s", s.name(), s.fixName(), s.Kind, sanitize.Line(s.Reason, 1000)))
	}
	return err
}

// fixName returns "wait", "manual" or "destroy_session".
func (s *item) fixName() string {
	switch {
	case s.problem.Code == insight.LockDelay:
		return "wait"
	case s.fixable():
		return "destroy_session"
	}
	return "manual"
}
