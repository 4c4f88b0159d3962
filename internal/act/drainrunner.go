// Package act defines the plans and results of actions, and carries out a drain: it releases each election until a session on
// another node leads, and reports the outcome.
//
// The package does no I/O. Its callers pass facts and observations, and an [Operator] that writes.
package act

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
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
	// Likely, if not nil, returns the present number of likely candidates on other nodes for each election, or -1 if unknown. It
	// is called for the elections whose pauses have begun, not concurrently, and not before a destroy: what is inferred must not
	// bring a write forward.
	Likely func(context.Context, []*election.Election) []int

	searching bool
	courses   []*course
	finished  chan func() // stores the outcome of an action
}

// NewRunner returns a runner for one call of Run.
func NewRunner(p Plan, op Operator) *Runner {
	r := &Runner{
		policy: policy{Options: p.Options, drained: p.Nodes}, operator: op,
		OnResult: func(Outcome) {}, OnConnection: func(string) {}, finished: make(chan func(), Parallel),
	}
	for _, item := range p.Items {
		c := &course{policy: &r.policy, Outcome: item.Outcome, likely: item.Likely, hold: item.Target}
		if c.rounds = p.Rounds; c.likely == 0 {
			c.rounds = min(c.rounds, unseenRounds)
		}
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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
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
		if c.moving() {
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
			want, wake := c.decide(now)
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
	if paused := election.Without(r.courses, func(c *course) bool { return !c.Pausing || c.searched }); len(paused) > 0 && !r.searching && r.Likely != nil && !r.Destroy {
		r.search(ctx, paused)
	}
	for _, c := range r.courses {
		if now := c.result(); now != c.reported {
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
	target.Note = election.DrainOf + Plan{Nodes: r.drained}.NodesText()
	if fix := c.Target.Note; fix != "" && target.Session == c.Target.Session {
		target.Note, c.Note = fix, fix
	}
	go func() {
		o := r.operator.Act(ctx, kind, election.Destroy{Target: target})
		r.finished <- func() { c.end(time.Now(), o) }
	}()
}

// search ends the rounds of the elections whose candidates on other nodes have ended since the plan.
func (r *Runner) search(ctx context.Context, paused []*course) {
	r.searching = true
	led := election.Map(paused, func(c *course) *election.Election {
		c.searched = true
		return c.led
	})
	go func() {
		likely := r.Likely(ctx, led)
		select {
		case r.finished <- func() {
			r.searching = false
			for i, c := range paused {
				if c.hold.SameHold(led[i].Pair) {
					if c.likely = likely[i]; c.likely == 0 {
						c.rounds = c.Rounds
					}
				}
			}
		}:
		case <-ctx.Done():
		}
	}()
}

// Results returns the results in the order of the plan. It must not be called during [Runner.Run].
func (r *Runner) Results() []Outcome {
	return election.Map(r.courses, (*course).result)
}

// Parallel is the maximum number of elections that move at the same time, and of concurrent writes.
const Parallel = 8

// course is the state of one election during a drain. Its methods do no I/O. Time is a parameter. It has a monotonic
// reading, so that no wait depends on the wall clock.
type course struct {
	// Outcome is what result reports. Its Target is the hold of the plan. Its Since is when the state of hold began. Its
	// VacancyKnown is false if a part of the vacancy was not observed.
	Outcome
	*policy
	likely int // number of likely candidates on other nodes, or -1 if unknown
	rounds int // maximum number of releases
	// hold is the current hold. Its Session is empty if no session holds the key.
	hold election.Target
	// start is when the latest hold began, according to the observer.
	start time.Time
	// delayed is the estimated end of a lock-delay.
	delayed time.Time

	led      *election.Election // the latest observation of a leader
	searched bool               // set when the candidates are read in this pause
	begun    bool               // set when the drain has acted on this election
	inFlight bool               // set while an action is in progress
	jitter   time.Duration
	// failing is when the first of the latest releases ended that Consul did not confirm, or zero.
	failing time.Time
	// last is the outcome of the last action, and actedAt is the time at which the action ended.
	last    Outcome
	actedAt time.Time
	// first is the hold that the drain ended first. ledAt is when the first leader after the latest action was observed.
	first election.Target
	ledAt time.Time
	// reported is the latest result that the receiver of the results knows.
	reported Outcome
}

// see applies an observation of the election, which was made at the time at and received at the time now.
func (c *course) see(e *election.Election, at, now time.Time) {
	if e == nil {
		return
	}
	hold, ended, restarted := election.Target{}, c.ended(), false
	if e.Held() {
		c.led, hold = e, e.Target()
		hold.Election = c.Target.Election
		restarted = !c.start.IsZero() && !c.start.Equal(e.Since)
		c.start = e.Since
	} else {
		left := min(e.LockDelayUntil.Sub(at), election.MaxLockDelay) // both are readings of the same wall clock
		c.delayed = election.Later(c.delayed, now.Add(left))
	}
	same := hold.Session == c.hold.Session
	changed := !same || restarted || hold.CreateIndex != c.hold.CreateIndex || hold.Term != c.hold.Term
	if same {
		hold.Node = cmp.Or(hold.Node, c.hold.Node)
	}
	if c.hold = hold; changed && hold.Session != "" {
		if c.delayed = (time.Time{}); c.ledAt.IsZero() {
			c.ledAt = now
		}
	}
	if c.begun && e.Held() {
		c.measure(e.Terms)
	}
	if changed || ended && !c.ended() {
		c.Since = now
	}
}

// measure adds up the vacancies since the first action: a session can also expire during the drain.
func (c *course) measure(terms []election.Term) {
	i := slices.IndexFunc(terms, func(t election.Term) bool { return Outcome{Target: c.first}.targets(&t) })
	c.Vacancy, c.VacancyKnown, c.Outage = 0, i >= 0, nil
	for ; i >= 0 && i+1 < len(terms); i++ {
		t, next := &terms[i], &terms[i+1]
		o := t.Outage(next)
		o.Extend(c.Outage)
		c.Vacancy, c.Outage = c.Vacancy+max(0, next.Start.Sub(t.LastSeen())), o
		c.VacancyKnown = c.VacancyKnown && next.StartKnown && t.SeenUntil.IsZero() && t.MissedUntil(next) == 0
	}
}

// place indicates whether there is a leader, and whether its session is on a drained node.
type place int

const (
	vacant place = iota
	here         // the leader's session is on a drained node
	elsewhere
	unknown
)

// policy contains the settings and the data that all courses share.
type policy struct {
	Options
	drained []string
	// lost is set while the connection to Consul is lost.
	lost bool
	// rejected is when Consul began to reject the token, or zero if Consul accepts it.
	rejected time.Time
}

func (c *course) place() place {
	switch {
	case c.hold.Session == "":
		return vacant
	case c.hold.Node == "":
		return unknown
	case Among(c.hold.Node, c.drained):
		return here
	}
	return elsewhere
}

// decide sets the status. It returns the action to run, or the time of the next decision.
func (c *course) decide(now time.Time) (want election.ActionKind, wake time.Time) {
	switch {
	case c.Kind == OutcomeSkipped:
		return "", time.Time{}
	case c.inFlight:
		c.set(OutcomeMoving, "")
		return "", time.Time{}
	case c.lost && !c.rejected.IsZero() && !c.Final():
		return c.rest(now, c.rejected.Add(c.Wait), OutcomeFailed, c.Target.Store.String()+" denies access")
	case c.lost:
		return "", time.Time{} // wait, because the observer may have missed changes
	}
	c.Pausing = false
	switch c.place() {
	case vacant:
		return c.rest(now, election.Later(c.Since, c.delayed).Add(c.Wait), OutcomeVacant, "no candidate acquired the key within "+c.Wait.String())
	case unknown:
		return c.rest(now, election.Later(c.Since, c.actedAt).Add(observedWithin), OutcomeFailed, "the node of the new leader is unknown: its session was not read")
	case elsewhere:
		reason := ""
		if c.Rounds == 0 {
			reason = "the leader changed before a release"
		}
		return c.rest(now, c.Since.Add(c.Settle), OutcomeMoved, reason)
	default:
		return c.decideHere(now)
	}
}

// unseenRounds is the maximum number of releases of an election without a likely candidate on another node. Each ends the
// term of a leader that works, usually for nothing.
const unseenRounds = 3

// repeatAfter is the time after which the drain repeats a release that Consul did not confirm.
const repeatAfter = 2 * time.Second

// repeats reports whether to repeat the last release. Consul may not have applied it, for example because Consul had no
// leader. A repetition is safe: a release changes only the hold that it targets. The repetitions end, because a write
// that hangs has a long timeout.
func (c *course) repeats() bool {
	failed := c.last.Kind == OutcomeUnknown || c.last.Kind == OutcomeFailed
	return c.actedOnHold() && failed && c.last.Action == election.ActionRelease &&
		c.Rounds < c.Options.Rounds && c.actedAt.Sub(c.failing) < observedWithin
}

// observedWithin is the maximum time until a change is observed, according to docs/reliability.md.
const observedWithin = 30 * time.Second

func (c *course) set(s OutcomeKind, reason string) { c.Kind, c.Reason = s, reason }

// rest sets the status s if end has passed. Otherwise it sets Moving and returns end as the time of the next decision.
func (c *course) rest(now, end time.Time, s OutcomeKind, reason string) (want election.ActionKind, wake time.Time) {
	if now.Before(end) {
		c.set(OutcomeMoving, "")
		return "", end
	}
	c.set(s, reason)
	return "", time.Time{}
}

// decideHere decides what to do while a session on a drained node leads.
func (c *course) decideHere(now time.Time) (want election.ActionKind, wake time.Time) {
	repeats := c.repeats()
	switch {
	case c.actedOnHold() && !repeats:
		return c.unchanged(now)
	case repeats && now.Before(c.actedAt.Add(repeatAfter)):
		c.set(OutcomeMoving, "")
		return "", c.actedAt.Add(repeatAfter)
	case repeats || c.Rounds < c.rounds:
		if c.set(OutcomeWaiting, ""); c.begun {
			c.set(OutcomeMoving, "")
		}
		pause := c.pause()
		end := c.Since.Add(pause)
		if latest := c.ledAt.Add(2 * pause); latest.Before(end) { // a leader that changes by itself must not delay the drain for ever
			end = latest
		}
		if now.Before(end) {
			c.Pausing = true
			return "", end
		}
		return election.ActionRelease, time.Time{}
	case c.Destroy && c.last.Action != election.ActionDestroy:
		c.set(OutcomeMoving, "")
		return election.ActionDestroy, time.Time{}
	}
	if c.set(OutcomeStayed, c.stayedText()); c.likely == 0 {
		c.Reason += "; no likely candidate was seen on another node"
	} else if c.likely > 0 {
		c.Reason += "; see the logs of the likely candidates on other nodes"
	}
	return "", time.Time{}
}

// pause returns how long the drain waits before it releases the current leader again. There is no pause in the first
// half of the rounds; docs/drain.md explains why.
func (c *course) pause() time.Duration {
	if c.Rounds < (c.rounds+1)/2 || c.likely == 0 {
		return 0
	}
	return pauseAtLeast + c.jitter
}

// npm's consul package polls every 5 s until two reads show the same leader. Only then does it react to a release
// immediately. The pause allows these two reads; without the pause, the client would miss the release. The random part
// of the pause varies which candidate polls first.
const (
	pauseAtLeast = 11 * time.Second
	pauseJitter  = time.Second
)

func (c *course) stayedText() string {
	node := election.Label(c.hold.Node)
	text := fmt.Sprintf("a session on %s led again after each of %s", node, Releases(c.Rounds))
	if c.destroyed() {
		text += " and after its session was destroyed"
	}
	return text
}

// actedOnHold reports whether the last action targeted the current hold. LockIndex 0 identifies no hold: after a
// release, a key with a later ModifyIndex shows a new hold even if it has the same session.
func (c *course) actedOnHold() bool {
	a, h := c.last.Target, c.hold
	released := c.last.Kind == OutcomeDone && a.LockIndex == 0
	return c.begun && h.Session == a.Session && h.CreateIndex == a.CreateIndex && h.LockIndex == a.LockIndex &&
		(!released || h.ModifyIndex == a.ModifyIndex)
}

// ended reports whether the action ended the current hold and no later state has been observed.
func (c *course) ended() bool {
	return c.actedOnHold() && !c.inFlight && c.last.Kind == OutcomeDone
}

// unchanged makes the decision while no effect of the last action has been observed.
func (c *course) unchanged(now time.Time) (want election.ActionKind, wake time.Time) {
	switch c.last.Kind {
	case OutcomeDone, OutcomeUnknown, OutcomeChanged:
		reason := cmp.Or(c.last.Reason, "the result of the "+string(c.last.Action)+" was not observed")
		limit := c.Wait // the limit, because the release may never take effect
		if c.last.Kind == OutcomeDone {
			limit = max(limit, observedWithin)
		}
		return c.rest(now, c.actedAt.Add(limit), OutcomeFailed, reason)
	default:
	}
	if c.last.Action == election.ActionDestroy {
		c.set(OutcomeStayed, fmt.Sprintf("%s, and its session was not destroyed: %s", c.stayedText(), c.last.Reason))
		return "", time.Time{}
	}
	c.set(OutcomeFailed, c.last.Reason)
	return "", time.Time{}
}

// begin records that an action starts.
func (c *course) begin(kind election.ActionKind) {
	if c.ledAt = (time.Time{}); !c.begun {
		c.first = c.hold
	}
	c.begun, c.inFlight, c.searched, c.last = true, true, false, Outcome{Target: c.hold}
	c.jitter = rand.N(pauseJitter) //nolint:gosec // not a secret
	if kind == election.ActionRelease {
		c.Rounds++
	}
	c.set(OutcomeMoving, "")
}

// end records the outcome of the action. A lock-delay follows a destroy.
func (c *course) end(now time.Time, o Outcome) {
	o.Target = c.last.Target
	c.inFlight, c.last, c.actedAt = false, o, now
	if o.Kind == OutcomeDone {
		c.failing = time.Time{}
	} else if c.failing.IsZero() {
		c.failing = now
	}
	if c.destroyed() {
		c.delayed = election.Later(c.delayed, now.Add(c.last.Target.LockDelay))
	}
}

// destroyed reports whether the last action destroyed the session, as far as Consul confirmed it.
func (c *course) destroyed() bool {
	return c.last.Action == election.ActionDestroy && (c.last.Kind == OutcomeDone || c.last.Kind == OutcomeUnknown)
}

// moving reports whether the election counts toward [Parallel]. A vacant election without a likely candidate does not
// count, because it usually stays vacant until [Options.Wait] has passed.
func (c *course) moving() bool {
	at := c.place()
	expected := at != elsewhere && (at != vacant || c.likely != 0)
	return c.inFlight || c.begun && c.Kind == OutcomeMoving && !c.Pausing && expected
}

// result describes the current state.
func (c *course) result() Outcome {
	o, led := c.Outcome, c.hold.Session != "" && !c.ended()
	o.Destroyed, o.Pausing = c.destroyed(), c.Pausing && c.Kind == OutcomeMoving
	if led {
		o.New, o.Here = Outcome{Target: c.hold}.Old(), c.place() == here
	}
	if o.VacancyKnown = led && c.begun && c.VacancyKnown; !o.VacancyKnown {
		o.Vacancy, o.Outage = 0, nil
	}
	if c.Kind == OutcomeFailed {
		o.Failure = cmp.Or(c.last.Kind, OutcomeFailed)
		if c.lost && !c.rejected.IsZero() {
			o.Failure = OutcomeDenied
		}
	}
	return o
}
