package consulx

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

// releaseTries is how often a release races with a holder that writes its value.
const releaseTries = 5

// Operator steps leaders down.
type Operator struct {
	client *Client
	note   func(election.OperatorAction)
}

// NewOperator makes an operator. note, which may be nil, is told of every action
// before and after; see [Observer.Note].
func NewOperator(c *Client, note func(election.OperatorAction)) *Operator {
	if note == nil {
		note = func(election.OperatorAction) {}
	}
	return &Operator{client: c, note: note}
}

// Destroyed is what [Operator.DestroySession] ended.
type Destroyed struct {
	Session election.Session
	// LockDelay is how long Consul now refuses every session on each key that
	// this one held.
	LockDelay time.Duration
}

// Release unlocks a key and keeps its value and flags byte for byte. It does so
// to exactly the hold that t names (its session, and its CreateIndex and
// LockIndex) or fails with ErrMoved and writes nothing. The session lives on and
// no lock-delay follows.
func (op *Operator) Release(ctx context.Context, t election.Target) error {
	a := election.OperatorAction{
		Kind: election.ActionRelease, Key: t.Key, Session: t.Session, CreateIndex: t.CreateIndex, LockIndex: t.LockIndex,
	}
	return op.act(a, func() error {
		return op.release(ctx, t)
	})
}

// release reads and unlocks. A holder that keeps writing its value moves the
// index between the two without giving up the hold, hence several tries.
func (op *Operator) release(ctx context.Context, t election.Target) error {
	var err error
	for range releaseTries {
		var pair *election.Pair
		if pair, err = op.client.held(ctx, t); err != nil {
			return err
		}
		if !t.SameHold(*pair) {
			return fail(ErrMoved, "%s is in another term by now; nothing was changed", t.Key)
		}
		if err = op.client.unlock(ctx, pair); !errors.Is(err, ErrMoved) {
			return err
		}
	}
	return err
}

// DestroySession ends a session and every hold of it. If t names a key, the
// session must still hold it (ErrMoved). That is looked at right before; Consul
// knows no conditional destroy.
func (op *Operator) DestroySession(ctx context.Context, t election.Target) (Destroyed, error) {
	var gone Destroyed
	err := op.act(election.OperatorAction{Kind: election.ActionDestroy, Session: t.Session}, func() error {
		if t.Key != "" {
			if _, err := op.client.held(ctx, t); err != nil {
				return err
			}
		}
		session, err := op.client.session(ctx, t.Session)
		if err != nil {
			return err
		}
		if _, err := op.client.api.Session().Destroy(t.Session, op.client.write(ctx)); err != nil {
			return op.client.unsure(err, "the session "+election.ShortID(t.Session)+" may be destroyed or not")
		}
		gone = Destroyed{Session: *session, LockDelay: session.EnforcedLockDelay()}
		return nil
	})
	return gone, err
}

// act does something and tells of it before and after.
func (op *Operator) act(a election.OperatorAction, do func() error) error {
	a.At, a.Stage = time.Now(), election.ActionStarted
	op.note(a)
	err := do()
	a.At, a.Stage = time.Now(), election.ActionDone
	if err != nil {
		a.Stage = election.ActionFailed
	}
	op.note(a)
	return err
}

// held reads the key of a target and makes sure that its session holds it.
func (c *Client) held(ctx context.Context, t election.Target) (*election.Pair, error) {
	if !election.Addressable(t.Key) {
		return nil, fail(nil, "%s is not UTF-8: Consul replaces such bytes, so that the key cannot be addressed and others look like it; "+
			"nothing was written", election.Line(t.Key, 100))
	}
	pair, err := c.readKey(ctx, t.Key)
	switch {
	case err != nil:
		return nil, err
	case pair == nil:
		return nil, fail(ErrMoved, "%s is gone; nothing was changed", t.Key)
	case !pair.Held():
		return nil, fail(ErrMoved, "nobody holds %s any more; nothing was changed", t.Key)
	case pair.Session != t.Session:
		return nil, fail(ErrMoved, "%s is held by another session by now (%s); nothing was changed",
			t.Key, election.ShortID(pair.Session))
	}
	return pair, nil
}

// unlock gives the key up exactly as it was read, or not at all.
func (c *Client) unlock(ctx context.Context, p *election.Pair) error {
	ok, answer, _, err := c.api.Txn().Txn(api.TxnOps{
		{KV: &api.KVTxnOp{Verb: api.KVCheckIndex, Key: p.Key, Index: p.ModifyIndex}},
		{KV: &api.KVTxnOp{Verb: api.KVCheckSession, Key: p.Key, Session: p.Session}},
		// Left out, value and flags would be wiped, and waiting api.Lock
		// candidates would fail for good.
		{KV: &api.KVTxnOp{Verb: api.KVUnlock, Key: p.Key, Session: p.Session, Value: p.Value, Flags: p.Flags}},
	}, (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return c.unsure(err, election.Line(p.Key, 100)+" may be released or not")
	}
	if ok {
		return nil
	}
	text := txnText(answer.Errors)
	if denial(text) {
		return fail(ErrDenied, "%s", c.redact(text))
	}
	return fail(ErrMoved, "%s moved on meanwhile (%s); nothing was changed", p.Key, c.redact(text))
}

// unsure says that a write got no answer, after which nobody knows whether it
// was carried out.
func (c *Client) unsure(err error, what string) error {
	err = c.wrap(err)
	if errors.Is(err, ErrUnreachable) || errors.Is(err, context.Canceled) {
		return &lineError{text: "no answer came, " + what + ": " + err.Error(), cause: err}
	}
	return err
}

// session reads one session, consistently.
func (c *Client) session(ctx context.Context, id string) (*election.Session, error) {
	entry, meta, err := c.api.Session().Info(id, c.consistent(ctx))
	switch {
	case err != nil:
		return nil, c.wrap(err)
	case entry == nil && c.filtered(meta):
		return nil, fail(ErrDenied, "session %s may not be read with this token, or does not exist", election.ShortID(id))
	case entry == nil:
		return nil, fail(ErrNoSession, "session %s does not exist", election.Line(id, 40))
	}
	return toSession(entry), nil
}
