package cli

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
)

// action holds the flags of release and destroy.
type action struct {
	d       deps
	o       *options
	kind    election.ActionKind
	yes     bool
	wait    time.Duration
	node    string
	output  string
	session string // destroy only
	noScan  bool   // destroy only
}

func (a *action) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&a.yes, "yes", false, "skip the confirmation")
	f.DurationVar(&a.wait, "wait", 0, "wait this long for the next leader and report the vacancy")
	f.Var((*nonEmptyString)(&a.node), "node", "act on every election whose leader's session is on this node")
	outputFlag(cmd, &a.output, "text", "json")
}

// nonEmptyString is the value of a flag. It rejects an empty value, for example from an unset shell variable, which
// would have the same effect as an omitted flag.
type nonEmptyString string

func (s *nonEmptyString) String() string { return string(*s) }

func (s *nonEmptyString) Type() string { return "string" }

func (s *nonEmptyString) Set(value string) error {
	if value == "" {
		return errors.New("the value is empty")
	}
	*s = nonEmptyString(value)
	return nil
}

// run selects the elections, shows the plan, requests confirmation, and acts on each election only if its lock state
// has not changed since run read it.
func (a *action) run(ctx context.Context, names []string) error {
	if err := a.validate(names); err != nil {
		return err
	}
	l, err := a.o.openOne(a.d)
	if err != nil {
		return err
	}
	if err := l.read(ctx, nil); err != nil {
		return err
	}
	b := &batch{action: a, lookup: l}
	if err := b.choose(ctx, names); err != nil {
		return err
	}
	b.assess(ctx)
	if err := b.prepare(ctx); err != nil {
		return err
	}
	if err := b.execute(ctx); err != nil {
		return err
	}
	return b.result()
}

// validate checks the command line before the first request to Consul.
func (a *action) validate(names []string) error {
	if err := a.o.toWrite(string(a.kind)); err != nil {
		return err
	}
	switch {
	case a.wait < 0:
		return usagef("--wait %s: must be 0 or more", a.wait)
	case a.session != "" && (len(names) > 0 || a.node != ""):
		return usagef("--session cannot be combined with NAME or --node; see electop %s --help", a.kind)
	case len(names) == 0 && a.session == "" && a.node == "":
		return usagef("%s requires at least one NAME, or a flag such as --node; see electop %s --help", a.kind, a.kind)
	case !a.yes:
		return a.d.canAsk()
	}
	return nil
}

// showsPlan reports whether the command writes the plan. A destroy writes it even with --yes, because the session may
// hold any key.
func (a *action) showsPlan() bool { return !a.yes || a.searchesStore() }

// searchesStore reports whether the command searches the whole KV store before it writes the plan.
func (a *action) searchesStore() bool { return a.kind == election.ActionDestroy && !a.noScan }

// batch is one run of an action on one or more elections.
type batch struct {
	*action
	lookup
	items []*item
	// hidden is set if elections on the node of --node may be missing.
	hidden bool
	// held contains the keys that are held by the sessions to destroy. It is nil if the store was not searched.
	held     *heldKeys
	recorder *historyRecorder // nil if no history is used
	// written is the first error that occurred while a result was written.
	written error
}

// pending returns the items that have no outcome yet.
func (b *batch) pending() []*item {
	return slices.DeleteFunc(slices.Clone(b.items), func(s *item) bool { return !s.pending() })
}

// assess infers the effect of the action on each election. It sets the outcome of the items on which electop refuses to
// act.
func (b *batch) assess(ctx context.Context) {
	var keys []string
	for _, s := range b.pending() {
		if s.election != nil {
			keys = append(keys, s.election.Key())
		}
	}
	if len(keys) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	surroundings := map[string]election.Surroundings{}
	for _, read := range consulx.Surveys(ctx, b.client, keys) {
		surroundings[read.Key] = read
	}
	for _, s := range b.pending() {
		if s.election == nil {
			continue
		}
		s.assessment = newAssessment(b.snapshot, s.election, surroundings[s.election.Key()])
		s.effect = s.assessment.effect(b.kind, s.election)
		if s.effect.Refusal != "" {
			s.finish(insight.OutcomeRefused, s.effect.Refusal)
		}
	}
}

// prepare shows the plan, reports skipped elections and requests confirmation. The reports follow the plan, so that a
// long plan does not scroll them away.
func (b *batch) prepare(ctx context.Context) error {
	if b.showsPlan() {
		b.checkPermissions(ctx)
	}
	skipped := slices.DeleteFunc(slices.Clone(b.items), (*item).pending)
	err := b.explainPlan(ctx)
	for _, s := range skipped {
		b.report(s)
	}
	switch {
	case errors.Is(err, errDeclined):
		return err
	case err != nil:
		b.failPending(err)
	case b.showsPlan() && len(b.pending()) > 0:
		return b.confirm(ctx)
	}
	return nil
}

// explainPlan shows the plan, or only the warnings if the plan is not shown.
func (b *batch) explainPlan(ctx context.Context) error {
	if len(b.pending()) == 0 {
		return nil
	}
	if b.searchesStore() {
		if err := b.searchStore(ctx); err != nil {
			return err
		}
	}
	b.assessSession()
	if b.showsPlan() {
		b.showPlan()
	} else {
		b.showWarnings()
	}
	return nil
}

// checkPermissions finishes the items on which the token may not act, so that the user does not confirm an action that
// Consul will deny. If the token's permissions cannot be read, all pending items fail.
func (b *batch) checkPermissions(ctx context.Context) {
	for _, s := range b.pending() {
		rights, err := consulx.NewOperator(b.client, nil).Rights(ctx, s.target())
		if err != nil {
			finishAll(b.pending(), err)
			return
		}
		if missing, rule := rights.Missing(b.kind); missing {
			s.finish(insight.OutcomeDenied, "this token lacks "+rule)
		}
	}
}

// errDeclined reports that the user did not confirm.
var errDeclined = errors.New("nothing was done")
