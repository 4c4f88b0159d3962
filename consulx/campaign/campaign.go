package campaign

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/consulx/internal/blocking"
	"electop/consulx/internal/wire"
	"electop/election"
)

// callLimit is the timeout of an acquire and the read after it. Without a quorum, Consul responds only after several
// seconds.
const callLimit = 30 * time.Second

// campaign retries until the candidate leads or until no retry can succeed.
func (c *Candidate) campaign(ctx context.Context) (*Leadership, error) {
	var b blocking.Backoff
	for ctx.Err() == nil {
		c.pace(ctx)
		start := time.Now()
		l, err := c.attempt(ctx)
		if err == nil || time.Since(start) > blocking.MaxBackoff {
			b.Reset()
		}
		switch {
		case l != nil:
			return l, nil
		case err == nil:
		case errors.Is(err, consulx.ErrDenied) || !c.hasMet():
			return nil, err
		default:
			c.o.Logger.Debug("campaign failed", "key", c.o.Key, "error", consulx.Describe(err))
			blocking.Sleep(ctx, b.Next())
		}
	}
	return nil, ctx.Err()
}

// pace waits until the next attempt is due. It also delays the retry after contradictory responses, or after a term
// that ended immediately.
func (c *Candidate) pace(ctx context.Context) {
	blocking.Sleep(ctx, time.Until(c.next))
	c.next = time.Now().Add(c.o.Retry*4/5 + blocking.Jitter(c.o.Retry*2/5))
}

// attempt tries to acquire the lock once. If another session holds the lock, attempt waits until the lock is free. If
// attempt returns neither a Leadership nor an error, the caller may retry.
func (c *Candidate) attempt(ctx context.Context) (*Leadership, error) {
	lease, err := c.ensureLease(ctx)
	if err != nil {
		return nil, err
	}
	actx, leave := blocking.Join(ctx, lease.ctx)
	defer leave()
	l, err := c.tryWith(actx, lease)
	if lease.ctx.Err() != nil && ctx.Err() == nil {
		c.dropLease(lease)
		if l == nil {
			err = consulx.Fail(consulx.ErrNoSession, "session %s no longer exists", election.ShortID(lease.id))
		}
	}
	return l, err
}

func (c *Candidate) tryWith(ctx context.Context, lease *lease) (*Leadership, error) {
	cctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	ok, err := c.acquire(cctx, lease.id)
	if err != nil {
		if strings.Contains(err.Error(), "invalid session") {
			lease.stop()
		}
		return nil, err
	}
	sent := time.Now()
	pair, err := c.client.ReadKey(cctx, c.o.Key)
	switch {
	case err != nil:
		return nil, err
	case pair != nil && pair.Session == lease.id:
		lease.confirm(sent)
		return c.lead(lease, *pair), nil
	case pair != nil && pair.Held():
		return nil, c.awaitFree(ctx)
	case ok:
		return nil, consulx.Fail(nil, "Consul confirmed that %s was acquired, but no session holds it", c.o.Key)
	}
	// The key is free, but a lock-delay may be active. The end of a lock-delay does not end a blocking query.
	return nil, nil
}

// awaitFree waits until no session holds the key.
func (c *Candidate) awaitFree(ctx context.Context) error {
	c.follow(ctx, blocking.DefaultWait, func(p election.Pair) bool { return p.Held() })
	return ctx.Err()
}

// follow calls onChange with the key immediately and after each change, until ctx ends or onChange returns false.
func (c *Candidate) follow(ctx context.Context, wait time.Duration, onChange func(election.Pair) bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := blocking.NewEpochs(ctx)
	defer r.Stop()
	q := &keyPoller{c: c, onChange: onChange, stop: cancel}
	l := &blocking.Loop{Poller: q, Wait: wait, Epochs: r, Client: c.client, Consistent: true}
	l.Run(ctx)
}

// keyPoller queries a candidate's own key.
type keyPoller struct {
	c        *Candidate
	onChange func(election.Pair) bool
	stop     func()
	answer   election.Pair
	last     election.Pair
	reported bool
}

func (f *keyPoller) Poll(q blocking.Query) (*api.QueryMeta, error) {
	pair, meta, err := f.c.client.Reader(q.Reserved).API().KV().Get(f.c.o.Key, q.QueryOptions)
	if err != nil {
		return nil, f.c.client.Wrap(err)
	}
	f.answer = election.Pair{Key: f.c.o.Key}
	if pair != nil {
		f.answer = wire.Pair(pair)
	}
	return meta, nil
}

func (f *keyPoller) Accept(context.Context, blocking.Answer) (bool, error) {
	if f.reported && f.answer.ModifyIndex == f.last.ModifyIndex && f.answer.Session == f.last.Session {
		return false, nil
	}
	f.last, f.reported = f.answer, true
	if !f.onChange(f.answer) {
		f.stop()
	}
	return true, nil
}

func (f *keyPoller) Failed(err error, _ time.Time) {
	f.c.o.Logger.Debug("candidate's query failed", "key", f.c.o.Key, "error", consulx.Describe(err))
}

func (c *Candidate) hasMet() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.met
}
