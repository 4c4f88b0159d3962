package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

// actTimeout bounds one write to Consul.
const actTimeout = 15 * time.Second

// action holds the flags that release and destroy share.
type action struct {
	d       deps
	o       *options
	kind    election.ActionKind
	yes     bool
	wait    time.Duration
	node    string
	output  string
	session string // destroy only: the session to destroy, whatever it holds
	scan    bool   // destroy only
	noScan  bool   // destroy only
}

func (a *action) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&a.yes, "yes", false, "skip the confirmation")
	f.DurationVar(&a.wait, "wait", 0, "wait this long for the next leader and report the vacancy")
	f.Var((*selector)(&a.node), "node", "act on every election that a session on this node leads")
	outputFlag(cmd, &a.output, "text", "json")
}

// selector is a flag that chooses what to act on. Empty, as from a variable of a
// script that is not set, it would choose more than was meant.
type selector string

func (s *selector) String() string { return string(*s) }

func (s *selector) Type() string { return "string" }

func (s *selector) Set(value string) error {
	if value == "" {
		return errors.New("the value is empty")
	}
	*s = selector(value)
	return nil
}

// run finds the elections, shows what will happen, asks, and acts on exactly
// the holds that it read.
func (a *action) run(ctx context.Context, names []string) error {
	if err := a.validate(names); err != nil {
		return err
	}
	client, ps, err := a.o.prepare()
	if err != nil {
		return err
	}
	defer client.Close()
	snapshot, err := look(ctx, client, ps)
	if err != nil {
		return err
	}
	j := &job{action: a, client: client, patterns: ps, snapshot: snapshot}
	if err := j.choose(ctx, names); err != nil {
		return err
	}
	j.survey(ctx)
	if err := j.announce(ctx); err != nil {
		return err
	}
	if err := j.carryOut(ctx); err != nil {
		return err
	}
	return j.verdict()
}

// validate refuses a command line before Consul is asked anything.
func (a *action) validate(names []string) error {
	switch {
	case a.o.readOnly:
		return usagef("--read-only forbids %s", a.kind)
	case a.wait < 0:
		return usagef("--wait %s: want a positive duration", a.wait)
	case a.session != "" && (len(names) > 0 || a.node != ""):
		return usagef("--session takes no NAME and no --node; see electop %s --help", a.kind)
	case len(names) == 0 && a.session == "" && a.node == "":
		return usagef("%s takes at least one NAME, or --node; see electop %s --help", a.kind, a.kind)
	case a.scan && a.noScan:
		return usagef("--scan and --no-scan exclude each other")
	case !a.yes:
		return a.d.canAsk()
	}
	return nil
}

// shows reports whether the plan is written.
func (a *action) shows() bool { return !a.yes || a.scan }

// searches reports whether the whole store is searched before the plan.
func (a *action) searches() bool {
	return a.kind == election.ActionDestroy && a.shows() && !a.noScan
}

// job is one run of an action: the elections it is about and what became of them.
type job struct {
	*action
	client   *consulx.Client
	patterns election.Patterns
	snapshot *election.Snapshot
	subjects []*subject
	// held lists the keys of the sessions to destroy, nil when the store was not
	// searched.
	held *holdings
	// written is the first error of writing a result.
	written error
}

// pending lists the subjects that are still to be acted on.
func (j *job) pending() []*subject {
	var all []*subject
	for _, s := range j.subjects {
		if s.pending() {
			all = append(all, s)
		}
	}
	return all
}

// survey infers what is known about each election and settles those on which
// electop does not act.
func (j *job) survey(ctx context.Context) {
	var keys []string
	for _, s := range j.pending() {
		if s.election != nil {
			keys = append(keys, s.election.Key())
		}
	}
	if len(keys) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	surroundings := map[string]election.Surroundings{}
	for _, read := range consulx.Surveys(ctx, j.client, keys) {
		surroundings[read.Key] = read
	}
	for _, s := range j.pending() {
		if s.election == nil {
			continue
		}
		s.insight = newInsight(j.snapshot, s.election, surroundings[s.election.Key()])
		s.effect = s.insight.effect(j.kind, s.election)
		if s.effect.Refusal != "" {
			s.settle(insight.OutcomeRefused, s.effect.Refusal)
		}
	}
}

// announce shows the plan, reports the elections that are not acted on and asks.
// They come last, so that a long plan does not scroll them away.
func (j *job) announce(ctx context.Context) error {
	if j.shows() {
		j.preflight(ctx)
	}
	skipped := slices.DeleteFunc(slices.Clone(j.subjects), (*subject).pending)
	err := j.explain(ctx)
	for _, s := range skipped {
		j.report(s)
	}
	switch {
	case errors.Is(err, errDeclined):
		return err
	case err != nil:
		j.abandon(err)
	case j.shows() && len(j.pending()) > 0:
		return j.confirm(ctx)
	}
	return nil
}

// explain shows the plan, or without one the warnings.
func (j *job) explain(ctx context.Context) error {
	if len(j.pending()) == 0 {
		return nil
	}
	if j.searches() {
		if err := j.search(ctx); err != nil {
			return err
		}
	}
	j.surveySession()
	if j.shows() {
		j.showPlan()
	} else {
		j.warn()
	}
	return nil
}

// carryOut acts on the elections that are left and follows them for --wait.
func (j *job) carryOut(ctx context.Context) error {
	switch {
	case len(j.pending()) == 0:
		return nil
	case j.wait > 0:
		return j.actAndFollow(ctx)
	}
	j.act(ctx, consulx.NewOperator(j.client, nil))
	return nil
}

// act tries the action on each pending election in turn, and reports those that
// need not be followed.
func (j *job) act(ctx context.Context, operator *consulx.Operator) {
	for {
		next := firstPending(j.subjects)
		if next == nil {
			return
		}
		for _, s := range j.actOn(ctx, operator, next) {
			if !s.pending() && (j.wait == 0 || s.outcome.Settled()) {
				j.report(s)
			}
		}
	}
}

// actOn settles one subject, and with a session that is destroyed all that it
// leads.
func (j *job) actOn(ctx context.Context, operator *consulx.Operator, s *subject) []*subject {
	if ctx.Err() != nil {
		s.settle(insight.OutcomeFailed, "interrupted before the "+string(j.kind))
		return []*subject{s}
	}
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	if j.kind == election.ActionDestroy {
		return j.destroy(ctx, operator, s)
	}
	released, err := operator.Release(ctx, s.target())
	s.outcome = noted(settled(s.outcome, err), released)
	return []*subject{s}
}

// destroy ends the session of a subject, once, and settles every subject that the
// session leads. If the key of the destroy has moved, the others stay pending.
func (j *job) destroy(ctx context.Context, operator *consulx.Operator, first *subject) []*subject {
	var group []*subject
	for _, s := range j.pending() {
		if s.target().Session == first.target().Session {
			group = append(group, s)
		}
	}
	if len(group) > 1 || j.session != "" {
		if err := j.recheck(ctx, group); err != nil {
			return settleAll(group, err)
		}
	}
	target := election.Target{Session: j.session}
	if j.session == "" {
		first = firstPending(group)
		if first == nil {
			return group
		}
		target = first.target()
	}
	_, err := operator.DestroySession(ctx, target)
	if errors.Is(err, consulx.ErrMoved) {
		first.outcome = settled(first.outcome, err)
		return group
	}
	return settleAll(group, err)
}

func firstPending(all []*subject) *subject {
	for _, s := range all {
		if s.pending() {
			return s
		}
	}
	return nil
}

func settleAll(all []*subject, err error) []*subject {
	for _, s := range all {
		if s.pending() {
			s.outcome = settled(s.outcome, err)
		}
	}
	return all
}

// recheck reads the keys again and settles those that the session no longer
// holds: Consul destroys a session whatever it holds, and electop binds the
// destroy to one key at most.
func (j *job) recheck(ctx context.Context, group []*subject) error {
	session := group[0].target().Session
	keys := j.listed(group)
	holders, err := consulx.Holders(ctx, j.client, keys)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if holders[key] == session {
			continue
		}
		if j.session != "" {
			return fmt.Errorf("the session no longer holds %s: %w", sanitize.Line(key, 200), consulx.ErrMoved)
		}
		for _, s := range group {
			if s.target().Key == key {
				s.settle(insight.OutcomeChanged, "the session no longer holds the key")
			}
		}
	}
	return nil
}

// listed are the keys that must not have moved: with --session those that the
// search found too.
func (j *job) listed(group []*subject) []string {
	var keys []string
	for _, s := range group {
		if key := s.target().Key; key != "" {
			keys = append(keys, key)
		}
	}
	if j.session != "" {
		for _, p := range j.held.of(j.session) {
			keys = append(keys, p.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// abandon settles and reports the elections on which electop does not act because
// of an error.
func (j *job) abandon(err error) {
	for _, s := range settleAll(j.pending(), err) {
		j.report(s)
	}
}

// preflight settles the elections that the token may not change, so that nobody
// is asked about an action that Consul refuses. Unless electop learns what the
// token may, it does not act.
func (j *job) preflight(ctx context.Context) {
	for _, s := range j.pending() {
		rights, err := consulx.NewOperator(j.client, nil).Rights(ctx, s.target())
		if err != nil {
			settleAll(j.pending(), err)
			return
		}
		allowed, rule := rights.Release, rights.ReleaseRule
		if j.kind == election.ActionDestroy {
			allowed, rule = rights.Destroy, rights.DestroyRule
		}
		if rights.Known && !allowed {
			s.settle(insight.OutcomeDenied, "this token lacks "+rule)
		}
	}
}

// errDeclined says that the user answered no.
var errDeclined = errors.New("nothing was done")
