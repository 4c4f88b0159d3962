package consulx

import (
	"context"
	"errors"
	"time"
)

const (
	// renewRetry is how soon a renewal that failed is tried again.
	renewRetry  = time.Second
	createLimit = 5 * time.Second
)

var errNotRenewed = errors.New("the session could not be renewed for its whole TTL")

// lease is a candidate's session while it lives.
type lease struct {
	id   string
	ctx  context.Context // ends with the session
	stop context.CancelFunc
}

// ensureLease gives the session that lives, or makes one.
func (c *Candidate) ensureLease(ctx context.Context) (*lease, error) {
	c.mu.Lock()
	l := c.lease
	c.mu.Unlock()
	if l != nil && l.ctx.Err() == nil {
		return l, nil
	}
	// Given up half way, it might leave a session behind that nobody knows.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), createLimit)
	defer cancel()
	var made struct{ ID string }
	body := c.o.Session.body()
	if _, err := c.client.api.Raw().Write("/v1/session/create", body, &made, c.client.write(ctx)); err != nil {
		return nil, c.client.wrap(err)
	}
	l = &lease{id: made.ID}
	l.ctx, l.stop = context.WithCancel(context.WithoutCancel(c.life))
	c.mu.Lock()
	c.lease, c.met = l, true
	c.mu.Unlock()
	c.o.Logger.Debug("session made", "key", c.o.Key, "session", l.id)
	if ttl := c.o.Session.TTL; ttl > 0 {
		c.work.Go(func() { c.renew(l, ttl) })
	}
	return l, nil
}

// dropLease forgets a session that is gone.
func (c *Candidate) dropLease(l *lease) {
	l.stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lease == l {
		c.lease = nil
	}
}

// body is the request that makes a session. Consul's library has no way to ask
// for no lock-delay.
func (s SessionOptions) body() map[string]any {
	body := map[string]any{}
	for name, text := range map[string]string{"Name": s.Name, "Node": s.Node, "Behavior": s.Behavior} {
		if text != "" {
			body[name] = text
		}
	}
	if s.TTL > 0 {
		body["TTL"] = s.TTL.String()
	}
	if s.LockDelay != 0 {
		body["LockDelay"] = max(0, s.LockDelay).String()
	}
	if s.NodeChecks != nil {
		body["NodeChecks"] = s.NodeChecks
	}
	if len(s.ServiceChecks) > 0 {
		checks := make([]map[string]string, len(s.ServiceChecks))
		for i, id := range s.ServiceChecks {
			checks[i] = map[string]string{"ID": id}
		}
		body["ServiceChecks"] = checks
	}
	return body
}

// renew keeps a session alive until it is gone or stopped. When it was not
// renewed for its TTL, the leadership is over for all that can be known, but the
// session is kept: it may well live, and then it leads again at once.
func (c *Candidate) renew(l *lease, ttl time.Duration) {
	last := time.Now()
	pause := ttl / 2
	for {
		sleep(l.ctx, pause)
		if l.ctx.Err() != nil {
			return
		}
		start := time.Now()
		exists, err := c.renewOnce(l, ttl)
		switch {
		case l.ctx.Err() != nil:
			return
		case err != nil:
			pause = renewRetry
			if leading := c.current(); leading != nil && time.Since(last) >= ttl {
				leading.lose(errNotRenewed)
			}
		case !exists:
			l.stop()
			return
		default:
			last, pause = start, ttl/2
		}
	}
}

func (c *Candidate) renewOnce(l *lease, ttl time.Duration) (exists bool, err error) {
	ctx, cancel := context.WithTimeout(l.ctx, ttl/3)
	defer cancel()
	entry, _, err := c.client.api.Session().Renew(l.id, c.client.write(ctx))
	if err != nil {
		return false, c.client.wrap(err)
	}
	return entry != nil, nil
}
