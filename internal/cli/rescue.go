package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/internal/act"
	"electop/internal/crash"
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
  awaiting_candidates
                    wait: electop has seen the key free for less than 25 s, and
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
them. It then lists idle elections, too: one read cannot tell a finished job
from a service that has just failed. An election that the history knows to be
idle for longer than 85 s is listed only if it is named.

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
  5  denied by the store, or unknown token or user
  4  the state changed before a fix; nothing was written
  7  a listed problem remains: electop does not apply its fix, or it is unknown
     whether the leader has failed; or a warning names a failed leader
  0  no problem, or every listed fix was applied and a read afterwards showed
     that the session no longer holds its keys; always with --dry-run`

func newRescueCommand(o *options) *cobra.Command {
	r := &rescueCommand{engine: engine{lookup: lookup{options: o}}}
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
	f.BoolVar(&r.dryRun, "dry-run", false, "show the problems and the fixes without applying them")
	f.DurationVar(&r.wait, "wait", 0, "wait up to this long for the next leader of each election whose fix was applied")
	o.confirmFlags(cmd)
	return cmd
}

func (r *rescueCommand) run(ctx context.Context, names []string) error {
	r.consul.Stale = false // no fix may depend on stale data
	var err error
	if r.lookup, err = r.readOne(ctx, true); err != nil { // includes elections whose key was deleted
		return err
	}
	chosen, err := r.elections(ctx, names)
	if err != nil {
		return err
	}
	other := ""
	if len(names) == 0 {
		all := len(chosen)
		chosen = election.Without(chosen, func(e *election.Election) bool {
			return e.State(r.snapshot.At) == election.Idle && r.snapshot.At.Sub(e.VacantSince) > cmp.Or(r.seen, insight.IdleAfter)
		})
		if idle := all - len(chosen); idle > 0 {
			other = "other "
			r.warn(election.Plural(idle, "idle election") + " omitted; electop rescue NAME diagnoses one")
		}
	}
	r.items = r.inspect(ctx, chosen, !r.readOnly)
	remains := r.warnFailed(ctx, election.Without(chosen, func(e *election.Election) bool { return insight.FixNeeds(e, r.snapshot.At) != insight.NeedsNothing }))
	if len(r.items) == 0 && !remains {
		r.warn("found no " + other + "elections without a leader, and no failed leaders whose sessions will not expire; Consul does not report whether a process without a check still runs")
	}
	switch proposed := r.dryRun || r.readOnly; {
	case proposed && r.output != "json":
		return r.writePlan(r.stdout)
	case proposed:
		r.set(resultProposed, func(*act.Item) bool { return true })
		return r.written
	}
	if len(names) == 0 {
		r.hidden, err = r.warnSilent(ctx)
	}
	if err == nil {
		err = r.confirmPlan(ctx)
	}
	if err != nil {
		return err
	}
	r.set(act.OutcomeWaiting, func(s *act.Item) bool { return !s.Fix.Until.IsZero() })
	r.set(resultManual, func(s *act.Item) bool { return !fixable(s) })
	var wait time.Duration // electop must have seen for long enough that the nodes of the leaders have failed
	for _, s := range r.pending() {
		wait = max(wait, time.Until(s.Ready))
	}
	if wait > 0 {
		fmt.Fprintf(r.stderr, "electop waits %s to see that the node checks stay critical\n", election.Remaining(wait))
		consulx.Sleep(ctx, wait)
	}
	r.engine.run(ctx)
	if err = r.exit(); err == nil && remains {
		err = exitError(exitNoLeader)
	}
	return err
}

// set finishes the pending items for which is returns true, and reports them.
func (r *rescueCommand) set(kind act.OutcomeKind, is func(*act.Item) bool) {
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
	fixes := len(election.Without(r.items, func(i *act.Item) bool { return !fixable(i) }))
	switch {
	case fixes > 0:
		if err := r.canAsk(); err != nil {
			return err
		}
	case r.output != "json":
		return r.writePlan(r.stdout)
	}
	_ = r.writePlan(r.stderr) // a failed write of the plan must not stop the fixes
	if fixes == 0 {
		return nil
	}
	return r.confirm(ctx, fmt.Sprintf("Destroy the sessions of failed nodes (%s)", election.Plural(fixes, "election")))
}

// Results of a rescue in addition to those of an action. OutcomeWaiting is the wait for the end of a lock-delay or for
// the candidates.
const (
	resultProposed act.OutcomeKind = "proposed" // the fix was not applied, because of --dry-run or --read-only
	resultManual   act.OutcomeKind = "manual"   // electop cannot fix the problem
)

// writePlan writes each election with its problem and the fix.
func (r *rescueCommand) writePlan(w io.Writer) error {
	return r.page(w, defaultWidth, func(page *kit.Page) {
		for _, i := range r.items {
			page.Para(kit.Strong, fmt.Sprintf("%s (key %s)", i.Name(), clean(i.Target.Key)))
			page.Field("Problem", kit.Text.Span(i.Fix.Code))
			page.Field("Why", kit.Text.Span(i.Fix.Why))
			page.Advice("Fix", i.Fix.Fix)
		}
	})
}

type rescueJSON struct {
	Election       string          `json:"election"`
	Key            string          `json:"key"`
	Datacenter     string          `json:"datacenter"`
	Problem        string          `json:"problem"`
	Why            string          `json:"why"`
	Fix            string          `json:"fix"`
	Do             string          `json:"do"`
	Keys           []string        `json:"keys,omitempty"`
	LockDelayUntil string          `json:"lock_delay_until,omitempty"`
	Session        string          `json:"session,omitempty"`
	Result         act.OutcomeKind `json:"result"`
	Reason         string          `json:"reason,omitempty"`
	Leader         string          `json:"leader,omitempty"`
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
	if s.Kind == act.OutcomeWaiting || s.Kind == resultManual {
		if text = p.Why + " " + p.Fix; !r.yes && r.output != "json" {
			return // the plan contains it
		}
	}
	j := rescueJSON{
		Election: s.Target.Election, Key: s.Target.Key, Datacenter: s.Election.Datacenter, Problem: p.Code, Why: p.Why, Fix: fix, Do: p.Fix,
		Keys: s.Destroy.Keys, Session: s.Target.Session, Result: s.Kind, Reason: s.Reason, Leader: s.New.Leader,
	}
	if p.Code == insight.LockDelay {
		j.LockDelayUntil = election.FormatTime(p.Until)
	}
	r.print(j, s.Name()+": "+text, s.Kind != resultProposed && !s.Kind.Applied())
}

// fixable reports whether electop can apply the fix, which destroys the session of the election's leader.
func fixable(i *act.Item) bool { return len(i.Destroy.Keys) > 0 }

// inspect returns the chosen elections of the snapshot that have no effective leader, in the order of chosen. All its
// reads are consistent. It can probe for lock-delays, which requires write permission on the keys.
func (l lookup) inspect(ctx context.Context, chosen []*election.Election, probe bool) []*act.Item {
	l.store = l.Consistently()
	now := l.snapshot.At
	var vacant, held []*election.Election
	for _, e := range chosen {
		switch insight.FixNeeds(e, now) {
		case insight.NeedsSurroundings:
			vacant = append(vacant, e)
		case insight.NeedsChecks:
			held = append(held, e)
		default:
		}
	}
	facts, sessions := l.readVacant(ctx, vacant, probe)
	checks := l.leaderChecks(ctx, held)
	for _, e := range held {
		facts[e] = &insight.Facts{Now: now, Unread: unread(e, checks)}
	}
	board := insight.NewBoard(l.snapshot.Elections, sessions).WithChecks(checks)
	var items []*act.Item
	for _, e := range chosen {
		if f := facts[e]; f != nil && f.Delay != insight.LockHeld { // otherwise, a session has acquired the key
			if fix := board.Fix(e, *f); fix != nil {
				l.pasteable(fix)
				o, d := act.Outcome{Action: election.ActionDestroy, Target: e.Target()}, act.Diagnosis{Fix: fix, Facts: *f, Checks: checks}
				if e.Session != nil {
					d.Ready = checks[e.Session.Node].At.Add(cmp.Or(l.seen, insight.FailureSeen))
				}
				items = append(items, &act.Item{Election: e, Outcome: o, Diagnosis: d})
			}
		}
	}
	l.planFixes(ctx, items)
	return items
}

// readVacant reads the facts about elections without a leader, and all sessions. It probes each election for a
// lock-delay; if the probe fails, for example because a permission is missing, the lock-delay remains unknown.
func (l lookup) readVacant(ctx context.Context, vacant []*election.Election, probe bool) (facts map[*election.Election]*insight.Facts, sessions []*election.Session) {
	facts = map[*election.Election]*insight.Facts{}
	if len(vacant) == 0 {
		return facts, nil
	}
	for i, around := range l.Survey(ctx, election.Map(vacant, (*election.Election).Key)) {
		facts[vacant[i]], sessions = &insight.Facts{Now: l.snapshot.At, Around: &around}, around.Sessions // all elections share one list of sessions
	}
	crash.Each(len(vacant), consulx.Parallel, func(i int) {
		if f := facts[vacant[i]]; probe && !vacant[i].Unreadable {
			found, err := consulx.ProbeLockDelay(ctx, l.client(), vacant[i].Key())
			if f.Delay = found.State; err != nil {
				f.DelayErr = consulx.Describe(err)
			}
		}
	})
	return facts, sessions
}

// unread returns the reason why it is unknown whether the leader's node has failed, or "" if the checks were read. A token
// that can read any check of a node can read its node checks.
func unread(e *election.Election, checks map[string]election.NodeChecks) string {
	if e.Session == nil {
		return "its session could not be read"
	}
	if err := checks[e.Session.Node].Err; err != "" {
		return fmt.Sprintf("the checks of %s could not be read (%s)", election.Label(e.Session.Node), clean(err))
	}
	return ""
}

// planFixes adds the keys that each fix affects: every key in the store that the session holds. A fix is manual if the
// session may hold a key that has no problem of its own.
func (l lookup) planFixes(ctx context.Context, items []*act.Item) {
	gone := election.Without(items, func(i *act.Item) bool { return i.Fix.Code != insight.LeaderFailed })
	if len(gone) == 0 {
		return
	}
	err := l.searchHoldings(ctx, gone, nil)
	for _, i := range gone {
		others := election.Without(i.Destroy.Keys, func(key string) bool {
			return slices.ContainsFunc(gone, func(other *act.Item) bool {
				return other.Target.Key == key && strings.EqualFold(other.Target.Session, i.Target.Session)
			})
		})
		reason := "the session also holds " + lineNames(others) + ", which this diagnosis does not include"
		switch {
		case err != nil:
			reason = "the search for the session's keys failed (" + consulx.Describe(err) + ")"
		case !slices.Contains(i.Destroy.Keys, i.Target.Key):
			i.Fix.Fix, i.Destroy = "Run the diagnosis again: the session no longer holds the key.", election.Destroy{}
			continue
		case len(others) == 0:
			i.Destroy.Evidence, i.Target.Note = l.evidence(i), act.FixNote(i.Fix.Code, i.Target)
			continue
		}
		i.Destroy = election.Destroy{}
		i.Fix.Fix += " electop does not apply this fix: " + reason + ". electop destroy --session " + i.Target.Session + " shows its keys."
	}
}

// evidence returns a function that reads the checks of the leader's node again. The function fails unless electop has
// seen for long enough that the node has failed.
func (l lookup) evidence(s *act.Item) func(context.Context) error {
	e, node, name := s.Election, s.Election.Session.Node, election.Label(s.Election.Session.Node)
	return func(ctx context.Context) error {
		again := l.Checks(ctx, []string{node})
		if reason := unread(e, again); reason != "" {
			return consulx.Fail(election.ErrRefused, "%s", reason)
		}
		switch was, is := insight.FailureOf(e, s.Checks), insight.FailureOf(e, again); {
		case is == nil || is.Check.ModifyIndex != was.Check.ModifyIndex:
			return consulx.Fail(election.ErrMoved, "the node check of %s changed", name)
		case again[node].At.Before(s.Ready):
			return consulx.Fail(election.ErrRefused, "electop has not seen for long enough that the node check of %s is critical", name)
		}
		return nil
	}
}

// Diagnose finds the problem with an election of a snapshot, as electop rescue does. A fix destroys a session, so the
// diagnosis includes all elections that the session leads.
func (b *dashboard) Diagnose(ctx context.Context, s *election.Snapshot, e *election.Election) act.Diagnosis {
	c, err := b.find(e.Datacenter)
	if err != nil {
		return act.Diagnosis{}
	}
	chosen := []*election.Election{e}
	for _, other := range s.Elections {
		if other.ID() != e.ID() && e.Pair.Held() && other.Pair.HeldBy(e.Pair.Session) {
			chosen = append(chosen, other)
		}
	}
	now := c.lookup
	now.snapshot = &election.Snapshot{At: time.Now(), Elections: s.Elections}
	for _, i := range now.inspect(ctx, chosen, !b.readOnly && !e.Store.Leases) {
		if i.Election == e {
			seen := s.ChecksOf(e) // the board may have seen the same failure before
			if was, is := insight.FailureOf(e, seen), insight.FailureOf(e, i.Checks); was != nil && is != nil && was.Check.ModifyIndex == is.Check.ModifyIndex {
				i.Ready = seen[e.Session.Node].At.Add(insight.FailureSeen)
			}
			return i.Diagnosis
		}
	}
	return act.Diagnosis{}
}
