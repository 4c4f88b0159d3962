package election

import "time"

// State is the state of an election at one time.
type State string

// The values of [State].
const (
	Led         State = "led"
	Vacant      State = "vacant"
	InLockDelay State = "lock_delay" // there is no leader, and Consul rejects every acquire
	// OfSemaphore is the state of a semaphore's key, which has holders and no leader.
	OfSemaphore State = "semaphore"
	// Idle is the state of a key that had no leader when observation started and for which no candidate was seen.
	Idle State = "idle"
)

// recentlyLed is the time after the end of a term during which an election is not idle.
const recentlyLed = 24 * time.Hour

// State returns the state at the time now.
func (e *Election) State(now time.Time) State {
	switch {
	case e.Held():
		return Led
	case e.Exists && e.Pair.OfSemaphore():
		return OfSemaphore
	case now.Before(e.LockDelayUntil):
		return InLockDelay
	case !e.Candidateless:
	default:
		if last := e.LastTerm(); last == nil || now.Sub(last.End) >= recentlyLed {
			return Idle
		}
	}
	return Vacant
}
