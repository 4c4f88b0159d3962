package tracker

import (
	"time"

	"electop/election"
)

// lockDelayUntil estimates when the lock-delay ends that follows the end of a term, or returns zero if none follows:
// the key was released, a leader already leads, or the key belongs to a semaphore, whose slots are free immediately.
func lockDelayUntil(p *pendingEnd, x Explanation, e *election.Election) time.Time {
	s := p.loss.Session
	if !x.Invalidated || s == nil || s.LockDelay <= 0 || e.Pair.Flags == election.SemaphoreFlag || e.Held() {
		return time.Time{}
	}
	return p.Time.Add(s.EnforcedLockDelay())
}
