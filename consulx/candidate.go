package consulx

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

// SessionOptions are the settings of the session that a candidate stands with.
type SessionOptions struct {
	Name string
	// Node is the agent's own when empty.
	Node string
	// TTL is 15s when 0; a negative one means none.
	TTL time.Duration
	// LockDelay is Consul's default, 15s, when 0; a negative one means none.
	LockDelay time.Duration
	// Behavior is "release" when empty.
	Behavior string
	// NodeChecks is Consul's default, serfHealth, when nil; an empty list means
	// none.
	NodeChecks    []string
	ServiceChecks []string
}

// CandidateOptions say what a candidate stands for and with.
type CandidateOptions struct {
	Key string
	// Value and Flags are written to the key with each acquisition.
	Value   []byte
	Flags   uint64
	Session SessionOptions
	// Retry is how often a candidate asks again during a lock-delay, more or
	// less; 0 means every 250 ms.
	Retry time.Duration
	// Logger is told of sessions and refusals, at the level debug. Nil discards.
	Logger *slog.Logger
}

const (
	defaultTTL   = 15 * time.Second
	defaultRetry = 250 * time.Millisecond
)

// ErrClosed is the answer of a candidate that was closed.
var ErrClosed = errors.New("the candidate is closed")

// Candidate stands for one election with a session of its own, which it makes
// when it first needs it, renews, and makes anew when Consul invalidated it.
type Candidate struct {
	client *Client
	o      CandidateOptions
	life   context.Context // ends with Close
	end    context.CancelFunc
	work   sync.WaitGroup
	turn   chan struct{} // held by whoever campaigns

	mu      sync.Mutex
	lease   *lease
	leading *Leadership
	met     bool // Consul has answered once
}

// NewCandidate makes a candidate that does nothing before
// [Candidate.Campaign]. It has to be closed.
func NewCandidate(c *Client, o CandidateOptions) *Candidate {
	if o.Retry <= 0 {
		o.Retry = defaultRetry
	}
	if o.Session.TTL == 0 {
		o.Session.TTL = defaultTTL
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	life, end := context.WithCancel(context.Background())
	return &Candidate{client: c, o: o, life: life, end: end, turn: make(chan struct{}, 1)}
}

// Campaign waits until this candidate leads. It respects whoever holds the key
// and every lock-delay, makes a new session whenever its own was invalidated,
// and bears with a Consul that fails, once that has answered at all. It ends
// early with ctx, with Close, and when Consul refuses for good (ErrDenied). One
// that leads already gets the same Leadership again.
func (c *Candidate) Campaign(ctx context.Context) (*Leadership, error) {
	if !safeKey(c.o.Key) {
		return nil, fail(nil, "key %s can't be stood for: Consul's HTTP API takes it for another one", c.o.Key)
	}
	ctx, leave := within(ctx, c.life)
	defer leave()
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, c.ended(ctx)
	}
	if l := c.current(); l != nil {
		return l, nil
	}
	l, err := c.campaign(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, c.ended(ctx)
	}
	return l, err
}

func (c *Candidate) ended(ctx context.Context) error {
	if c.life.Err() != nil {
		return ErrClosed
	}
	return ctx.Err()
}

// Resign gives the leadership up: the key is released, its value and flags are
// kept, no lock-delay follows, and the session lives on for the next campaign.
// Without a leadership it does nothing.
func (c *Candidate) Resign(ctx context.Context) error {
	l := c.current()
	if l == nil {
		return nil
	}
	l.resigning.Store(true)
	err := c.release(ctx, l.session)
	if err != nil {
		l.resigning.Store(false)
		return err
	}
	l.lose(nil)
	return nil
}

// release unlocks the key if the session holds it. Somebody may write the key
// between look and release, hence several tries.
func (c *Candidate) release(ctx context.Context, session string) error {
	var err error
	for range releaseTries {
		var pair *election.Pair
		pair, err = c.client.readKey(ctx, c.o.Key)
		if err != nil {
			return err
		}
		if pair == nil || pair.Session != session {
			return nil
		}
		if err = c.client.unlock(ctx, pair); !errors.Is(err, ErrMoved) {
			return err
		}
	}
	return err
}

// Proclaim writes another value while leading, as the holder of the lock, and
// for the acquisitions to come.
func (c *Candidate) Proclaim(ctx context.Context, value []byte) error {
	l := c.current()
	if l == nil {
		return fail(ErrMoved, "not leading %s", c.o.Key)
	}
	c.mu.Lock()
	c.o.Value = value
	c.mu.Unlock()
	ok, err := c.acquire(ctx, l.session)
	if err == nil && !ok {
		err = fail(ErrMoved, "%s is no longer held", c.o.Key)
	}
	return err
}

// Observe gives the key as it is and after every change that is seen, until ctx
// ends or the candidate is closed; then the channel is closed. A key that does
// not exist has no CreateIndex. Changes may coalesce.
func (c *Candidate) Observe(ctx context.Context) <-chan election.Pair {
	pairs := make(chan election.Pair)
	if c.life.Err() != nil {
		close(pairs)
		return pairs
	}
	c.work.Go(func() {
		defer close(pairs)
		ctx, leave := within(ctx, c.life)
		defer leave()
		c.follow(ctx, func(p election.Pair) bool {
			select {
			case pairs <- p:
			case <-ctx.Done():
			}
			return true
		})
	})
	return pairs
}

// Close ends every campaign, releases the key if this candidate holds it (value
// and flags are kept), destroys its session and waits for all that it started.
func (c *Candidate) Close(ctx context.Context) error {
	c.end()
	c.turn <- struct{}{} // a campaign that was under way has ended now
	defer func() { <-c.turn }()
	err := c.Resign(ctx)
	c.mu.Lock()
	l, leading := c.lease, c.leading
	c.lease = nil
	c.mu.Unlock()
	if leading != nil {
		leading.lose(ErrClosed)
	}
	if l != nil {
		l.stop()
		if err == nil {
			// An acquisition whose answer was lost may still have happened.
			err = c.release(ctx, l.id)
		}
		_, destroyed := c.client.api.Session().Destroy(l.id, c.client.write(ctx))
		err = errors.Join(err, c.client.wrap(destroyed))
	}
	c.work.Wait()
	return err
}

// current is the leadership that lasts, nil without one.
func (c *Candidate) current() *Leadership {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leading != nil && c.leading.over() {
		c.leading = nil
	}
	return c.leading
}

// acquire asks for the lock once.
func (c *Candidate) acquire(ctx context.Context, session string) (bool, error) {
	c.mu.Lock()
	pair := api.KVPair{Key: c.o.Key, Value: c.o.Value, Flags: c.o.Flags, Session: session}
	c.mu.Unlock()
	ok, _, err := c.client.api.KV().Acquire(&pair, c.client.write(ctx))
	return ok, c.client.wrap(err)
}
