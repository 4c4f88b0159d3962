package election

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Situation is what, beside the election itself, decides why it has no leader.
type Situation struct {
	Now        time.Time
	Connection Connection
	// Candidates is how many likely candidates were found (see [Likely]), -1
	// when that was not looked for.
	Candidates int
}

// WhyVacant says in a few words why nobody leads e, from what is known. It is
// empty for an election that is led.
func WhyVacant(e *Election, s Situation) string {
	if e.State(s.Now) == Led {
		return ""
	}
	if e.IsSemaphore() {
		return whySemaphore(e)
	}
	text := vacantSince(e, s.Now)
	switch {
	case s.Connection.State == Lost:
		return text + " This is old: " + silence(s) + ", and somebody may lead by now."
	case e.Unreadable:
		return text + " This is old: the key may no longer be read with this token, and somebody may lead by now."
	}
	return text + " " + strings.Join(vacancyReason(e, s), " ")
}

// whySemaphore corrects the question: a semaphore never has a leader.
func whySemaphore(e *Election) string {
	sem := ReadSemaphore(e, nil)
	if sem == nil {
		return "The key is a semaphore's, which has holders and no leader; its value cannot be read."
	}
	return fmt.Sprintf("The key is a semaphore's, which has holders and no leader: its value gives out %d of %s.",
		len(sem.Holders), Plural(uint64(max(0, sem.Limit)), "slot"))
}

func silence(s Situation) string {
	switch {
	case s.Connection.Refused:
		return "Consul refuses this token"
	case s.Connection.LastContact.IsZero():
		return "Consul does not answer"
	}
	return "Consul has not answered for " + roughly(s.Now.Sub(s.Connection.LastContact))
}

func vacantSince(e *Election, now time.Time) string {
	gone := now.Sub(e.VacantSince)
	switch {
	case e.VacantSinceKnown:
		return "No leader for " + roughly(gone) + "."
	case gone < time.Second || e.VacantSince.IsZero():
		return "No leader; since when is not known."
	}
	return "No leader for at least " + roughly(gone) + "."
}

// vacancyReason begins with what holds everybody back, or with how the last
// term ended, and goes on with who could lead.
func vacancyReason(e *Election, s Situation) []string {
	var parts []string
	if !e.Exists {
		parts = append(parts, whyGone(e))
	}
	delayed := e.LockDelayUntil.Sub(s.Now)
	switch last := e.LastTerm(); {
	case delayed > 0 && e.LockDelayDoubtful:
		return append(parts, fmt.Sprintf("It may have been released just before its session ended; if not, Consul refuses new holders for about %s more.",
			roughly(delayed+time.Second-1)))
	case delayed > 0:
		return append(parts, fmt.Sprintf("Consul refuses new holders for about %s more (lock-delay %s of the lost session).",
			roughly(delayed+time.Second-1), FormatDuration(e.LockDelayUntil.Sub(e.VacantSince))))
	case !e.LockDelayUntil.IsZero():
		parts = append(parts, "The lock-delay should be over: it may be taken now.")
	case e.Exists && last != nil && (last.Cause == Released || last.Cause == OperatorRelease):
		parts = append(parts, "It was released and nobody has acquired it since; no lock-delay holds anybody back.")
	case e.Exists && last == nil && s.Now.Sub(e.VacantSince) >= MaxLockDelay:
		parts = append(parts, "It was found so: what happened before was not seen.")
	case e.Exists && last == nil:
		return append(parts, "It was found so: what happened before was not seen, and a lock-delay may still run.", whoIsSeen(s.Candidates))
	}
	return append(parts, whoMayLead(s.Candidates))
}

// whyGone tells a key that was deleted from one that went with its session.
func whyGone(e *Election) string {
	last, session := e.LastTerm(), e.LastSession
	switch {
	case last != nil && last.Cause == KeyDeleted:
		return "The key was deleted while its session lived on; whoever acquires it makes it anew."
	case last != nil && session != nil && session.ID == last.Session && session.Behavior == BehaviorDelete && invalidated(last.Cause):
		return "The key went with its session (behavior delete); whoever acquires it makes it anew."
	}
	return "The key is gone; whoever acquires it makes it anew."
}

// invalidated reports causes that end the session itself.
func invalidated(c Cause) bool {
	return slices.Contains([]Cause{
		CheckCritical, CheckGone, NodeGone, SessionDestroyed, SessionExpiredOrDestroyed, OperatorDestroy,
	}, c)
}

func whoMayLead(candidates int) string {
	switch {
	case candidates < 0:
		return "Nobody has acquired it."
	case candidates == 0:
		return "No likely candidate is seen."
	case candidates == 1:
		return "1 likely candidate is seen, and does not acquire it."
	}
	return fmt.Sprintf("%d likely candidates are seen, and none acquires it.", candidates)
}

// whoIsSeen names no fault: who knows for how long they have tried.
func whoIsSeen(candidates int) string {
	switch {
	case candidates < 0:
		return "Nobody has acquired it."
	case candidates == 0:
		return "No likely candidate is seen."
	}
	return Plural(uint64(candidates), "likely candidate") + " seen."
}

// roughly writes a duration for people: whole seconds, from an hour on whole
// minutes.
func roughly(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
}
