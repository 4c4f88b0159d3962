package election

import (
	"fmt"
	"time"
)

// Situation is what, beside the election itself, decides why it has no leader.
type Situation struct {
	Now        time.Time
	Connection Connection
	// Candidates is how many likely candidates were found, -1 when that was
	// not looked for.
	Candidates int
}

// WhyVacant says in one or two sentences why nobody leads e, from what is known.
// It is empty for an election that is led.
func WhyVacant(e *Election, s Situation) string {
	if e.State(s.Now) == Led {
		return ""
	}
	text := vacantSince(e, s.Now)
	if s.Connection.State == Lost {
		return text + " This is old: Consul does not answer, and somebody may lead by now."
	}
	return text + " " + vacancyReason(e, s)
}

func vacantSince(e *Election, now time.Time) string {
	gone := roughly(now.Sub(e.VacantSince))
	switch {
	case !e.Exists:
		return "No leader: the key is gone for " + gone + "."
	case !e.VacantSinceKnown:
		return "No leader for at least " + gone + "."
	}
	return "No leader for " + gone + "."
}

func vacancyReason(e *Election, s Situation) string {
	last := e.LastTerm()
	delayed := e.LockDelayUntil.Sub(s.Now)
	switch {
	case e.IsSemaphore():
		return "The key is a semaphore's: its holders stand in its value."
	case delayed > 0:
		return fmt.Sprintf("Consul refuses new holders for about %s more (lock-delay %s of the lost session).",
			roughly(delayed+time.Second-1), e.LockDelayUntil.Sub(e.VacantSince).Round(time.Millisecond))
	case !e.LockDelayUntil.IsZero():
		return "The lock-delay should be over: it may be taken now. " + whoMayLead(s.Candidates)
	case last != nil && (last.Cause == Released || last.Cause == OperatorRelease):
		return "It was released and nobody has acquired it since; no lock-delay holds anybody back. " + whoMayLead(s.Candidates)
	case !e.Exists:
		return "Whoever acquires it makes it anew. " + whoMayLead(s.Candidates)
	}
	return whoMayLead(s.Candidates)
}

func whoMayLead(candidates int) string {
	switch {
	case candidates < 0:
		return "Nobody has acquired it."
	case candidates == 0:
		return "No candidate was seen."
	}
	return fmt.Sprintf("%s seen, and none acquires it.", likely(candidates))
}

func likely(n int) string {
	if n == 1 {
		return "1 likely candidate is"
	}
	return fmt.Sprintf("%d likely candidates are", n)
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
