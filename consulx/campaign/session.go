package campaign

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
)

// SessionOptions are the settings of a candidate's session.
type SessionOptions struct {
	Name string
	// Node is the node of the session. If it is empty, Consul uses the agent's node.
	Node string
	// TTL is the time to live of the session: 0 means 15 s.
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

const (
	defaultTTL       = 15 * time.Second
	defaultLockDelay = 15 * time.Second // Consul's default
	// retryPause is the pause after a failed read or renewal.
	retryPause  = time.Second
	createLimit = 5 * time.Second
)

// lease is the current session of a candidate.
type lease struct {
	id   string
	ctx  context.Context // context that is cancelled when the session ends or is no longer usable
	stop context.CancelCauseFunc
}

// ensureLease returns the current session, or creates one.
func (c *Candidate) ensureLease(ctx context.Context) (*lease, error) {
	if c.lease != nil && c.lease.ctx.Err() == nil {
		return c.lease, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// A cancelled request may still create a session. Therefore only Close cancels this request.
	calls, cancel := context.WithTimeout(c.calls, createLimit)
	defer cancel()
	var made struct{ ID string }
	if _, err := c.client.API().Raw().Write("/v1/session/create", c.o.Session.body(), &made, c.client.Write(calls)); err != nil {
		return nil, c.client.Wrap(err)
	}
	if made.ID == "" {
		return nil, c.client.Wrap(consulx.NotConsul("it contains no ID of the new session"))
	}
	l := &lease{id: made.ID}
	l.ctx, l.stop = context.WithCancelCause(context.WithoutCancel(c.life))
	c.lease = l
	c.o.Logger.Debug("session created", "key", c.o.Key, "session", l.id)
	c.work.Go(func() { c.keep(l) })
	return l, nil
}

// body returns the request that creates a session. Consul's Go library cannot create a session without a lock-delay.
func (s SessionOptions) body() any {
	type id struct{ ID string }
	body := struct {
		Name, Node, Behavior, TTL string `json:",omitempty"`
		LockDelay                 string
		NodeChecks                []string `json:",omitzero"`
		ServiceChecks             []id     `json:",omitempty"`
	}{s.Name, s.Node, s.Behavior, s.TTL.String(), max(0, s.LockDelay).String(), s.NodeChecks, nil}
	for _, check := range s.ServiceChecks {
		body.ServiceChecks = append(body.ServiceChecks, id{check})
	}
	return body
}

// keep renews the session and, during a term, reads the key, until the session ends. If Consul denies the renewal and the
// candidate does not lead, the session is not usable.
func (c *Candidate) keep(l *lease) {
	for pause := c.interval(); ; {
		consulx.Sleep(l.ctx, pause)
		if l.ctx.Err() != nil {
			return
		}
		start := time.Now()
		var err error
		if term := c.current(); term != nil {
			err = c.read(l.ctx, term)
		}
		if err = errors.Join(err, c.renew(l)); err == nil {
			pause = c.interval() - time.Since(start)
			continue
		}
		c.o.Logger.Debug("renewal or read failed", "key", c.o.Key, "session", l.id, "error", consulx.Describe(err))
		if pause = min(retryPause, c.interval()); errors.Is(err, consulx.ErrNoSession) || consulx.IsDenied(err) && c.current() == nil {
			l.stop(err)
		}
	}
}

// renew renews the session once. Only a 404 that contains the session's ID proves that the session no longer exists
// (ErrNoSession): a proxy may also respond with 404.
func (c *Candidate) renew(l *lease) error {
	ctx, cancel := context.WithTimeout(l.ctx, c.interval())
	defer cancel()
	_, err := c.client.API().Raw().Write("/v1/session/renew/"+l.id, nil, nil, c.client.Write(ctx))
	var status api.StatusError
	if errors.As(err, &status) && status.Code == http.StatusNotFound && strings.Contains(status.Body, l.id) {
		return consulx.Fail(consulx.ErrNoSession, "session %s no longer exists", election.ShortID(l.id))
	}
	return c.client.Wrap(err)
}
