package insight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"electop/election"
)

// WhyVacant returns the reason why the election has no leader. It returns "" if there is a leader. likely is the number
// of likely candidates, or -1 if unknown (see [Likely]).
func WhyVacant(e *election.Election, s Facts, likely int) string {
	if e.State(s.Now) == election.Led {
		return ""
	}
	if e.IsSemaphore() {
		return whySemaphore(e)
	}
	text := vacantSince(e, s.Now)
	switch {
	case e.Recorded():
		return text + " This data is from the history; the election may have a leader by now."
	case s.Connection.State == election.Lost:
		return text + " This data is stale: " + silence(s) + "; the election may have a leader by now."
	case e.Unreadable:
		return text + " This data is stale: this token can no longer read the key; the election may have a leader by now."
	}
	return text + " " + strings.Join(vacancyReason(e, s, likely), " ")
}

// whySemaphore explains why a semaphore has no leader.
func whySemaphore(e *election.Election) string {
	sem := election.ReadSemaphore(e, nil)
	if sem == nil {
		return "The key belongs to a semaphore, which has holders and no leader, but its value is not valid for a semaphore."
	}
	return fmt.Sprintf("The key belongs to a semaphore, which has holders and no leader: %d of %d slots are taken.",
		len(sem.Holders), max(0, sem.Limit))
}

func silence(s Facts) string {
	switch {
	case s.Connection.Refused:
		return "Consul rejects this token"
	case s.Connection.LastContact.IsZero():
		return "Consul is unreachable"
	}
	return "Consul has been unreachable for " + roughly(s.Now.Sub(s.Connection.LastContact))
}

func vacantSince(e *election.Election, now time.Time) string {
	gone, last := now.Sub(e.VacantSince), e.LastTerm()
	bounded := last != nil && !last.SeenUntil.IsZero() && last.End.Equal(e.VacantSince)
	switch {
	case e.VacantSinceKnown:
		return "No leader for " + roughly(gone) + "."
	case bounded:
		text := "No leader"
		if gone >= time.Second {
			text += " for at least " + roughly(gone)
		}
		return text + ": the last term ended " + election.Between(last.SeenUntil, last.End, now) + "."
	case gone >= time.Second && !e.VacantSince.IsZero():
		return "No leader for at least " + roughly(gone) + "."
	case last == nil:
		return "No leader when electop started; earlier history unknown."
	}
	return "No leader; the end of the last term was not observed."
}

// vacancyReason returns sentences about the lock-delay or the end of the last term, followed by a sentence about the
// candidates.
func vacancyReason(e *election.Election, s Facts, likely int) []string {
	var parts []string
	if !e.Exists {
		parts = append(parts, whyGone(e))
	}
	delayed := e.LockDelayUntil.Sub(s.Now)
	switch last := e.LastTerm(); {
	case s.Delay == DelayActive:
		return append(parts, "A lock-delay is active: Consul rejects every acquire.", candidatesSeen(likely))
	case s.Delay == DelayNone:
		parts = append(parts, "No lock-delay is active: a candidate can acquire the key now.")
	case last != nil && last.Cause == "" && s.Now.Sub(last.End) < causeWithin:
		return append(parts, "The cause is not known yet: electop reads it within 1s.")
	case delayed > 0 && e.LockDelayDoubtful:
		return append(parts, fmt.Sprintf("The holder may have released the key just before its session ended; otherwise, no candidate can acquire the key for about %s more (lock-delay).",
			roughly(delayed+time.Second-1)))
	case delayed > 0:
		return append(parts, fmt.Sprintf("No candidate can acquire the key for about %s more (lock-delay of the lost session: %s).",
			roughly(delayed+time.Second-1), election.FormatDuration(e.LockDelayUntil.Sub(e.VacantSince))))
	case !e.LockDelayUntil.IsZero():
		parts = append(parts, "The lock-delay should have ended: a candidate can acquire the key now.")
	case e.Exists && last != nil && (last.Cause == election.Released || last.Cause == election.OperatorRelease):
		parts = append(parts, "The key was released; no lock-delay follows a release.")
	case e.Exists && last == nil && s.Now.Sub(e.VacantSince) >= election.MaxLockDelay:
		parts = append(parts, "No earlier term was observed.")
	case e.Exists && last == nil:
		return append(parts, "A lock-delay may still be active.", candidatesSeen(likely))
	}
	switch wait := retryEnd(e).Sub(s.Now); {
	case likely <= 0:
	case wait > 0:
		return append(parts, candidatesSeen(likely), fmt.Sprintf("Candidates retry every few seconds: they are idle if there is no leader in %s.", roughly(wait+time.Second-1)))
	case likely == 1:
		return append(parts, "1 likely candidate seen, but it does not acquire the key.")
	default:
		return append(parts, fmt.Sprintf("%d likely candidates seen, but none acquires the key.", likely))
	}
	return append(parts, candidatesSeen(likely))
}

const (
	// causeWithin is the time within which the tracker explains the end of a term.
	causeWithin = time.Second
	// retryGrace is longer than api.Lock and npm's client wait between two attempts (5s).
	retryGrace = 12 * time.Second
)

// retryEnd returns the time at which every candidate should have tried to acquire the key, or zero if the time since
// which it is free is unknown.
func retryEnd(e *election.Election) time.Time {
	free := e.LockDelayUntil
	if e.VacantSinceKnown && e.VacantSince.After(free) {
		free = e.VacantSince
	}
	if free.IsZero() {
		return free
	}
	return free.Add(retryGrace)
}

// whyGone says that the key was deleted and, if known, whether Consul deleted it with its session.
func whyGone(e *election.Election) string {
	last, session := e.LastTerm(), e.LastSession
	switch {
	case last != nil && last.Cause == election.KeyDeleted:
		return "The key was deleted while its session was alive; the next acquire creates it again."
	case last != nil && session != nil && session.ID == last.Session && session.Behavior == election.BehaviorDelete && invalidated(last.Cause):
		return "The key was deleted with its session (behavior delete); the next acquire creates it again."
	}
	return "The key was deleted; the next acquire creates it again."
}

// invalidated reports whether a cause implies that the session ended.
func invalidated(c election.Cause) bool {
	return slices.Contains([]election.Cause{
		election.CheckCritical, election.CheckGone, election.NodeGone, election.SessionDestroyed, election.SessionExpiredOrDestroyed, election.OperatorDestroy,
	}, c)
}

// candidatesSeen describes candidates that may not have had enough time to acquire the key.
func candidatesSeen(candidates int) string {
	switch {
	case candidates < 0:
		return "No candidate has acquired the key."
	case candidates == 0:
		return "No candidate was seen."
	}
	return election.Plural(uint64(candidates), "likely candidate") + " seen."
}

// roughly formats a duration with at most two units. It never returns "0s".
func roughly(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Second:
		return "less than 1s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
}
