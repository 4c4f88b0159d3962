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
	gap, jumped := clockJump(f.beat, now, beatEvery+stallLimit)
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

// clockJump compares two readings of time.Now that are normally at most limit apart. jumped is set if time passed
// unobserved, or the wall clock was set: the time of changes between both readings is then unknown.
func clockJump(last, now time.Time, limit time.Duration) (gap election.Gap, jumped bool) {
	return compareClocks(last.Round(0), now, now.Round(0).Sub(last.Round(0)), now.Sub(last), limit)
}

// compareClocks compares the progress of the wall clock and of the monotonic clock.
func compareClocks(last, now time.Time, wall, monotonic, limit time.Duration) (gap election.Gap, jumped bool) {
	if wall < 0 {
		last = now.Round(0)
	}
	return election.Gap{At: now, Since: last}, (wall-monotonic).Abs() > clockTolerance || monotonic > limit
}
