package consulx

import (
	"context"
	"sync"
	"sync/atomic"

	"electop/election"
)

// Leadership is one term of a [Candidate].
type Leadership struct {
	session   string
	pair      election.Pair
	resigning atomic.Bool
	once      sync.Once
	lost      chan struct{}
	err       error
}

// Session is the id of the session that leads.
func (l *Leadership) Session() string { return l.session }

// Pair is the key as it was when the term began.
func (l *Leadership) Pair() election.Pair { return l.pair }

// Lost is closed when the term is over: resigned, the session invalidated, the
// key no longer held by it, or the session not renewed for its TTL.
func (l *Leadership) Lost() <-chan struct{} { return l.lost }

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

// lead begins a term and watches over it.
func (c *Candidate) lead(lease *lease, pair election.Pair) *Leadership {
	l := &Leadership{session: lease.id, pair: pair, lost: make(chan struct{})}
	c.mu.Lock()
	c.leading = l
	c.mu.Unlock()
	c.work.Go(func() { c.guard(l, lease) })
	return l
}

// guard ends a term as soon as the key is not held by its session or the
// session is gone.
func (c *Candidate) guard(l *Leadership, lease *lease) {
	ctx, leave := context.WithCancel(lease.ctx)
	defer leave()
	c.work.Go(func() {
		select {
		case <-l.lost:
			leave()
		case <-ctx.Done():
		}
	})
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
	l.lose(fail(ErrNoSession, "session %s is gone", election.ShortID(l.session)))
}

func takenAway(p election.Pair) error {
	switch {
	case p.CreateIndex == 0:
		return fail(ErrMoved, "%s was deleted", p.Key)
	case p.Held():
		return fail(ErrMoved, "%s is held by another session (%s)", p.Key, election.ShortID(p.Session))
	}
	return fail(ErrMoved, "%s was released, or its session invalidated", p.Key)
}
