package drain

import (
	"context"
	"slices"
	"time"

	"electop/election"
	"electop/election/insight"
)

// Runner carries out a plan. An observer of the plan's keys must call [Runner.Observe] and [Runner.See] before and
// during [Runner.Run].
type Runner struct {
	policy
	operator Operator
	inbox    *inbox
	// Only the goroutine of Run accesses courses and the fields below.
	courses  []*course
	byKey    map[string]*course
	reported map[*course]Result
	finished chan finishedAction
	admitted chan admission
	asked    map[string]bool // keys that were passed to Admit
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

// NewRunner returns a runner for one call of Run.
func NewRunner(p Plan, op Operator, o Options) *Runner {
	if o.OnResult == nil {
		o.OnResult = func(Result) {}
	}
	if o.OnConnection == nil {
		o.OnConnection = func(string) {}
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

// Observe queues events. It does not block.
func (r *Runner) Observe(events []election.Event) { r.inbox.events(events) }

// See stores the newest snapshot. It does not block.
func (r *Runner) See(s *election.Snapshot) { r.inbox.see(s) }

// Run releases the elections until each is in a final state or ctx ends, and then waits for the actions in progress.
// It returns the results in the order of the plan.
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

// takeInbox applies the observations since the last call.
func (r *Runner) takeInbox(ctx context.Context) {
	events, snapshot := r.inbox.take()
	for _, e := range events {
		switch e.Type {
		case election.ConnectionLost:
			r.lost = true
			r.OnConnection(e.Error)
		case election.ConnectionRestored:
			r.lost = false
			r.OnConnection("")
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
	r.snapshot, r.rejected = snapshot, time.Time{}
	if snapshot.Connection.Refused {
		r.rejected = snapshot.Connection.Since
	}
	for _, c := range r.courses {
		c.see(snapshot.Find(c.item.Target.ID()), snapshot.At)
	}
	r.askAdmissions(ctx)
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
	r.report()
	return next
}

// act starts one action. The end of ctx does not cancel the action: an interrupted drain waits for the write, which
// takes a few milliseconds.
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

// report passes changed results to OnResult.
func (r *Runner) report() {
	for _, c := range r.courses {
		if now := c.result(&r.policy); now != r.reported[c] {
			r.reported[c] = now
			r.OnResult(now)
		}
	}
}

// done reports whether every election is in a final state. With Watch, it always returns false.
func (r *Runner) done() bool {
	return !r.Watch && !slices.ContainsFunc(r.courses, func(c *course) bool { return !c.status.Final() || c.inFlight })
}

// end waits for the actions and the calls of Admit that are in progress.
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

// askAdmissions calls Admit for the elections that are not in the plan and whose leader's session is on a drained
// node.
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

func (r *Runner) admit(a admission) {
	r.asking--
	if a.item != nil {
		c := newCourse(a.item)
		c.hold = a.election.Target()
		r.add(c)
		c.see(r.snapshot.Find(a.election.ID()), r.snapshot.At)
	}
}
