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

// Session returns the ID of the leading session.
func (l *Leadership) Session() string { return l.session }

// Pair returns the key at the start of the term.
func (l *Leadership) Pair() election.Pair { return l.pair }

// Lost returns a channel that is closed when the term ends: the candidate resigned, the session was invalidated, the
// key was lost, or Consul confirmed no renewal in time. In the last case, no other candidate can lead before StopTime
// has passed.
func (l *Leadership) Lost() <-chan struct{} { return l.lost }

// Remaining returns the time during which no other session can acquire the key, even if Consul confirms no further
// renewal. A release or delete ends this time early. After this time, Remaining is negative. If [SessionOptions.Hold]
// is 0, Remaining is the maximum duration.
func (l *Leadership) Remaining() time.Duration { return l.lease.remaining() }

// Err returns the reason why the term ended. It returns nil during the term and after Resign.
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

// clockCheck is the interval of clock comparisons. Timers do not run while the machine is suspended.
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

// expire ends a term if Consul does not confirm a renewal of the session in time.
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

// guardWait is the wait time of a leader's blocking query for its key. A leader detects a release by another client
// within 10 s, even if its connection no longer works.
const guardWait = 5 * time.Second

// guard ends a term when its session no longer exists or no longer holds the key.
func (c *Candidate) guard(ctx context.Context, l *Leadership) {
	c.follow(ctx, guardWait, func(p election.Pair) bool {
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
	return consulx.Fail(consulx.ErrMoved, "%s was released, or its session was invalidated", p.Key)
}
