package blocking

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	backoffFirst = 250 * time.Millisecond
	// MaxBackoff is the longest delay of a [Backoff].
	MaxBackoff = 15 * time.Second
	// maxPause is the maximum pause of a loop while the probe succeeds. Together with minWait, it ensures that a loop
	// works again within 2 s after a fault has ended. If the probe fails, the next successful probe restarts the loops.
	maxPause = 1300 * time.Millisecond
)

// Backoff computes the delays of an exponential backoff: 250 ms, doubled after each failure, plus a jitter of at most
// half the delay. A delay including its jitter is at most 15 s.
type Backoff struct{ failures int }

// Next returns the delay after one more failure.
func (b *Backoff) Next() time.Duration {
	base := MaxBackoff * 2 / 3
	if shifted := backoffFirst << min(b.failures, 16); shifted < base {
		base = shifted
	}
	b.failures++
	return base + Jitter(base/2)
}

// steadyPause returns a random pause of at most maxPause.
func steadyPause() time.Duration { return maxPause*3/4 + Jitter(maxPause/4) }

// Jitter returns a random duration of at most d. It spreads the retries of simultaneous failures.
func Jitter(d time.Duration) time.Duration {
	return rand.N(d + 1) //nolint:gosec // not a secret
}

// Reset resets the next pause to the shortest one.
func (b *Backoff) Reset() { b.failures = 0 }

const (
	paceFirst = 5 * time.Millisecond
	paceMax   = 80 * time.Millisecond
	paceQuiet = time.Second
)

// pace delays the next query after a response without a change, because every write to the store ends a blocking query
// for a prefix without keys. A new key is still read within 100 ms.
type pace struct{ pause time.Duration }

// next returns the pause after a response. took is the time between the query and the response.
func (p *pace) next(news bool, took time.Duration) time.Duration {
	if news || took >= paceQuiet {
		p.pause = 0
		return 0
	}
	p.pause = min(max(2*p.pause, paceFirst), paceMax)
	return p.pause
}

// Sleep waits until d has passed or ctx ends.
func Sleep(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-ctx.Done()
}
