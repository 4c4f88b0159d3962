package cli

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/internal/drain"
)

// watchedExactly is the maximum number of elections that a drain watches key by key. For more elections it watches
// the patterns, which needs fewer queries.
const watchedExactly = 32

// patternsToWatch returns patterns that match the keys of the plan, and with --watch all elections.
func (r *drainRun) patternsToWatch() election.Patterns {
	planned := r.plan.Planned()
	all := r.watch || len(planned) > watchedExactly
	var ps election.Patterns
	if all {
		ps = slices.Clone(r.patterns)
	}
	for _, item := range planned {
		if !all || !item.Watched {
			ps = append(ps, election.KeyPattern(item.Target.Key))
		}
	}
	return ps
}

// execute runs the plan and reports every election.
func (r *drainRun) execute(ctx context.Context) error {
	view := newDrainView(r)
	if len(r.plan.Planned()) == 0 && !r.watch {
		results := drain.NewRunner(r.plan, nil, drain.Options{OnResult: view.changed}).Run(ctx)
		view.flush()
		return view.finish(ctx, results)
	}
	recorder := r.o.record(r.client, r.d.warn)
	recorder.observes(r.snapshot.Datacenter)
	r.connection = view.connection
	stop := view.start()
	results, err := r.move(ctx, recorder, view.changed)
	stop()
	recorder.finish()
	if err != nil {
		return err
	}
	return view.finish(ctx, results)
}

// move observes the elections and runs the drain. It calls changed with every changed result, but never
// concurrently.
func (r *drainRun) move(ctx context.Context, recorder *historyRecorder, changed func(drain.Result)) ([]drain.Result, error) {
	operator := &drainOperator{client: r.client, recorder: recorder, planned: map[string]bool{}}
	for _, item := range r.plan.Planned() {
		operator.planned[item.Target.Key] = true
	}
	runner := drain.NewRunner(r.plan, operator, drain.Options{
		Rounds: r.rounds, Settle: r.settle, Wait: r.wait, Destroy: r.destroy, Watch: r.watch,
		OnResult: changed, OnConnection: r.connection, Admit: r.admit,
	})
	ps := r.patternsToWatch()
	observer := observe.New(r.client, observe.Options{Patterns: ps, OnEvents: runner.Observe})
	operator.Operator, operator.find = consulx.NewOperator(r.client, r.notes(observer)), observer.Election
	// After an interruption, the observer runs until the writes in progress have ended.
	octx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var g errgroup.Group
	g.Go(func() error { return observer.Run(octx) })
	defer func() {
		cancel()
		_ = g.Wait() // the observer returns an error only if it is run twice
	}()
	first, err := awaitSnapshot(ctx, r.client, ps, observer.Snapshots())
	switch {
	case ctx.Err() != nil:
		return nil, errInterrupted
	case err != nil:
		return nil, err
	}
	runner.See(first)
	g.Go(func() error {
		for s := range observer.Snapshots() {
			runner.See(s)
		}
		return nil
	})
	results := runner.Run(ctx)
	if ctx.Err() == nil {
		r.verify(ctx, results, changed)
	}
	return results, nil
}

// notes returns the function that receives each action of the drain.
func (r *drainRun) notes(observer *observe.Observer) func(election.OperatorAction) {
	if r.note == nil {
		return observer.Note
	}
	return func(a election.OperatorAction) {
		observer.Note(a)
		r.note(a)
	}
}

// verify reads the holders again for a correct exit code: a session on a drained node may have acquired a key after
// the last observation.
func (r *drainRun) verify(ctx context.Context, results []drain.Result, changed func(drain.Result)) {
	holders, err := r.holdersHere(ctx, results)
	if err != nil {
		r.d.warn("the result was not verified: " + consulx.Describe(err))
	}
	for i, result := range results {
		session := holders[result.Item.Target.Key]
		if session == nil || result.Here || result.Status == drain.Skipped {
			continue
		}
		t := election.Target{Session: session.ID, Node: session.Node, Leader: election.LeaderLabel(election.Pair{}, session)}
		result.Status, result.Here, result.Leader = drain.Stayed, true, insight.Outcome{Target: t}.Old()
		result.Reason = "a session on the node acquired the key again at the end of the drain"
		results[i] = result
		changed(result)
	}
}

// holdersHere returns, by key, the sessions on the drained nodes that hold elections of the drain.
func (r *drainRun) holdersHere(ctx context.Context, results []drain.Result) (map[string]*election.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	keys := make([]string, len(results))
	for i, result := range results {
		keys[i] = result.Item.Target.Key
	}
	holders, err := consulx.Holders(ctx, r.client, keys)
	if err != nil {
		return nil, err
	}
	sessions, err := consulx.Sessions(ctx, r.client)
	if err != nil && !errors.Is(err, consulx.ErrIncomplete) {
		return nil, err
	}
	onNode := map[string]*election.Session{}
	for _, s := range sessions {
		if slices.Contains(r.plan.Nodes, s.Node) {
			onNode[s.ID] = s
		}
	}
	here := map[string]*election.Session{}
	for key, holder := range holders {
		here[key] = onNode[holder]
	}
	return here, nil
}

// admit plans an election that a session on a drained node acquired during --watch. It returns nil if the election is
// not part of the drain.
func (r *drainRun) admit(ctx context.Context, s *election.Snapshot, e *election.Election) *drain.Item {
	if r.selected.excluded(e) != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	around := consulx.Survey(ctx, r.client, e.Key())
	sessions := around.Sessions
	if e.Session != nil {
		sessions = append(slices.Clone(sessions), e.Session)
	}
	one := *s
	one.Elections = []*election.Election{e}
	f := drain.Facts{Nodes: r.plan.Nodes, Patterns: r.patterns, Snapshot: &one, Sessions: sessions}
	plan := drain.NewPlan(f, map[string]election.Surroundings{e.Key(): around}, r.selected.excluded)
	if len(plan.Items) == 0 {
		return nil
	}
	return plan.Items[0]
}

// drainOperator writes to Consul and records each action.
type drainOperator struct {
	*consulx.Operator
	find     func(key string) *election.Election
	client   *consulx.Client
	recorder *historyRecorder
	planned  map[string]bool
}

// Release unlocks the key of one hold. It uses the latest observation, because another read would give the candidates
// on the drained node more time to acquire the key again.
func (o *drainOperator) Release(ctx context.Context, t election.Target) insight.Outcome {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	var released consulx.Released
	var err error
	if e := o.find(t.Key); e != nil && t.SameHold(e.Pair) {
		released, err = o.ReleaseObserved(ctx, e)
	} else {
		released, err = o.Operator.Release(ctx, t)
	}
	outcome := withNote(outcomeOf(insight.Outcome{Action: election.ActionRelease, Target: t}, err), released)
	o.recorder.action(outcome)
	return outcome
}

// Destroy destroys the session of one hold, unless the session holds a key that is not part of the drain.
func (o *drainOperator) Destroy(ctx context.Context, t election.Target) insight.Outcome {
	outcome := insight.Outcome{Action: election.ActionDestroy, Target: t}
	if reason := o.holdsMore(ctx, t.Session); reason != "" {
		outcome.Kind, outcome.Reason = insight.OutcomeRefused, reason
		return outcome
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	outcome = outcomeOf(outcome, o.DestroySession(ctx, t))
	o.recorder.action(outcome)
	return outcome
}

// holdsMore returns why a session must not be destroyed. It returns "" if the session holds only keys of the drain. It
// searches the whole store, because the session may be newer than the plan.
func (o *drainOperator) holdsMore(ctx context.Context, session string) string {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	held, err := consulx.Holdings(ctx, o.client, []string{session}, nil)
	if err != nil {
		return "its keys could not be read: " + consulx.Describe(err)
	}
	for _, p := range held {
		if !o.planned[p.Key] {
			return "it also holds " + sanitize.Line(p.Key, 200) + ", which is not part of the drain"
		}
	}
	return ""
}

// drainInterval is the time between two updates of the live table, or of the drain in the dashboard.
const drainInterval = 100 * time.Millisecond
