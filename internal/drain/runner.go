package drain

import (
	"context"
	"slices"
	"time"

	"electop/election"
	"electop/election/insight"
)

// Runner carries out a plan. [Runner.Observe] and [Runner.See] give it what an observer
// of the plan's keys reports; both may be called before and during [Runner.Run].
type Runner struct {
	policy
	operator Operator
	inbox    *inbox
	// courses and what follows belong to the goroutine of Run.
	courses  []*course
	byKey    map[string]*course
	reported map[*course]Result
	finished chan finishedAction
	admitted chan admission
	asked    map[string]bool // keys that are being admitted, or were rejected
	asking   int
	snapshot *election.Snapshot
}

type finishedAction struct {
	course  *course
	outcome insight.Outcome
}

type admission struct {
	election *election.Election
	item     *Item
}

// NewRunner returns a runner for one Run.
func NewRunner(p Plan, op Operator, o Options) *Runner {
	if o.OnResult == nil {
		o.OnResult = func(Result) {}
	}
	r := &Runner{
		policy: policy{Options: o, nodes: map[string]bool{}, sessions: p.nodes}, operator: op, inbox: newInbox(),
		byKey: map[string]*course{}, reported: map[*course]Result{}, asked: map[string]bool{},
		finished: make(chan finishedAction, Parallel), admitted: make(chan admission, Parallel),
	}
	for _, node := range p.Nodes {
		r.nodes[node] = true
	}
	for _, item := range p.Items {
		r.add(newCourse(item))
	}
	return r
}

func (r *Runner) add(c *course) {
	r.courses = append(r.courses, c)
	r.byKey[c.item.Target.Key] = c
}

// Observe takes events in their order. It does not block.
func (r *Runner) Observe(events []election.Event) { r.inbox.events(events) }

// See takes the newest snapshot. It does not block.
func (r *Runner) See(s *election.Snapshot) { r.inbox.see(s) }

// Run moves the elections until each is at rest or ctx ends, and returns the results in
// the order of the plan. When ctx ends, it waits for the actions in progress.
func (r *Runner) Run(ctx context.Context) []Result {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		r.takeInbox(ctx)
		wake := r.step(ctx)
		if r.done() {
			break
		}
		if !wake.IsZero() {
			timer.Reset(time.Until(wake))
		}
		select {
		case <-ctx.Done():
		case <-r.inbox.ready:
		case <-timer.C:
		case a := <-r.finished:
			a.course.end(time.Now(), a.outcome)
		case a := <-r.admitted:
			r.admit(a)
		}
	}
	r.end()
	return r.results()
}

// takeInbox applies everything observed since the last call.
func (r *Runner) takeInbox(ctx context.Context) {
	events, snapshot := r.inbox.take()
	for _, e := range events {
		switch e.Type {
		case election.ConnectionLost:
			r.lost = true
		case election.ConnectionRestored:
			r.lost = false
			for _, c := range r.courses {
				c.restart(e.Time)
			}
		default:
			if c := r.byKey[e.Key]; c != nil {
				c.observe(e)
			}
		}
	}
	if snapshot == nil {
		return
	}
	r.snapshot = snapshot
	for _, c := range r.courses {
		c.see(snapshot.Find(c.item.Target.Key), snapshot.At)
	}
	r.askAdmissions(ctx)
}

// step decides about every election: those on which the drain has acted come before
// those that wait. It returns when to decide again, zero if only a change matters.
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
	r.report()
	return next
}

// act starts one action. Its context does not end with ctx: an interrupted drain waits
// for the few milliseconds that a write takes.
func (r *Runner) act(ctx context.Context, c *course, kind election.ActionKind) {
	c.begin(kind)
	ctx, target := context.WithoutCancel(ctx), c.acted
	go func() {
		do := r.operator.Release
		if kind == election.ActionDestroy {
			do = r.operator.Destroy
		}
		r.finished <- finishedAction{c, do(ctx, target)}
	}()
}

// report reports the results that have changed.
func (r *Runner) report() {
	for _, c := range r.courses {
		if now := c.result(&r.policy); now != r.reported[c] {
			r.reported[c] = now
			r.OnResult(now)
		}
	}
}

// done reports whether every election is at rest. A drain that watches never is.
func (r *Runner) done() bool {
	return !r.Watch && !slices.ContainsFunc(r.courses, func(c *course) bool { return !c.status.Final() || c.inFlight })
}

// end waits for the actions in progress.
func (r *Runner) end() {
	inFlight := 0
	for _, c := range r.courses {
		if c.inFlight {
			inFlight++
		}
	}
	for range inFlight {
		a := <-r.finished
		a.course.end(time.Now(), a.outcome)
	}
	for ; r.asking > 0; r.asking-- {
		<-r.admitted
	}
}

func (r *Runner) results() []Result {
	all := make([]Result, len(r.courses))
	for i, c := range r.courses {
		all[i] = c.result(&r.policy)
	}
	return all
}

// askAdmissions looks for elections that a drained node leads and the plan does not
// have.
func (r *Runner) askAdmissions(ctx context.Context) {
	if !r.Watch || r.Admit == nil {
		return
	}
	s := r.snapshot
	for _, e := range s.Elections {
		led := e.Exists && e.Pair.Held() && r.place(e.Target()) == here
		if !led || r.byKey[e.Key()] != nil || r.asked[e.Key()] || r.asking >= Parallel {
			continue
		}
		r.asked[e.Key()] = true
		r.asking++
		go func() { r.admitted <- admission{e, r.Admit(ctx, s, e)} }()
	}
}

// admit adds an election to the plan.
func (r *Runner) admit(a admission) {
	r.asking--
	if a.item != nil {
		c := newCourse(a.item)
		c.hold = a.election.Target()
		r.add(c)
		c.see(r.snapshot.Find(a.election.Key()), r.snapshot.At)
	}
}
