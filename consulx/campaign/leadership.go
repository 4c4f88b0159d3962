package campaign

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"electop/consulx"
	"electop/election"
)

// Leadership is one term of a [Candidate].
type Leadership struct {
	session   string
	lease     *lease
	pair      election.Pair
	resigning atomic.Bool
	once      sync.Once
	lost      chan struct{}
	err       error
}

// Session is the ID of the session that leads.
func (l *Leadership) Session() string { return l.session }

// Pair is the key as it was when the term began.
func (l *Leadership) Pair() election.Pair { return l.pair }

// Lost is closed when the term is over: resigned, the session invalidated, the
// key no longer held by it, or no renewal confirmed in time. In the last case
// StopTime is left until another candidate may lead.
func (l *Leadership) Lost() <-chan struct{} { return l.lost }

// Remaining is how long no other session can acquire the key even if Consul
// confirms no further renewal, unless the key is released or deleted. Each
// confirmed renewal makes it longer. It is negative once that time is over, and
// the longest duration for a session whose [SessionOptions.Hold] is 0.
func (l *Leadership) Remaining() time.Duration { return l.lease.remaining() }

// Err is why the term is over: nil while it lasts and after a Resign.
func (l *Leadership) Err() error {
	select {
	case <-l.lost:
		return l.err
	default:
		return nil
	}
}

func (l *Leadership) lose(err error) {
	l.once.Do(func() {
		l.err = err
		close(l.lost)
	})
}

func (l *Leadership) over() bool {
	select {
	case <-l.lost:
		return true
	default:
		return false
	}
}

// clockCheck is how often a term compares the clocks: a timer does not run
// while the machine is suspended.
const clockCheck = time.Second

// lead begins a term and watches it.
func (c *Candidate) lead(lease *lease, pair election.Pair) *Leadership {
	l := &Leadership{session: lease.id, lease: lease, pair: pair, lost: make(chan struct{})}
	c.mu.Lock()
	c.leading = l
	c.mu.Unlock()
	ctx, over := context.WithCancel(lease.ctx)
	c.work.Go(func() {
		defer over()
		c.guard(ctx, l)
	})
	c.work.Go(func() {
		defer over()
		c.expire(ctx, l)
	})
	return l
}

// expire ends a term whose session was not confirmed in time.
func (c *Candidate) expire(ctx context.Context, l *Leadership) {
	for {
		left := l.Remaining() - c.o.StopTime
		if left <= 0 {
			l.lose(errNotRenewed)
			return
		}
		timer := time.NewTimer(min(left, clockCheck))
		select {
		case <-timer.C:
		case <-l.lost:
		case <-ctx.Done():
		}
		timer.Stop()
		if l.over() || ctx.Err() != nil {
			return
		}
	}
}

// guard ends a term as soon as the key is not held by its session or the
// session is gone.
func (c *Candidate) guard(ctx context.Context, l *Leadership) {
	c.follow(ctx, func(p election.Pair) bool {
		if p.Session == l.session {
			return true
		}
		if l.resigning.Load() {
			l.lose(nil)
		} else {
			l.lose(takenAway(p))
		}
		return false
	})
	l.lose(consulx.Fail(consulx.ErrNoSession, "session %s no longer exists", election.ShortID(l.session)))
}

func takenAway(p election.Pair) error {
	switch {
	case p.CreateIndex == 0:
		return consulx.Fail(consulx.ErrMoved, "%s was deleted", p.Key)
	case p.Held():
		return consulx.Fail(consulx.ErrMoved, "%s is held by another session (%s)", p.Key, election.ShortID(p.Session))
	}
	return consulx.Fail(consulx.ErrMoved, "%s was released, or its session invalidated", p.Key)
}
