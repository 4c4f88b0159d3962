// Package act defines the plans and results of actions, and carries out a drain: it releases each election until a session on
// another node leads, and reports the outcome.
//
// The package does no I/O. Its callers pass facts and observations, and an [Operator] that writes.
package act

import (
	"cmp"
	"context"
	"slices"
	"time"

	"electop/election"
)

// Options configure a drain.
type Options struct {
	// Rounds is the maximum number of releases of one election.
	Rounds int
	// Settle is how long a session on another node must lead before an election counts as moved.
	Settle time.Duration
	// Wait is how long an election may have no leader before it counts as vacant.
	Wait time.Duration
	// Destroy allows destroying the session after the last round.
	Destroy bool
}

// Defaults returns the default options.
func Defaults() Options { return Options{Rounds: 20, Settle: 5 * time.Second, Wait: 15 * time.Second} }

// Running is a drain in progress.
type Running struct {
	// Next waits for a short time and returns the changes since the last call. more is false at the end of the drain.
	// The outcomes are then final, except for elections whose drain was interrupted. unverified then says why it is not
	// verified that no session on the node leads an election, as one line that is safe to print, or "" if it is verified.
	Next func() (changes []Outcome, unverified string, more bool)
	// Stop ends the drain after the writes in progress. It does not block.
	Stop func()
}

// Runner carries out a plan.
type Runner struct {
	policy
	operator Operator
	// OnResult receives each result that has changed. OnConnection receives the error when the connection to Consul is
	// lost, and "" when it is restored. Run makes all calls, one at a time.
	OnResult     func(Outcome)
	OnConnection func(err string)

	courses  []*course
	finished chan func() // stores the outcome of an action
}

// NewRunner returns a runner for one call of Run.
func NewRunner(p Plan, op Operator) *Runner {
	r := &Runner{
		policy: policy{Options: p.Options, drained: p.Nodes}, operator: op,
		OnResult: func(Outcome) {}, OnConnection: func(string) {}, finished: make(chan func(), Parallel),
	}
	for _, item := range p.Items {
		c := &course{Outcome: item.Outcome, likely: item.Likely, hold: item.Target}
		c.Kind, c.VacancyKnown = cmp.Or(c.Kind, OutcomeWaiting), true
		r.courses = append(r.courses, c)
	}
	return r
}

// Run releases the elections until each is in a final state or ctx ends, and then waits for the actions in progress.
// It returns the results in the order of the plan. The snapshots, of which first may be nil, contain the plan's keys.
func (r *Runner) Run(ctx context.Context, first *election.Snapshot, later <-chan *election.Snapshot) []Outcome {
	timer := time.NewTimer(0)
	defer timer.Stop()
	r.apply(first)
	for ctx.Err() == nil {
		wake := r.step(ctx)
		if !slices.ContainsFunc(r.courses, func(c *course) bool { return !c.Final() || c.inFlight }) {
			break
		}
		if !wake.IsZero() {
			timer.Reset(time.Until(wake))
		}
		select {
		case <-ctx.Done():
		case s, more := <-later:
			if r.apply(s); !more {
				later = nil
			}
		case <-timer.C:
		case end := <-r.finished:
			end()
		}
	}
	for slices.ContainsFunc(r.courses, func(c *course) bool { return c.inFlight }) {
		(<-r.finished)()
	}
	return r.Results()
}

// apply applies a snapshot, unless it is nil.
func (r *Runner) apply(snapshot *election.Snapshot) {
	if snapshot == nil {
		return
	}
	connection, was, now := snapshot.Connection, r.lost, time.Now()
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
		if now := c.result(&r.policy); now != c.reported {
			c.reported = now
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
		o := r.operator.Act(ctx, kind, election.Destroy{Target: target})
		r.finished <- func() { c.end(time.Now(), o) }
	}()
}

// Results returns the results in the order of the plan. It must not be called during [Runner.Run].
func (r *Runner) Results() []Outcome {
	return election.Map(r.courses, func(c *course) Outcome { return c.result(&r.policy) })
}

// Parallel is the maximum number of elections that move at the same time, and of concurrent writes.
const Parallel = 8
