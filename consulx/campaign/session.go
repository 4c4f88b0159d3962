package campaign

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/consulx/internal/blocking"
	"electop/consulx/internal/transport"
	"electop/election"
)

// SessionOptions are the settings of a candidate's session.
type SessionOptions struct {
	Name string
	// Node is the node of the session. If it is empty, Consul uses the agent's node.
	Node string
	// TTL is the time to live of the session: 0 means 15 s; a negative value means no TTL.
	TTL time.Duration
	// LockDelay is the lock-delay of the session: 0 means Consul's default, 15 s; a negative value means no
	// lock-delay.
	LockDelay time.Duration
	// Behavior is "release" or "delete". An empty string means "release".
	Behavior string
	// NodeChecks contains the IDs of the node checks: nil means Consul's default, serfHealth; an empty list means no
	// checks.
	NodeChecks    []string
	ServiceChecks []string
}

// MinLockDelay is the shortest lock-delay that [SessionOptions.Hold] uses. A shorter lock-delay does not leave enough
// time to detect that Consul does not respond.
const MinLockDelay = 10 * time.Second

const (
	defaultTTL       = 15 * time.Second
	defaultLockDelay = 15 * time.Second // Consul's default
	// holdMargin covers scheduling delays on a busy machine and the drift between two clocks within one minute.
	holdMargin = 2 * time.Second
	// renewals is the number of attempts between the latest confirmed renewal and the loss. Two of the attempts may
	// fail.
	renewals = 4
	// renewRetry is the pause after a failed renewal.
	renewRetry = time.Second
	// renewLimit is the timeout of one renewal of a session with a long TTL.
	renewLimit  = 10 * time.Second
	createLimit = 5 * time.Second
)

var errNotRenewed = errors.New("electop received no confirmation of a session renewal in time")

// complete sets the defaults.
func (s SessionOptions) complete() SessionOptions {
	if s.TTL == 0 {
		s.TTL = defaultTTL
	}
	if s.LockDelay == 0 {
		s.LockDelay = defaultLockDelay
	}
	return s
}

// Hold returns how long a confirmed renewal guarantees the lock, measured from the time of its request: the shorter of
// TTL and lock-delay, minus a margin. Hold ignores a lock-delay below [MinLockDelay]. 0 means no guarantee. A
// lock-delay limits the time because a health check may end the session immediately.
func (s SessionOptions) Hold() time.Duration {
	s = s.complete()
	hold := max(0, s.TTL)
	if delay := min(s.LockDelay, election.MaxLockDelay); delay >= MinLockDelay && (hold == 0 || delay < hold) {
		hold = delay
	}
	return hold - min(holdMargin, hold/5)
}

// lease is the current session of a candidate.
type lease struct {
	id   string
	hold time.Duration
	ctx  context.Context // context that is cancelled when the session ends
	stop context.CancelFunc

	mu        sync.Mutex
	confirmed time.Time // time of the request whose response last confirmed the session
}

// confirm records that the session existed when a request was sent.
func (l *lease) confirm(sent time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if sent.After(l.confirmed) {
		l.confirmed = sent
	}
}

// remaining returns how long the session keeps its locks without a further renewal. A release or delete ends this
// time early.
func (l *lease) remaining() time.Duration {
	if l.hold == 0 {
		return math.MaxInt64
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hold - elapsed(l.confirmed)
}

// elapsed returns the longer of two measurements of the time since t. The monotonic clock stops while the machine is
// suspended, and the wall clock can be set back.
func elapsed(t time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(t), now.Round(0).Sub(t.Round(0)))
}

// ensureLease returns the current session, or creates one.
func (c *Candidate) ensureLease(ctx context.Context) (*lease, error) {
	c.mu.Lock()
	l := c.lease
	c.mu.Unlock()
	if l != nil && l.ctx.Err() == nil {
		return l, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// A cancelled request may still create a session. Therefore only Close cancels this request.
	calls, cancel := context.WithTimeout(c.calls, createLimit)
	defer cancel()
	var made struct{ ID string }
	sent := time.Now()
	if _, err := c.client.API().Raw().Write("/v1/session/create", c.o.Session.body(), &made, c.client.Write(calls)); err != nil {
		return nil, c.client.Wrap(err)
	}
	if made.ID == "" {
		return nil, c.client.Wrap(transport.NotConsul("it contains no ID of the new session"))
	}
	l = &lease{id: made.ID, hold: c.o.Session.Hold(), confirmed: sent}
	l.ctx, l.stop = context.WithCancel(context.WithoutCancel(c.life))
	c.mu.Lock()
	c.lease, c.met = l, true
	c.mu.Unlock()
	c.o.Logger.Debug("session created", "key", c.o.Key, "session", l.id)
	if l.hold > 0 {
		c.work.Go(func() { c.renew(l) })
	}
	return l, nil
}

// dropLease discards a session that no longer exists.
func (c *Candidate) dropLease(l *lease) {
	l.stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lease == l {
		c.lease = nil
	}
}

// body returns the request that creates a session. Consul's Go library cannot create a session without a lock-delay.
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

// renew renews a session until it is invalidated or stopped. A late renewal does not end the session: if the session
// still exists, it can lead again immediately.
func (c *Candidate) renew(l *lease) {
	every := (l.hold - c.o.StopTime) / renewals
	pause := every
	for {
		blocking.Sleep(l.ctx, pause)
		if l.ctx.Err() != nil {
			return
		}
		sent := time.Now()
		exists, err := c.renewOnce(l, min(every, renewLimit))
		switch {
		case l.ctx.Err() != nil:
			return
		case err != nil:
			c.o.Logger.Debug("renewal failed", "key", c.o.Key, "session", l.id, "error", consulx.Describe(err))
			pause = min(renewRetry, every)
		case !exists:
			l.stop()
			return
		default:
			l.confirm(sent)
			pause = every - time.Since(sent)
		}
	}
}

// renewOnce renews the session once. Only a 404 that contains the session's ID proves that the session no longer
// exists. A proxy's 404 must not end a term, and a proxy's 200 must not extend it.
func (c *Candidate) renewOnce(l *lease, limit time.Duration) (exists bool, err error) {
	ctx, cancel := context.WithTimeout(l.ctx, limit)
	defer cancel()
	var renewed []struct{ ID string }
	_, err = c.client.API().Raw().Write("/v1/session/renew/"+l.id, nil, &renewed, c.client.Write(ctx))
	var status api.StatusError
	switch {
	case errors.As(err, &status) && status.Code == http.StatusNotFound && strings.Contains(status.Body, l.id):
		return false, nil
	case err == nil && (len(renewed) == 0 || renewed[0].ID != l.id):
		err = transport.NotConsul("it does not contain the renewed session")
	}
	return err == nil, c.client.Wrap(err)
}
