package act

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"electop/election"
)

// Runner carries out a plan. An observer of the plan's keys must call [Runner.See] before and during [Runner.Run].
type Runner struct {
	policy
	operator Operator
	// OnResult receives each result that has changed. OnConnection receives the error when the connection to Consul is
	// lost, and "" when it is restored. Run makes all calls, one at a time.
	OnResult     func(Outcome)
	OnConnection func(err string)

	ready chan struct{}
	mu    sync.Mutex
	newer *election.Snapshot // the newest snapshot that Run has not applied, or nil

	// Only the goroutine of Run accesses the fields below.
	courses  []*course
	reported map[*course]Outcome
	finished chan finishedAction
}

type finishedAction struct {
	course  *course
	outcome Outcome
}

// NewRunner returns a runner for one call of Run.
func NewRunner(p Plan, op Operator) *Runner {
	r := &Runner{
		policy: policy{Options: p.Options, drained: p.Nodes}, operator: op,
		OnResult: func(Outcome) {}, OnConnection: func(string) {}, ready: make(chan struct{}, 1),
		reported: map[*course]Outcome{}, finished: make(chan finishedAction, Parallel),
	}
	for _, item := range p.Items {
		c := &course{Outcome: item.Outcome, likely: item.Likely, hold: item.Target}
		c.Kind, c.VacancyKnown = cmp.Or(c.Kind, OutcomeWaiting), true
		r.courses = append(r.courses, c)
	}
	return r
}

// See stores the newest snapshot. It does not block.
func (r *Runner) See(s *election.Snapshot) {
	r.mu.Lock()
	r.newer = s
	r.mu.Unlock()
	select {
	case r.ready <- struct{}{}:
	default:
	}
}

// Run releases the elections until each is in a final state or ctx ends, and then waits for the actions in progress.
// It returns the results in the order of the plan.
func (r *Runner) Run(ctx context.Context) []Outcome {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		r.apply(time.Now())
		wake := r.step(ctx)
		if !slices.ContainsFunc(r.courses, func(c *course) bool { return !c.Final() || c.inFlight }) {
			break
		}
		if !wake.IsZero() {
			timer.Reset(time.Until(wake))
		}
		select {
		case <-ctx.Done():
		case <-r.ready:
		case <-timer.C:
		case a := <-r.finished:
			a.course.end(time.Now(), a.outcome)
		}
	}
	for slices.ContainsFunc(r.courses, func(c *course) bool { return c.inFlight }) {
		a := <-r.finished
		a.course.end(time.Now(), a.outcome)
	}
	return r.Results()
}

// apply applies the newest snapshot.
func (r *Runner) apply(now time.Time) {
	r.mu.Lock()
	snapshot := r.newer
	r.newer = nil
	r.mu.Unlock()
	if snapshot == nil {
		return
	}
	connection, was := snapshot.Connection, r.lost
	switch r.lost = connection.State == election.Lost; {
	case r.lost && !was:
		r.OnConnection(connection.Error)
	case was && !r.lost:
		r.OnConnection("")
	}
	switch {
	case !connection.Refused:
		r.rejected = time.Time{}
	case r.rejected.IsZero():
		r.rejected = now
	}
	for _, c := range r.courses {
		if c.see(snapshot.Find(c.Target.ID()), snapshot.At, now); was && !r.lost {
			c.Since, c.actedAt = election.Later(c.Since, now), election.Later(c.actedAt, now) // the timers begin again after a gap
		}
	}
}

// step makes a decision for every election, first for those on which the drain has already acted. It returns the time
// of the next decision, or zero if it must wait for an observation.
func (r *Runner) step(ctx context.Context) (next time.Time) {
	now := time.Now()
	moving, inFlight := 0, 0
	for _, c := range r.courses {
		if c.moving(&r.policy) {
			moving++
		}
		if c.inFlight {
			inFlight++
		}
	}
	for _, begun := range []bool{true, false} {
		for _, c := range r.courses {
			if c.begun != begun {
				continue
			}
			want, wake := c.decide(now, &r.policy)
			if !wake.IsZero() && (next.IsZero() || wake.Before(next)) {
				next = wake
			}
			if want == "" || inFlight >= Parallel || !begun && moving >= Parallel {
				continue
			}
			inFlight++
			moving++
			r.act(ctx, c, want)
		}
	}
	for _, c := range r.courses {
		if now := c.result(&r.policy); now != r.reported[c] {
			r.reported[c] = now
			r.OnResult(now)
		}
	}
	return next
}

// act starts one action. The end of ctx does not cancel the action: an interrupted drain waits for the write, which
// takes a few milliseconds.
func (r *Runner) act(ctx context.Context, c *course, kind election.ActionKind) {
	c.begin(kind)
	ctx, target := context.WithoutCancel(ctx), c.hold
	go func() {
		r.finished <- finishedAction{c, r.operator.Act(ctx, kind, election.Destroy{Target: target})}
	}()
}

// Results returns the results in the order of the plan. It must not be called during [Runner.Run].
func (r *Runner) Results() []Outcome {
	all := make([]Outcome, len(r.courses))
	for i, c := range r.courses {
		all[i] = c.result(&r.policy)
	}
	return all
}

// Parallel is the maximum number of elections that move at the same time, and of concurrent writes.
const Parallel = 8
