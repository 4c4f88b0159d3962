package consulx

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"electop/election"
	"electop/election/sanitize"
)

// destroyLimit is the timeout of the last reads and the write of a destroy.
const destroyLimit = 15 * time.Second

// DestroySession ends a session and all its holds. It fails with ErrMoved if the session does not hold exactly the keys
// that were shown, with ErrNoSession if it does not exist, and with ErrRefused if the evidence no longer holds. After
// ErrUnknown, the session may have been destroyed.
func (op *Operator) DestroySession(ctx context.Context, d election.Destroy) error {
	if err := op.elsewhere(d.Target); err != nil {
		return err
	}
	if _, err := op.client.session(ctx, d.Session); err != nil {
		return err
	}
	if d.Key != "" && !slices.Contains(d.Keys, d.Key) {
		d.Keys = append(slices.Clone(d.Keys), d.Key)
	}
	for _, key := range d.Keys {
		if err := addressable(key); err != nil {
			return err
		}
	}
	if err := op.checkHeld(ctx, d); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, destroyLimit)
	defer cancel()
	if d.Evidence != nil {
		if err := d.Evidence(ctx); err != nil {
			return err
		}
	}
	held, err := op.client.heldKeys(ctx, d)
	if err = cmp.Or(err, noLongerHolds(d, held)); err != nil {
		return err
	}
	// The first ctrl-c lets a write in progress end.
	limit, _ := ctx.Deadline()
	write, stop := context.WithDeadline(context.WithoutCancel(ctx), limit)
	defer stop()
	return election.OperatorAction{Kind: election.ActionDestroy, Session: d.Session, Detail: d.Note}.Run(time.Now, op.note, func() error { return op.destroy(write, d) })
}

// checkHeld compares the keys that the session holds in the whole store with those that were shown.
func (op *Operator) checkHeld(ctx context.Context, d election.Destroy) error {
	held, complete, err := op.HeldBy(ctx, d.Session, d.Shown)
	switch {
	case err != nil:
		return err
	case !complete && !d.Incomplete:
		return Fail(ErrRefused, "this token cannot read all keys, so the session may hold more than those shown; nothing was written")
	}
	for _, key := range held {
		if !slices.Contains(d.Keys, key) {
			return Fail(ErrMoved, "the session also holds %s, which was not shown; nothing was written", sanitize.Line(key, 200))
		}
	}
	if !complete {
		return nil
	}
	return noLongerHolds(d, held) // or the search missed keys, because a proxy altered a response
}

// noLongerHolds returns an error if a key that was shown is not among the held keys.
func noLongerHolds(d election.Destroy, held []string) error {
	for _, key := range d.Keys {
		if !slices.Contains(held, key) {
			return Fail(ErrMoved, "the session no longer holds %s; nothing was written", sanitize.Line(key, 200))
		}
	}
	return nil
}

// heldKeys reads which of its keys a session holds. The read is consistent even with --stale.
func (c *Client) heldKeys(ctx context.Context, d election.Destroy) (held []string, err error) {
	for some := range slices.Chunk(d.Keys, TxnReads) {
		pairs, _, err := c.ReadExisting(some, c.Consistent(ctx))
		if err != nil {
			return nil, err
		}
		for _, p := range pairs {
			if p.HeldBy(d.Session) {
				held = append(held, p.Key)
			}
		}
	}
	return held, nil
}

// destroy destroys the session, and makes sure afterwards that it holds none of its keys and no longer exists.
func (op *Operator) destroy(ctx context.Context, d election.Destroy) error {
	c := op.client
	var done bool
	_, err := c.api.Raw().Write("/v1/session/destroy/"+url.PathEscape(d.Session), nil, &done, c.Write(ctx))
	if err == nil && !done { // the library's function ignores the response
		err = NotConsul("it does not confirm the destroy")
	}
	if err != nil {
		return c.unconfirmed(ctx, err, "the destroy", func(ctx context.Context) (string, error) { return c.sessionNow(ctx, d.Target) })
	}
	held, err := c.heldKeys(ctx, d)
	switch {
	case err != nil:
		return Fail(ErrUnknown, "Consul confirmed the destroy, but the keys could not be read afterwards: %s", Describe(err))
	case len(held) > 0:
		return Fail(ErrUnknown, "Consul confirmed the destroy, but the session still holds %s", sanitize.Line(held[0], 200))
	}
	switch _, err := c.session(ctx, d.Session); {
	case err == nil:
		return Fail(ErrUnknown, "Consul confirmed the destroy, but the session still exists")
	case errors.Is(err, ErrNoSession), IsDenied(err): // without a token, Consul does not report which sessions are hidden
		return nil
	default:
		return Fail(ErrUnknown, "Consul confirmed the destroy, but the session could not be read afterwards: %s", Describe(err))
	}
}
