package campaign

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
)

// callLimit is the timeout of an acquire and the read after it. Without a quorum, Consul responds only after several
// seconds.
const callLimit = 30 * time.Second

// campaign retries until the candidate leads or until no retry can succeed.
func (c *Candidate) campaign(ctx context.Context) (*Leadership, error) {
	var b consulx.Backoff
	for ctx.Err() == nil {
		// The pause also delays the retry after contradictory responses, or after a term that ended immediately.
		consulx.Sleep(ctx, time.Until(c.next))
		c.next = time.Now().Add(retry*4/5 + consulx.Jitter(retry*2/5))
		start := time.Now()
		l, err := c.attempt(ctx)
		if err == nil || time.Since(start) > consulx.MaxBackoff {
			b.Reset()
		}
		switch {
		case l != nil:
			return l, nil
		case err == nil:
		case consulx.IsDenied(err) || c.lease == nil:
			return nil, err
		default:
			c.o.Logger.Debug("campaign failed", "key", c.o.Key, "error", consulx.Describe(err))
			consulx.Sleep(ctx, b.Next())
		}
	}
	return nil, ctx.Err()
}

// attempt tries to acquire the lock once. If another session holds the lock, attempt waits until the lock is free. If
// attempt returns neither a Leadership nor an error, the caller may retry.
func (c *Candidate) attempt(ctx context.Context) (*Leadership, error) {
	lease, err := c.ensureLease(ctx)
	if err != nil {
		return nil, err
	}
	actx, leave := consulx.Join(ctx, lease.ctx)
	defer leave()
	l, err := c.tryWith(actx, lease)
	if l == nil && ctx.Err() == nil && lease.ctx.Err() != nil {
		err = context.Cause(lease.ctx)
	}
	return l, err
}

func (c *Candidate) tryWith(ctx context.Context, lease *lease) (*Leadership, error) {
	cctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	acquired := api.KVPair{Key: c.o.Key, Value: c.o.Value, Flags: c.o.Flags, Session: lease.id}
	// The read decides who holds the key, because a response to an acquire may be old when it arrives.
	_, _, err := c.client.API().KV().Acquire(&acquired, c.client.Write(cctx))
	if err = c.client.Wrap(err); err != nil {
		if strings.Contains(err.Error(), "invalid session") {
			lease.stop(err)
		}
		return nil, err
	}
	sent := time.Now()
	pair, err := c.client.ReadKey(cctx, c.o.Key)
	switch {
	case err != nil:
		return nil, err
	case pair != nil && pair.Session == lease.id:
		return c.lead(lease, *pair, sent), nil
	case pair != nil && pair.Held():
		return nil, cmp.Or(c.follow(ctx, election.Pair.Held), ctx.Err())
	}
	// The key is free, but a lock-delay may be active. The end of a lock-delay does not end a blocking query.
	return nil, nil
}

// followWait is the wait time of a blocking query for the key. A candidate detects within 10 s that Consul denies the
// read.
const followWait = 5 * time.Second

// follow reads the key repeatedly, and immediately after each change, until goOn returns false or ctx ends. If Consul
// denies the read, it returns ErrDenied.
func (c *Candidate) follow(ctx context.Context, goOn func(election.Pair) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	q := &keyPoller{c: c, goOn: goOn, stop: cancel}
	l := &consulx.Loop{Poller: q, Wait: followWait, Epochs: consulx.NewEpochs(ctx), Client: c.client.Consistently()}
	l.Run(ctx)
	return q.denied
}

// keyPoller queries a candidate's own key.
type keyPoller struct {
	c      *Candidate
	goOn   func(election.Pair) bool
	stop   func()
	answer election.Pair
	last   uint64 // ModifyIndex of the previous answer
	denied error
}

func (f *keyPoller) Poll(q *api.QueryOptions) (*api.QueryMeta, error) {
	pair, meta, err := f.c.client.Reader(q).API().KV().Get(f.c.o.Key, q)
	if err != nil {
		return nil, f.c.client.Wrap(err)
	}
	f.answer = election.Pair{}
	if pair != nil {
		f.answer = consulx.PairOf(pair)
	}
	return meta, nil
}

func (f *keyPoller) Accept(context.Context, consulx.Answer) (bool, error) {
	changed := f.answer.ModifyIndex != f.last
	f.last = f.answer.ModifyIndex
	if !f.goOn(f.answer) {
		f.stop()
	}
	return changed, nil
}

func (f *keyPoller) Failed(err error, _ time.Time) {
	f.c.o.Logger.Debug("candidate's query failed", "key", f.c.o.Key, "error", consulx.Describe(err))
	if consulx.IsDenied(err) {
		f.denied = err
		f.stop()
	}
}
