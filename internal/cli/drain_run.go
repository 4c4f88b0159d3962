package cli

import (
	"cmp"
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/internal/act"
)

// watchedExactly is the maximum number of elections that a drain watches key by key. For more elections it watches
// the patterns, which needs fewer queries.
const watchedExactly = 32

// patternsToWatch returns patterns that match the keys of the plan.
func (d *drainer) patternsToWatch() election.Patterns {
	planned := d.plan.Planned()
	all := len(planned) > watchedExactly
	var ps election.Patterns
	if all {
		ps = slices.Clone(d.patterns)
	}
	for _, item := range planned {
		if !all || !item.Watched {
			ps = append(ps, election.KeyPattern(item.Target.Key))
		}
	}
	return ps
}

// execute carries out the plan, and verifies with a second plan that sessions on the nodes lead no election. unverified
// is nil if this was verified. changed receives each changed result; connection receives the reason when the connection
// is lost, and "" when it is restored. execute never calls them concurrently.
func (d *drainer) execute(
	ctx context.Context, recorder *historyRecorder, changed func(act.Result), connection func(string),
) (results []act.Result, unverified error) {
	if len(d.plan.Planned()) == 0 {
		results = act.NewRunner(d.plan, nil).Results()
		for _, r := range results {
			changed(r)
		}
		return results, d.complete(ctx)
	}
	results, err := d.move(ctx, recorder, changed, connection)
	if err != nil {
		return results, err
	}
	f, err := d.facts(ctx, d.plan.Nodes)
	if err != nil {
		return results, err
	}
	d.found = f
	checked := act.Check(results, act.NewPlan(f, nil, d.selected.excluded))
	for i, r := range checked {
		if i >= len(results) || r.Status != results[i].Status {
			changed(r)
		}
	}
	return checked, d.complete(ctx)
}

// complete returns an error if keys may be missing from the latest plan. With --include, only these keys and their
// holders' sessions must be readable.
func (d *drainer) complete(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	hidden := d.found.Incomplete != "" && len(d.selected.include) == 0
	_, unread := d.found.Unread()
	for key := range d.selected.include {
		isHidden, err := consulx.Hidden(ctx, d.client, key)
		if err != nil {
			return err
		}
		hidden = hidden || isHidden || slices.Contains(unread, key)
	}
	if hidden {
		return consulx.Fail(consulx.ErrDenied, "%s", cmp.Or(d.found.Incomplete, incomplete(true, false)))
	}
	return nil
}

// move observes the elections of the plan and moves them. It returns an error if it was interrupted or could not begin.
func (d *drainer) move(
	ctx context.Context, recorder *historyRecorder, changed func(act.Result), connection func(string),
) ([]act.Result, error) {
	operator := &drainOperator{recorder: recorder, planned: map[string]bool{}}
	for _, item := range d.plan.Planned() {
		operator.planned[item.Target.Key] = true
	}
	runner := act.NewRunner(d.plan, operator)
	runner.OnResult, runner.OnConnection = changed, connection
	ps := d.patternsToWatch()
	observer := observe.New(d.client, observe.Options{Patterns: ps, OnEvents: runner.Observe})
	note := func(a election.OperatorAction) {
		observer.Note(a)
		d.note(a)
	}
	operator.Operator, operator.find = consulx.NewOperator(d.client, note), observer.Election
	// After an interruption, the observer runs until the writes in progress have ended.
	octx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var g errgroup.Group
	g.Go(func() error { return observer.Run(octx) })
	defer func() {
		cancel()
		_ = g.Wait() // the observer returns an error only if it is run twice
	}()
	first, err := awaitSnapshot(ctx, d.client, ps, observer.Snapshots())
	if err != nil {
		return runner.Results(), err
	}
	runner.See(first)
	g.Go(func() error {
		for s := range observer.Snapshots() {
			runner.See(s)
		}
		return nil
	})
	results := runner.Run(ctx)
	return results, ctx.Err()
}

// drainOperator writes to Consul and records each action.
type drainOperator struct {
	*consulx.Operator
	find     func(key string) *election.Election
	recorder *historyRecorder
	planned  map[string]bool
}

// Release unlocks the key of one hold. It uses the latest observation, because another read would give the candidates
// on the drained node more time to acquire the key again.
func (o *drainOperator) Release(ctx context.Context, t election.Target) insight.Outcome {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	var err error
	if e := o.find(t.Key); e != nil && t.SameHold(e.Pair) {
		err = o.ReleaseObserved(ctx, e)
	} else {
		err = o.Operator.Release(ctx, t)
	}
	outcome := outcomeOf(insight.Outcome{Action: election.ActionRelease, Target: t}, err)
	o.recorder.action(outcome)
	return outcome
}

// Destroy destroys the session of one hold, unless the session holds a key that is not part of the drain.
func (o *drainOperator) Destroy(ctx context.Context, t election.Target) insight.Outcome {
	asked := time.Now()
	held, _, err := o.HeldBy(ctx, t.Session, asked)
	if other := slices.IndexFunc(held, func(key string) bool { return !o.planned[key] }); other >= 0 {
		err = consulx.Fail(consulx.ErrRefused, "it also holds %s, which is not part of the drain", sanitize.Line(held[other], 200))
	}
	if err == nil {
		err = o.DestroySession(ctx, election.Destroy{Target: t, Keys: held, Shown: asked}) // it refuses if keys are hidden
	}
	outcome := outcomeOf(insight.Outcome{Action: election.ActionDestroy, Target: t}, err)
	o.recorder.action(outcome)
	return outcome
}
