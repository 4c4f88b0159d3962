package campaign

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"electop/consulx"
	"electop/election"
)

// Leadership is one term of a [Candidate].
type Leadership struct {
	// Pair is the key at the start of the term.
	Pair election.Pair
	hold time.Duration
	ctx  context.Context // ends with the term; its cause is context.Canceled after Resign and Close
	lose context.CancelCauseFunc

	mu      sync.Mutex
	held    time.Time // time of the request whose response last showed that the session holds the key
	failure error     // failure of the latest read
}

// Lost returns a channel that is closed when the term ends: the candidate resigned, the session was invalidated, the
// key was lost, or no read showed in time that the session holds the key. In the last case, no other candidate can lead
// before StopTime has passed, unless another client released or deleted the key.
func (l *Leadership) Lost() <-chan struct{} { return l.ctx.Done() }

// Remaining returns the time during which no other session can acquire the key, even if no further read succeeds. A
// release or delete ends this time early. After this time, Remaining is negative.
func (l *Leadership) Remaining() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	// The monotonic clock stops while the machine is suspended, and the wall clock can be set back.
	return l.hold - max(now.Sub(l.held), now.Round(0).Sub(l.held.Round(0)))
}

// Err returns the reason why the term ended. It returns nil during the term, after Resign and after Close.
func (l *Leadership) Err() error {
	if cause := context.Cause(l.ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// check ends the term if the session does not hold the key.
func (l *Leadership) check(p election.Pair) (holds bool) {
	switch {
	case p.Session == l.Pair.Session:
		return true
	case p.CreateIndex == 0:
		l.lose(consulx.Fail(consulx.ErrMoved, "%s was deleted", l.Pair.Key))
	case p.Held():
		l.lose(consulx.Fail(consulx.ErrMoved, "%s is held by another session (%s)", p.Key, election.ShortID(p.Session)))
	default:
		l.lose(consulx.Fail(consulx.ErrMoved, "%s was released, or its session was invalidated", p.Key))
	}
	return false
}

// lead begins a term and watches it. sent is the time of the request that read the pair.
func (c *Candidate) lead(lease *lease, pair election.Pair, sent time.Time) *Leadership {
	l := &Leadership{Pair: pair, hold: c.o.Session.Hold(), held: sent}
	l.ctx, l.lose = context.WithCancelCause(lease.ctx)
	c.leading.Store(l)
	c.work.Go(func() { c.expire(l) })
	c.work.Go(func() {
		for l.ctx.Err() == nil {
			_ = c.follow(l.ctx, l.check) // the reads of keep report a denied access
			consulx.Sleep(l.ctx, c.interval())
		}
	})
	return l
}

// read reads the key of a term. It uses a transaction, which is a PUT, because a cache may serve an old response to a
// GET.
func (c *Candidate) read(ctx context.Context, l *Leadership) error {
	ctx, cancel := context.WithTimeout(ctx, c.interval())
	defer cancel()
	sent := time.Now()
	pair, err := c.client.ReadKey(ctx, c.o.Key)
	holds := err == nil && l.check(*cmp.Or(pair, &election.Pair{}))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failure = err; holds {
		l.held = sent
	}
	return err
}

// Resign ends the term, releases the key and keeps its value and flags; with Behavior "delete" it deletes the key. The
// session remains, and no lock-delay follows. If the candidate does not lead, Resign does nothing. If it fails, the
// session may still hold the key. The caller must not campaign again before Resign returns.
func (c *Candidate) Resign(ctx context.Context) error {
	l := c.current()
	if l == nil {
		return nil
	}
	l.lose(nil)
	return c.giveUp(ctx, l.Pair.Session)
}

// giveUp unlocks or deletes the key if the session holds it. It retries, because another client may write the key
// between the read and the action.
func (c *Candidate) giveUp(ctx context.Context, session string) (err error) {
	for range consulx.ReleaseTries {
		var pair *election.Pair
		if pair, err = c.client.ReadKey(ctx, c.o.Key); err != nil || pair == nil || pair.Session != session {
			return err
		}
		if err = c.client.GiveUp(ctx, pair, c.o.Session.Behavior); !errors.Is(err, consulx.ErrMoved) {
			return err
		}
	}
	return err
}

// clockCheck is the interval of clock comparisons. Timers do not run while the machine is suspended.
const clockCheck = time.Second

var errSuspended = errors.New("electop was suspended")

// expire ends a term if no read shows in time that the session holds the key.
func (c *Candidate) expire(l *Leadership) {
	for l.ctx.Err() == nil {
		left := l.Remaining() - c.o.StopTime
		if left <= 0 {
			l.mu.Lock()
			failure := cmp.Or(l.failure, errSuspended)
			l.mu.Unlock()
			l.lose(consulx.Fail(nil, "no read of %s succeeded in time: %s", l.Pair.Key, consulx.Describe(failure)))
		}
		consulx.Sleep(l.ctx, min(left, clockCheck))
	}
}

// MinLockDelay is the shortest lock-delay that prevents two leaders. A shorter one does not leave enough time to detect
// that Consul does not respond.
const MinLockDelay = 10 * time.Second

const (
	// holdMargin covers scheduling delays on a busy machine and the drift between two clocks within one minute.
	holdMargin = 2 * time.Second
	// reads is the number of reads between the latest successful read and the loss. Two of the reads may fail.
	reads = 4
)

// Hold returns how long a read that shows the lock guarantees it, measured from the time of the request: the lock-delay,
// but at most 15 s, minus a margin. A session that ends after the read starts the lock-delay. Hold ignores a lock-delay
// below [MinLockDelay]; two leaders are then possible.
func (s SessionOptions) Hold() time.Duration {
	hold := defaultLockDelay
	if s.LockDelay >= MinLockDelay {
		hold = min(hold, s.LockDelay)
	}
	return hold - holdMargin
}

// interval returns the time between two renewals or reads. It is also the timeout of each.
func (c *Candidate) interval() time.Duration { return (c.o.Session.Hold() - c.o.StopTime) / reads }
