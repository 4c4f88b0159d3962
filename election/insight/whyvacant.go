package insight

import (
	"slices"
	"strings"
	"time"

	"electop/election"
)

// WhyVacant returns the reason why the election has no leader. It returns "" if there is a leader or a semaphore. likely is the number
// of likely candidates, or -1 if unknown (see [Likely]). The board may be nil.
func (b *Board) WhyVacant(e *election.Election, s Facts, likely int) string {
	return vacancy(&diagnosis{Board: b, Election: e, Facts: s, likely: likely}).Why
}

// vacancy returns the reason why the election has no leader, and how it gets one.
func vacancy(d *diagnosis) Finding {
	if d.State(d.Now) == election.Led || d.IsSemaphore() {
		return Finding{}
	}
	since, stale := vacantSince(d.Election, d.Now), ""
	switch {
	case d.Recorded():
		stale = "from the history"
	case d.Connection.State == election.Lost:
		stale = "stale: " + d.silence()
	case d.Unreadable:
		stale = "stale: this token can no longer read the key"
	default:
		f := d.explainVacancy(since)
		f.Fix = f.FixAt(d.Now) // how long to wait
		return f
	}
	return Finding{Why: since + " This data is " + stale + "; the election may have a leader by now."}
}

func (d *diagnosis) silence() string {
	switch c, name := d.Connection, d.Store.String(); {
	case c.Refused:
		return name + " denies access"
	case c.LastContact.IsZero():
		return name + " is unreachable"
	default:
		return name + " has been unreachable for " + election.FormatDuration(d.Now.Sub(c.LastContact))
	}
}

func vacantSince(e *election.Election, now time.Time) string {
	text, gone, last := "No leader", now.Sub(e.VacantSince), e.LastTerm()
	if gone >= time.Second && !e.VacantSince.IsZero() {
		text += " for at least " + election.FormatDuration(gone)
	}
	outage := e.Outage(now).Beside(func(at time.Time) string { return at.In(now.Location()).Format(time.TimeOnly) })
	switch {
	case e.VacantSinceKnown:
		return "No leader for " + election.FormatDuration(gone) + outage + "."
	case last != nil && !last.SeenUntil.IsZero() && last.End.Equal(e.VacantSince):
		return text + outage + ": the last term ended " + election.Between(last.SeenUntil, last.End, now) + "."
	case text != "No leader":
		return text + "."
	case last == nil:
		return "No leader when electop started; earlier history unknown."
	}
	return "No leader; the end of the last term was not observed."
}

// explainVacancy explains a vacancy by the lock-delay or the end of the last term, and by the candidates. since is the
// first sentence.
func (d *diagnosis) explainVacancy(since string) (f Finding) {
	say := func(text string) { f.Why = strings.TrimSpace(f.Why + " " + text) }
	if f.Why = since; d.Store.Leases {
		return d.explainQueue(f)
	}
	if !d.Exists {
		say(whyGone(d.Election))
	}
	last, left, retry := d.LastTerm(), d.LockDelayUntil.Sub(d.Now), d.retryEnd()
	about := "about " + election.Remaining(left)
	if f.AtMost = last != nil && !last.SeenUntil.IsZero(); f.AtMost {
		about = "at most " + election.Remaining(left)
	}
	switch f.Code, f.Until = LockDelay, d.LockDelayUntil; {
	case d.Delay == LockDelayed:
		say("A lock-delay is active: Consul rejects every acquire.")
		if say(d.candidatesSeen()); left <= 0 {
			f.Until, f.AtMost = d.Now.Add(election.MaxLockDelay), true
		}
		return f
	case d.Delay == LockFree:
		say("No lock-delay is active: a candidate can acquire the key now.")
	case last != nil && last.Cause == "" && d.Now.Sub(last.End) < causeWithin:
		say("The cause is not known yet.")
		f.Code, f.Until, f.AtMost = AwaitingCandidates, last.End.Add(causeWithin), true
		return f
	case left > 0 && d.LockDelayDoubtful:
		say("The holder may have released the key just before its session ended; otherwise, no candidate can acquire the key for " + about + " more (lock-delay).")
		return f
	case left > 0:
		say("No candidate can acquire the key for " + about + " more (lock-delay of the lost session: " + election.FormatDuration(f.Until.Sub(d.VacantSince)) + ").")
		return f
	case !f.Until.IsZero():
		say("The lock-delay should have ended: a candidate can acquire the key now.")
	case d.Exists && last != nil && (last.Cause == election.Released || last.Cause == election.OperatorRelease):
		say("The key was released; no lock-delay follows a release.")
	case d.Exists && last == nil && d.Now.Sub(d.VacantSince) < election.MaxLockDelay:
		say("A lock-delay may still be active: the fix dialog and electop show --probe test it.")
	}
	say(d.candidatesSeen())
	f.Code, f.Until, f.AtMost = NoCandidates, time.Time{}, false
	// A session that leads nothing may be that of a candidate that resembles nothing.
	leadless := d.Board != nil && d.Around != nil && slices.ContainsFunc(d.Around.Sessions, func(s *election.Session) bool { return d.led[s.ID].count == 0 })
	known := d.VacantSinceKnown || !d.LockDelayUntil.IsZero() || last == nil && leadless || last != nil && d.VacantSince.Sub(last.SeenUntil) < retryGrace
	switch {
	case retry.After(d.Now) && (d.likely > 0 || known && (d.Exists || d.likely < 0)):
		if f.Code, f.Until = AwaitingCandidates, retry; d.likely == 0 {
			say(d.ended())
		}
		if !d.VacantSinceKnown {
			say("electop has seen the key free only since " + d.VacantSince.In(d.Now.Location()).Format(time.TimeOnly) + ": if it has been free for longer, do not wait, but see the candidates' logs or start one.")
		}
	case d.likely > 0:
		say(noneAcquired)
		f.Code, f.Fix = "candidates_idle", "See the logs of the likely candidates, and restart those of this election: "+Names(d.candidates[:strong(d.candidates)], 3)+". A client that only watches the key tries again by itself when its query ends, by default within 5 minutes."
	case len(d.Around.Unread()) > 0:
		say("It is unknown whether a candidate exists: " + strings.Join(d.Around.Unread(), "; ") + ".")
		fallthrough
	default:
		f.Fix = d.startOne()
	}
	return f
}

// explainQueue explains the vacancy of a store without lock-delays.
func (d *diagnosis) explainQueue(f Finding) Finding {
	if queue := d.Pair.Queue; d.Pair.Blocked() {
		f.Code, f.Why = QueueBlocked, f.Why+" The key "+queue[0].Name+" is the first of the queue, but not that of a candidate: no candidate can lead until it is deleted."
		f.Fix = "Make sure that no program needs the key " + queue[0].Name + ", and delete it."
		return f
	}
	f.Code, f.Why = NoCandidates, f.Why+" No candidate has a key."
	f.Fix = d.startOne()
	return f
}

// causeWithin is the time within which the tracker explains the end of a term.
const causeWithin = time.Second

// whyGone says that the key was deleted and, if known, whether Consul deleted it with its session.
func whyGone(e *election.Election) string {
	last, session := e.LastTerm(), e.LastSession
	switch {
	case last != nil && last.Cause == election.KeyDeleted:
		return "The key was deleted while its session was alive; the next acquire creates it again."
	case last != nil && session != nil && session.ID == last.Session && session.Behavior == election.BehaviorDelete && last.Cause.EndsSession():
		return "The key was deleted with its session (behavior delete); the next acquire creates it again."
	}
	return "The key was deleted; the next acquire creates it again."
}

const noneAcquired = "No candidate has acquired the key."

// candidatesSeen counts candidates that may not have had enough time to acquire the key. Callers of [WhyVacant] list them.
func (d *diagnosis) candidatesSeen() string {
	switch {
	case d.likely < 0:
		return noneAcquired
	case d.likely == 0 && d.retryEnd().After(d.Now):
		return "No candidate is known yet."
	case d.likely == 0:
		return "No candidate is known."
	case d.candidates == nil:
		return ""
	}
	return election.Plural(d.likely, "likely candidate") + " seen."
}
