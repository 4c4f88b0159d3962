package feed

import (
	"time"

	"electop/election"
)

const (
	beatEvery = time.Second
	// stallLimit is the delay of this process above which the observation has a gap: a fifth of the shortest TTL that
	// Consul accepts.
	stallLimit = 2 * time.Second
	// clockTolerance is the tolerated difference between the wall clock and the monotonic clock over about a second. ntpd
	// slews the wall clock by at most 0.5 ms per second and steps it if its offset exceeds 128 ms.
	clockTolerance = 100 * time.Millisecond
)

// checkClock detects that the process was stopped (SIGSTOP), that the machine was suspended, or that the clock was
// changed. It must run before every observation, because a response that arrived during a suspension was not observed
// live. The caller holds the mutex.
func (f *Feed) checkClock() (jumped bool) {
	if f.beat.IsZero() {
		return false // Run has not started yet
	}
	now := time.Now()
	gap, jumped := clockJump(f.beat.Round(0), now, now.Sub(f.beat))
	if f.beat = now; jumped {
		f.observe(gap)
		if f.hooks.Jumped == nil {
			f.rewatch()
		} else {
			f.hooks.Jumped()
		}
	}
	return jumped
}

// clockJump compares the progress of the wall clock since last with that of the monotonic clock. jumped is set if time
// passed unobserved, or the wall clock was set: the time of changes in between is then unknown.
func clockJump(last, now time.Time, monotonic time.Duration) (gap election.Gap, jumped bool) {
	wall := now.Round(0).Sub(last)
	if wall < 0 {
		last = now.Round(0)
	}
	return election.Gap{At: now, Since: last}, (wall-monotonic).Abs() > clockTolerance || monotonic > beatEvery+stallLimit
}
