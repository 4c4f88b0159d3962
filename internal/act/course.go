package act

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

// course is the state of one election during a drain. Its methods do no I/O. Time is a parameter. It has a monotonic
// reading, so that no wait depends on the wall clock.
type course struct {
	item *Item
	// hold is the current hold. Its Session is empty if no session holds the key. since is when this state began.
	hold  election.Target
	since time.Time
	// delayed is the estimated end of a lock-delay.
	delayed time.Time

	begun    bool // set when the drain has acted on this election
	inFlight bool // set while an action is in progress
	pausing  bool // set while the drain pauses before the next release
	jitter   time.Duration
	rounds   int
	// failing is when the first of the latest releases ended that Consul did not confirm, or zero.
	failing time.Time
	// acted is the hold that the last action targeted. outcome is the result of that action, and actedAt is the time
	// at which the action ended.
	acted   election.Target
	outcome insight.Outcome
	actedAt time.Time

	vacancy        time.Duration
	vacancyUnknown bool

	status Status
	reason string
}

func newCourse(item *Item) *course {
	c := &course{item: item, hold: item.Target, status: Waiting}
	if item.Skip != "" {
		c.status, c.reason = Skipped, item.Skip
	}
	return c
}

// observe applies one event of the election, which was received at the time now.
func (c *course) observe(e election.Event, now time.Time) {
	switch e.Type {
	case election.Elected:
		c.elected(e, now)
	case election.Vacated, election.Deleted:
		if c.hold.Session != "" || c.since.IsZero() {
			c.hold, c.since = election.Target{}, now
		}
	case election.Overwritten:
		if c.hold.Session == e.Session {
			c.hold.LockIndex = 0
		}
	case election.Explained:
		left := min(e.LockDelayUntil.Sub(e.Time), election.MaxLockDelay) // both are readings of the same wall clock
		c.delayed = later(c.delayed, now.Add(left))
	case election.Missed:
		c.vacancyUnknown = c.vacancyUnknown || c.begun
	default:
	}
}

func (c *course) elected(e election.Event, now time.Time) {
	if e.Initial && e.Session == c.hold.Session && e.CreateIndex == c.hold.CreateIndex && e.Term == c.hold.Term {
		return // keep the hold of the plan, because the event has no LockIndex
	}
	if c.begun {
		c.vacancy += e.Vacancy
		c.vacancyUnknown = c.vacancyUnknown || !e.VacancyKnown
	}
	c.since, c.delayed = now, time.Time{}
	c.hold = election.Target{
		Election: c.item.Target.Election, Key: c.item.Target.Key, Session: e.Session, ModifyIndex: e.ModifyIndex,
		CreateIndex: e.CreateIndex, LockIndex: e.Term, Term: e.Term, Leader: e.Leader, Node: e.Node,
	}
}

// see completes the current hold with data that events do not contain. If the last action reported that the hold had
// changed, see replaces the hold with the state in the snapshot.
func (c *course) see(e *election.Election, now time.Time) {
	if e == nil {
		return
	}
	held, ended := e.Exists && e.Pair.Held(), c.ended()
	changed := c.actedOnHold() && c.outcome.Kind == insight.OutcomeChanged && !c.acted.SameHold(e.Pair) &&
		(!e.Exists || e.Pair.ModifyIndex > c.acted.ModifyIndex)
	same := e.Pair.Session == c.hold.Session
	switch {
	case changed && !held:
		c.hold = election.Target{}
	case changed || held && same && e.Pair.ModifyIndex >= c.hold.ModifyIndex:
		node := c.hold.Node
		c.hold = e.Target()
		if c.hold.Election = c.item.Target.Election; same {
			c.hold.Node = cmp.Or(c.hold.Node, node)
		}
	}
	if changed || ended && !c.ended() {
		c.since = now
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
	drained  []string
	sessions sessionMap // those that the plan knows
	// lost is set while the connection to Consul is lost.
	lost bool
	// rejected is when Consul began to reject the token, or zero if Consul accepts it.
	rejected time.Time
}

// node returns the node of a hold's session, or "" if it is unknown.
func (p *policy) node(t election.Target) string {
	if s := p.sessions.of(t.Session); t.Node == "" && s != nil {
		return s.Node
	}
	return t.Node
}

func (p *policy) place(t election.Target) place {
	switch node := p.node(t); {
	case t.Session == "":
		return vacant
	case node == "":
		return unknown
	case Among(node, p.drained):
		return here
	}
	return elsewhere
}

// decide sets the status. It returns the action to run, or the time of the next decision.
func (c *course) decide(now time.Time, p *policy) (want election.ActionKind, wake time.Time) {
	switch {
	case c.item.Skip != "":
		return "", time.Time{}
	case c.inFlight:
		c.set(Moving, "")
		return "", time.Time{}
	case p.lost && !p.rejected.IsZero() && !c.status.Final():
		return "", c.rest(now, p.rejected.Add(p.Wait), Failed, "Consul rejects this token")
	case p.lost:
		return "", time.Time{} // wait, because the observer may have missed changes
	}
	c.pausing = false
	switch p.place(c.hold) {
	case vacant:
		return "", c.rest(now, later(c.since, c.delayed).Add(p.Wait), Vacant, "no candidate acquired the key within "+p.Wait.String())
	case unknown:
		return "", c.rest(now, later(c.since, c.actedAt).Add(observedWithin), Failed, "the node of the new leader is unknown: its session was not read")
	case elsewhere:
		reason := ""
		if c.rounds == 0 {
			reason = "the leader changed before a release"
		}
		return "", c.rest(now, c.since.Add(p.Settle), Moved, reason)
	default:
		return c.decideHere(now, p)
	}
}

// repeatAfter is the time after which the drain repeats a release that Consul did not confirm.
const repeatAfter = 2 * time.Second

// repeats reports whether to repeat the last release. Consul may not have applied it, for example because Consul had no
// leader. A repetition is safe: a release changes only the hold that it targets. The repetitions end, because a write
// that hangs has a long timeout.
func (c *course) repeats(p *policy) bool {
	failed := c.outcome.Kind == insight.OutcomeUnknown || c.outcome.Kind == insight.OutcomeFailed
	return c.actedOnHold() && failed && c.outcome.Action == election.ActionRelease &&
		c.rounds < p.Rounds && c.actedAt.Sub(c.failing) < observedWithin
}

// observedWithin is the maximum time until a change is observed, according to docs/reliability.md.
const observedWithin = 30 * time.Second

func (c *course) set(s Status, reason string) { c.status, c.reason = s, reason }

// rest sets the status s if end has passed. Otherwise it sets Moving and returns end as the time of the next decision.
func (c *course) rest(now, end time.Time, s Status, reason string) (wake time.Time) {
	if now.Before(end) {
		c.set(Moving, "")
		return end
	}
	c.set(s, reason)
	return time.Time{}
}

// decideHere decides what to do while a session on a drained node leads.
func (c *course) decideHere(now time.Time, p *policy) (want election.ActionKind, wake time.Time) {
	repeats := c.repeats(p)
	switch {
	case c.actedOnHold() && !repeats:
		return "", c.unchanged(now, p)
	case repeats && now.Before(c.actedAt.Add(repeatAfter)):
		c.set(Moving, "")
		return "", c.actedAt.Add(repeatAfter)
	case c.rounds < p.Rounds:
		status := Waiting
		if c.begun {
			status = Moving
		}
		c.set(status, "")
		if end := c.since.Add(c.pause(p)); now.Before(end) {
			c.pausing = true
			return "", end
		}
		return election.ActionRelease, time.Time{}
	case p.Destroy && c.outcome.Action != election.ActionDestroy:
		c.set(Moving, "")
		return election.ActionDestroy, time.Time{}
	}
	c.set(Stayed, c.stayedText())
	return "", time.Time{}
}

// pause returns how long the drain waits before it releases the current leader again. There is no pause in the first
// half of the rounds; docs/drain.md explains why.
func (c *course) pause(p *policy) time.Duration {
	if c.rounds < (p.Rounds+1)/2 || c.item.Likely == 0 {
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
	node := sanitize.Line(c.hold.Node, election.LabelLength)
	text := fmt.Sprintf("a session on %s led again after each of %s", node, Releases(c.rounds))
	if c.destroyed() {
		text += " and after its session was destroyed"
	}
	return text
}

// actedOnHold reports whether the last action targeted the current hold. LockIndex 0 identifies no hold: after a
// release, a key with a later ModifyIndex shows a new hold even if it has the same session.
func (c *course) actedOnHold() bool {
	a, h := c.acted, c.hold
	released := c.outcome.Kind == insight.OutcomeDone && a.LockIndex == 0
	return c.begun && h.Session == a.Session && h.CreateIndex == a.CreateIndex && h.LockIndex == a.LockIndex &&
		(!released || h.ModifyIndex == a.ModifyIndex)
}

// ended reports whether the action ended the current hold and no later state has been observed.
func (c *course) ended() bool {
	return c.actedOnHold() && !c.inFlight && c.outcome.Kind == insight.OutcomeDone
}

// unchanged makes the decision while no effect of the last action has been observed.
func (c *course) unchanged(now time.Time, p *policy) (wake time.Time) {
	switch c.outcome.Kind {
	case insight.OutcomeDone, insight.OutcomeUnknown, insight.OutcomeChanged:
		reason := cmp.Or(c.outcome.Reason, "the result of the "+string(c.outcome.Action)+" was not observed")
		limit := p.Wait // p.Wait is the limit because the release may never take effect
		if c.outcome.Kind == insight.OutcomeDone {
			limit = max(limit, observedWithin)
		}
		return c.rest(now, c.actedAt.Add(limit), Failed, reason)
	default:
	}
	if c.outcome.Action == election.ActionDestroy {
		c.set(Stayed, fmt.Sprintf("%s, and its session was not destroyed: %s", c.stayedText(), c.outcome.Reason))
		return time.Time{}
	}
	c.set(Failed, c.outcome.Reason)
	return time.Time{}
}

// begin records that an action starts.
func (c *course) begin(kind election.ActionKind) {
	c.begun, c.inFlight, c.acted, c.outcome = true, true, c.hold, insight.Outcome{}
	c.jitter = rand.N(pauseJitter) //nolint:gosec // not a secret
	if kind == election.ActionRelease {
		c.rounds++
	}
	c.set(Moving, "")
}

// end records the outcome of the action. A lock-delay follows a destroy.
func (c *course) end(now time.Time, o insight.Outcome) {
	c.inFlight, c.outcome, c.actedAt = false, o, now
	if o.Kind == insight.OutcomeDone {
		c.failing = time.Time{}
	} else if c.failing.IsZero() {
		c.failing = now
	}
	if c.destroyed() {
		c.delayed = later(c.delayed, now.Add(c.acted.LockDelay))
	}
}

// destroyed reports whether the last action destroyed the session, as far as Consul confirmed it.
func (c *course) destroyed() bool {
	return c.outcome.Action == election.ActionDestroy && (c.outcome.Kind == insight.OutcomeDone || c.outcome.Kind == insight.OutcomeUnknown)
}

// restart restarts the timers after a gap in observation.
func (c *course) restart(now time.Time) {
	c.since, c.actedAt = later(c.since, now), later(c.actedAt, now)
}

// moving reports whether the election counts toward [Parallel]. A vacant election without a likely candidate does not
// count, because it usually stays vacant until [Options.Wait] has passed.
func (c *course) moving(p *policy) bool {
	at := p.place(c.hold)
	expected := at != elsewhere && (at != vacant || c.item.Likely != 0)
	return c.inFlight || c.begun && c.status == Moving && !c.pausing && expected
}

// result describes the current state.
func (c *course) result(p *policy) Result {
	r := Result{
		Item: c.item, Status: c.status, Rounds: c.rounds, Destroyed: c.destroyed(), Since: c.since,
		Vacancy: c.vacancy, VacancyKnown: c.begun && !c.vacancyUnknown && c.hold.Session != "" && !c.ended(),
		Here: p.place(c.hold) == here && !c.ended(), Reason: c.reason, Pausing: c.pausing && c.status == Moving,
	}
	if c.hold.Session != "" && !c.ended() {
		t := c.hold
		t.Node = p.node(t)
		r.Leader = insight.Outcome{Target: t}.Old()
	}
	switch c.status {
	case Skipped:
		r.Failure = c.item.Failure
	case Failed:
		r.Failure = cmp.Or(c.outcome.Kind, insight.OutcomeFailed)
		if p.lost && !p.rejected.IsZero() {
			r.Failure = insight.OutcomeDenied
		}
	default:
	}
	return r
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
