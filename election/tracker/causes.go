package tracker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"electop/election"
	"electop/election/sanitize"
)

// Loss describes the observed end of a term.
type Loss struct {
	// Session is the session that held the key, or nil if it was never read.
	Session *election.Session
	// Deleted is set if the key was deleted, even if a client created it again later.
	Deleted bool
	// Replaced is set if Consul lost data or restored a snapshot. The evidence then does not belong to the observed
	// term.
	Replaced bool
	// At is the time at which the end was observed. Lease is set if the session is a lease.
	At    time.Time
	Lease bool
	// Unread is set if the remaining time of the lease was not read since the latest gap.
	Unread bool
	// Gap is set if observation was interrupted when the term ended.
	Gap bool
	// HeldIndex is the Raft index at which the key was last observed as held. KeyIndex is the Raft index at which the
	// term ended, or 0 if unknown because the key was deleted or written again.
	HeldIndex, KeyIndex uint64
}

// Explanation is a cause and its evidence.
type Explanation struct {
	Cause    election.Cause
	Evidence string
	// Guess is set if another cause is possible. Evidence then names the other cause.
	Guess bool
	// Invalidated is set if the session ended while it held the key. A lock-delay then follows.
	Invalidated bool
	// Doubtful is set if it is uncertain whether a lock-delay follows: the holder may have released the key before it
	// ended its session, as lock clients do when they exit.
	Doubtful bool
	// By is the operator whose action ended the term, as user@host.
	By string
}

// Explain determines why a term ended. Only Raft indexes prove a cause: Consul releases the keys of a session at the
// index at which the session ends. A cause is a guess if the data may have changed between the end of the term and
// the read of the evidence.
func Explain(l Loss, ev election.Evidence) Explanation {
	x := explain(l, ev)
	if l.Gap && x.Cause != election.Unknown {
		x.Evidence += "; observation was interrupted when the term ended"
	}
	return x
}

func explain(l Loss, ev election.Evidence) (x Explanation) {
	s := l.Session
	if l.Lease {
		return explainLease(l, ev)
	}
	switch x.Cause = election.Unknown; {
	case l.Replaced, l.Deleted && ev.DeleteIndex != 0 && ev.DeleteIndex < l.HeldIndex:
		x.Evidence = "Consul's data was lost or restored from a snapshot"
	case !ev.SessionRead:
		x.Evidence = "the session could not be read" + because(ev.Err)
	case ev.SessionExists && l.Deleted:
		if x.Cause, x.Evidence = election.KeyDeleted, "its session still exists"; l.Gap {
			x.guess("the key may have been released before it was deleted")
		}
	case ev.SessionExists:
		x.Cause, x.Evidence = election.Released, "the session still exists and no longer holds the key"
	case s == nil:
		x.Evidence = "the session is gone; its settings were never read"
	case ev.SessionsIndex > 0 && ev.SessionsIndex < s.CreateIndex:
		// The index of the sessions decreases only if Consul loses data.
		x.Evidence = "Consul's data is older than this session: it was lost or restored"
	case s.Behavior == election.BehaviorDelete && !l.Deleted:
		x.Cause, x.Evidence = election.Released, "the key still exists, but the end of its session would have deleted it (behavior delete)"
	default:
		return explainGone(l, ev)
	}
	return x
}

// explainLease determines why the hold of a lease ended. The remaining time of the lease distinguishes expiry from
// revocation.
func explainLease(l Loss, ev election.Evidence) (x Explanation) {
	s := l.Session
	switch x.Cause = election.Unknown; {
	case l.Replaced:
		x.Evidence = "the data was lost or restored from a snapshot"
	case l.Gap:
		x.Evidence = "observation was interrupted when the term ended"
	case !ev.SessionRead:
		x.Evidence = "the lease could not be read" + because(ev.Err)
	case ev.SessionExists:
		x.Cause, x.Evidence = election.Released, "the lease still exists; the holder or another client deleted or overwrote its key"
		if ev.DeleteIndex > 0 {
			x.Evidence += fmt.Sprintf(" at revision %d", ev.DeleteIndex)
		}
	case ev.Expired:
		x.Cause, x.Evidence = election.SessionExpired, "the store reported the expiry"
	case l.Unread:
		x.Cause, x.Evidence = election.SessionExpiredOrDestroyed, "the lease is gone; its remaining time is unknown"
	default:
		expired, revoked := s.ExpiredBy(l.At)
		switch left := s.Expires.Sub(l.At); {
		case revoked:
			x.Cause, x.Evidence = election.SessionDestroyed, "the lease was revoked: it is gone, but at least "+election.FormatDuration(left)+" of its TTL remained"
		case expired:
			x.Cause, x.Evidence = election.SessionExpired, "the lease expired: its holder had not renewed it for its TTL of "+s.TTL.String()
		default:
			x.Cause = election.SessionExpiredOrDestroyed
			x.Evidence = fmt.Sprintf("the lease is gone; its TTL was %s, and its remaining time was last read %s before", s.TTL, election.FormatDuration(l.At.Sub(s.Read)))
		}
	}
	return x
}

// guess marks the cause as a guess. It adds only the first reason to the evidence.
func (x *Explanation) guess(why string) {
	if why != "" && !x.Guess {
		x.Guess = true
		x.Evidence += "; a guess: " + why
	}
}

// explainGone determines why a session that no longer exists has ended.
func explainGone(l Loss, ev election.Evidence) Explanation {
	at := lossOf(l, ev)
	if !ev.ChecksRead {
		return Explanation{
			Cause: election.Unknown, Invalidated: true, Doubtful: at.uncertainty() != "",
			Evidence: "the session is gone; its checks could not be read" + because(ev.Err),
		}
	}
	x, critical := Explanation{Invalidated: true}, at.critical
	switch {
	case !ev.NodeExists:
		x.Cause, x.Evidence = election.NodeGone, fmt.Sprintf("node %s is no longer registered", l.Session.Node)
		x.guess(at.uncertaintyOfRemoval())
	case critical != nil && (at.index == 0 || critical.ModifyIndex <= at.index):
		x.Cause, x.Evidence = election.CheckCritical, fmt.Sprintf("%s on %s", critical.ID, l.Session.Node)
		if output := sanitize.Line(critical.Output, election.EvidenceLength); output != "" {
			x.Evidence += ": " + output
		}
		if at.index == 0 {
			x.guess(at.uncertainty())
		} else if critical.ModifyIndex != at.index {
			x.guess("the check changed before the key did")
		}
	case critical == nil && at.missing != "":
		x.Cause = election.CheckGone
		x.Evidence = fmt.Sprintf("check %s of node %s is no longer registered", at.missing, l.Session.Node)
		x.guess(at.uncertaintyOfRemoval())
	default:
		x = explainDestroyed(at)
	}
	if l.Deleted && l.Session.Behavior != election.BehaviorDelete {
		x.guess("the key was deleted as well, but the end of this session does not delete keys")
	}
	x.Doubtful = at.uncertainty() != "" && (x.Cause != election.CheckCritical || x.Guess)
	return x
}

// explainDestroyed explains the end of a session if no check or node explains it. A check may have become critical only after the
// key had changed, for example because the process exited.
func explainDestroyed(at lossAt) Explanation {
	s := at.Session
	x := Explanation{Cause: election.SessionDestroyed, Evidence: "the session is gone; it had no TTL", Invalidated: true}
	if s.TTL > 0 {
		x.Cause = election.SessionExpiredOrDestroyed
		x.Evidence = fmt.Sprintf("the session is gone; its TTL was %s (Consul does not distinguish expiry from destruction)", s.TTL)
	}
	if at.uncertainty() == "" {
		x.Evidence += "; the key and the session changed at the same index"
	}
	switch {
	case at.critical != nil:
		x.Evidence += "; its check " + election.Label(at.critical.ID) + " is critical, but became critical only after the key had changed"
	case len(s.Checks()) > 0:
		x.Evidence += "; its checks are not critical"
	}
	x.guess(at.uncertainty())
	if c := at.changed; c != nil {
		x.guess("its check " + election.Label(c.ID) + " changed after the key did and may have been critical before")
	}
	if at.Gap && len(s.Checks()) == 0 {
		x.guess("its node may have been deregistered and registered again")
	}
	return x
}

// lossAt is a loss with its evidence and Raft index.
type lossAt struct {
	Loss
	election.Evidence
	index uint64 // Raft index of the loss, or 0 if unknown
	// critical is the critical check of the session that most likely ended it: the last one that changed before the
	// loss. changed is a check that changed at the loss or later: its status at the loss is unknown. missing is a check
	// that is no longer registered.
	critical, changed *election.Check
	missing           string
}

// lossOf determines the Raft index of a loss. After a gap it does not use DeleteIndex, which may belong to another
// change if Consul has removed the tombstone of the key.
func lossOf(l Loss, ev election.Evidence) lossAt {
	at := lossAt{Loss: l, Evidence: ev, index: l.KeyIndex}
	if l.Deleted && !l.Gap {
		at.index = ev.DeleteIndex
	}
	var last uint64
	for _, id := range l.Session.Checks() {
		c := election.FindCheck(ev.Checks, id)
		if c == nil {
			at.missing = cmp.Or(at.missing, id)
			continue
		}
		changed := c.ModifyIndex
		if at.index == 0 || changed >= at.index {
			at.changed = cmp.Or(at.changed, c)
		}
		if at.index != 0 && changed > at.index {
			changed = 0
		}
		if c.Status == election.StatusCritical && (at.critical == nil || changed > last) {
			at.critical, last = c, changed
		}
	}
	return at
}

// uncertainty returns the reason why the holder may have released the key before its session ended. It returns "" if
// the key and the session changed at the same index.
func (a lossAt) uncertainty() string {
	switch {
	case a.index == 0:
		return "the index of the loss is unknown, so the holder may have released the key before its session ended"
	case a.SessionsIndex != a.index:
		return "the holder may have released the key just before its session ended"
	}
	return ""
}

// uncertaintyOfRemoval returns the reason why the removal of a check or a node may not have ended the session. It
// returns "" if the removal ended the session.
func (a lossAt) uncertaintyOfRemoval() string {
	if d := a.uncertainty(); d != "" {
		return d
	}
	if a.ChecksIndex == 0 || a.ChecksIndex > a.index {
		return "this may have happened after the session had ended"
	}
	return ""
}

func because(err string) string {
	if err == "" {
		return ""
	}
	return ": " + err
}

// ExplainWithin is the maximum time from a vacated event to its explained event.
const ExplainWithin = time.Second

// pendingEnd is a term that ended and whose cause is not known yet.
type pendingEnd struct {
	election.Event
	loss     Loss
	deadline time.Time
	evidence *election.Evidence
	done     bool
}

// Deadline returns the time at which the tracker needs the next [election.Clock] observation to explain a term whose
// evidence is missing, or to continue without the history. It is zero if the tracker needs none.
func (t *Tracker) Deadline() time.Time {
	if w := t.waiting; w != nil {
		return w.until
	}
	if p := t.oldestEnd(); p != nil {
		return p.deadline
	}
	return time.Time{}
}

// oldestEnd returns the oldest end without a cause, or nil if every end has a cause.
func (t *Tracker) oldestEnd() *pendingEnd {
	for len(t.ends) > 0 && t.ends[0].done {
		t.ends = t.ends[1:]
	}
	if len(t.ends) == 0 {
		t.ends = nil // release the memory of the list
		return nil
	}
	return t.ends[0]
}

func (t *Tracker) awaitCause(event election.Event, l Loss) {
	p := &pendingEnd{Event: event, loss: l, deadline: event.Time.Add(t.ExplainWithin)}
	if l.Lease && l.Gap { // evidence cannot tell the cause
		p.deadline = event.Time
	}
	if old := t.pending[p.TermID()]; old != nil {
		old.done = true
	}
	t.pending[p.TermID()] = p
	t.ends = append(t.ends, p)
}

// explainIfKnown explains an end if its cause is known and no action in progress may be the cause.
func (t *Tracker) explainIfKnown(p *pendingEnd, at time.Time) {
	i := slices.IndexFunc(t.actions, func(a ownAction) bool { return a.ends(p) })
	switch {
	case i >= 0 && t.actions[i].Stage == election.ActionDone:
		done := t.actions[i]
		t.explain(p, at, done.explanation())
		if done.Kind == election.ActionRelease {
			t.actions = slices.Delete(t.actions, i, i+1)
		}
	case i < 0 && p.evidence != nil:
		t.explain(p, at, Explain(p.loss, *p.evidence))
	}
}

// explainOverdue explains the ends whose deadline has passed. It uses the evidence that is available.
func (t *Tracker) explainOverdue(at time.Time) {
	for p := t.oldestEnd(); p != nil && !at.Before(p.deadline); p = t.oldestEnd() {
		if p.evidence == nil {
			p.evidence = &election.Evidence{Err: t.Store.String() + " did not respond within " + t.ExplainWithin.String()}
		}
		t.explain(p, at, Explain(p.loss, *p.evidence))
	}
}

// explain emits the explained event and stores the cause in the term.
func (t *Tracker) explain(p *pendingEnd, at time.Time, x Explanation) {
	p.done = true
	event := p.Event
	delete(t.pending, p.TermID())
	if at.Before(event.Time) {
		at = event.Time // the tracker receives an action of this process before the read of its effect
	}
	event.Time, event.Type, event.Held, event.HeldKnown = at, election.Explained, 0, false
	event.Cause, event.Evidence, event.Guess, event.By = x.Cause, x.Evidence, x.Guess, x.By
	found := t.Find(event.Key)
	if found == nil {
		t.emit(event)
		return
	}
	e := *found
	if e.VacantSince.Equal(p.Time) {
		// After a gap, the end of the term and the end of the lock-delay are unknown.
		if until := lockDelayUntil(p, x, &e); !until.IsZero() || x.Cause == election.OperatorRelease { // which the end of the session followed
			e.LockDelayUntil, e.LockDelayDoubtful = until, !until.IsZero() && (x.Doubtful || p.loss.Gap)
		}
		event.LockDelayUntil = e.LockDelayUntil
	}
	event.AliveUntil = t.completeTerm(&e, p, x)
	t.emit(event)
	e.Events = appendKept(e.Events, event, t.keep())
	t.own()[t.search(event.Key)] = &e
}

// completeTerm stores the cause of an end in the term. It returns the last sign of life of the term's leader.
func (t *Tracker) completeTerm(e *election.Election, p *pendingEnd, x Explanation) time.Time {
	for i, term := range slices.Backward(e.Terms) {
		if term.Number == p.Term && term.CreateIndex == p.CreateIndex && term.Session == p.Session {
			term.Cause, term.Evidence, term.Guess, term.By = x.Cause, x.Evidence, x.Guess, x.By
			sign := term.LastSign(p.loss.Session)
			early := t.seenUntil.Add(sign.Sub(term.LastSeen()))
			if early.Before(sign) && sign.Before(term.LastSeen()) && sign.Before(t.conn.Since) && !t.seenUntil.IsZero() { // perhaps Consul was restarted, which restarts every TTL
				if sign = early; term.StartKnown {
					sign = election.Later(sign, term.Start)
				}
			}
			term.AliveUntil = sign
			e.Terms = slices.Clone(e.Terms)
			e.Terms[i] = term
			return term.AliveUntil
		}
	}
	return time.Time{}
}
