// Package campaign competes for an election: it creates a session, acquires the
// key, renews the session and resigns.
//
// A [Leadership] is not a fencing token: a leader that was paused detects the end of its term only after it resumes.
package campaign

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"electop/consulx"
)

// Options are the settings of a [Candidate].
type Options struct {
	Key string
	// Each acquire writes Value and Flags. A Value of more than about 390 KB can only be released by Close, so that a
	// lock-delay follows.
	Value   []byte
	Flags   uint64
	Session SessionOptions
	// StopTime is the time that the caller needs to stop its work after [Leadership.Lost] is closed. It must be
	// shorter than [SessionOptions.Hold].
	StopTime time.Duration
	// Logger receives new sessions and failures at level debug; nil discards them.
	Logger *slog.Logger
}

// retry is the minimum time between two attempts to acquire the key, and the interval of the polls during a lock-delay.
// The time varies by up to a fifth at random.
const retry = 250 * time.Millisecond

// ErrClosed reports that Close was called on the candidate.
var ErrClosed = errors.New("the candidate is closed")

// Candidate competes for one election with its own session, which it creates, renews and replaces. docs/campaign.md
// states when two candidates can lead at the same time.
type Candidate struct {
	client *consulx.Client
	o      Options
	life   context.Context // context that is cancelled when Close begins
	end    context.CancelCauseFunc
	calls  context.Context // context that is cancelled when Close must return
	abort  context.CancelFunc
	work   sync.WaitGroup
	turn   chan struct{} // lock that the running campaign holds; it guards the following two fields
	next   time.Time     // earliest time of the next attempt
	lease  *lease        // nil until Consul has created a session

	leading atomic.Pointer[Leadership]
}

// New returns an idle candidate. The caller must close it.
func New(c *consulx.Client, o Options) *Candidate {
	o.Session.TTL = cmp.Or(o.Session.TTL, defaultTTL)
	o.Session.LockDelay = cmp.Or(o.Session.LockDelay, defaultLockDelay)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	candidate := &Candidate{client: c, o: o, turn: make(chan struct{}, 1)}
	candidate.life, candidate.end = context.WithCancelCause(context.Background())
	candidate.calls, candidate.abort = context.WithCancel(context.Background())
	return candidate
}

// Campaign waits until this candidate leads. If it already leads, Campaign returns the current Leadership. It
// continues after lock-delays and lost sessions, and, once Consul has created a session, after failures. It ends when ctx
// ends, Close begins or Consul denies a read, an acquire or a renewal (ErrDenied).
func (c *Candidate) Campaign(ctx context.Context) (*Leadership, error) {
	if !consulx.Literal(c.o.Key) {
		return nil, consulx.Fail(nil, "cannot campaign for %s: a URL cannot contain this key", c.o.Key)
	}
	if hold := c.o.Session.Hold(); c.o.StopTime >= hold {
		return nil, consulx.Fail(nil, "cannot campaign for %s: StopTime %s must be shorter than %s, the time for which a read guarantees the lock",
			c.o.Key, c.o.StopTime, hold)
	}
	joined, leave := consulx.Join(ctx, c.life)
	defer leave()
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-joined.Done():
		return nil, cmp.Or(context.Cause(c.life), ctx.Err())
	}
	if l := c.current(); l != nil {
		return l, nil
	}
	l, err := c.campaign(joined)
	if err != nil && joined.Err() != nil {
		return nil, cmp.Or(context.Cause(c.life), ctx.Err())
	}
	return l, err
}

// Close ends every campaign, resigns, destroys the session and waits for the candidate's goroutines. If it returns an
// error, the session may remain until its TTL expires, and may hold the key.
func (c *Candidate) Close(ctx context.Context) error {
	defer c.abort()
	defer context.AfterFunc(ctx, c.abort)()
	c.end(ErrClosed)
	c.turn <- struct{}{} // wait for the running campaign
	defer func() { <-c.turn }()
	var err error
	if l := c.lease; l != nil {
		c.lease = nil
		l.stop(nil) // also ends the term
		// An acquire without a response may have been applied. If the release fails, the destroy unlocks the key.
		_ = c.giveUp(ctx, l.id)
		var done bool // the library's function also accepts a response that is not Consul's
		_, err = c.client.API().Raw().Write("/v1/session/destroy/"+l.id, nil, &done, c.client.Write(ctx))
	}
	c.work.Wait()
	return c.client.Wrap(err)
}

// current returns the current term of this candidate, or nil if the candidate does not lead.
func (c *Candidate) current() *Leadership {
	if l := c.leading.Load(); l != nil && l.ctx.Err() == nil {
		return l
	}
	return nil
}
