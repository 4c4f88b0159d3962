package insight

import (
	"time"

	"electop/election"
)

// retryGrace is longer than the slowest known client waits between two attempts: npm's pauses for 5s, and then reads the
// key for up to 16s.
const retryGrace = 25 * time.Second

// IdleAfter is the time after the first read of an election after which [WithoutCandidates] waits for nothing.
const IdleAfter = election.MaxLockDelay + retryGrace

// retryEnd returns the time at which every candidate should have tried to acquire the key. If the beginning of the
// vacancy is unknown, it was first observed at VacantSince, and a lock-delay may follow unless a probe showed none.
func (d *diagnosis) retryEnd() time.Time {
	free := d.VacantSince
	if !d.VacantSinceKnown && d.Exists && d.LastTerm() == nil && d.Delay != LockFree {
		free = free.Add(election.MaxLockDelay)
	}
	if d.Delay != LockFree || d.LockDelayUntil.Before(d.Now) { // a probe disproves an estimate
		free = election.Later(free, d.LockDelayUntil)
	}
	return free.Add(retryGrace)
}
