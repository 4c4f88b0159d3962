package consulx

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/election/sanitize"
)

// ReleaseTries is the maximum number of attempts to release a key while the holder writes its value repeatedly.
const ReleaseTries = 5

// Operator releases keys and destroys sessions, so that their leaders step down.
type Operator struct {
	client *Client
	note   func(election.OperatorAction)
	search storeSearch
}

// NewOperator returns an operator. note, if not nil, receives every action twice: before it starts and when it has
// ended. See observe.Observer.Note.
func NewOperator(c *Client, note func(election.OperatorAction)) *Operator {
	if note == nil {
		note = func(election.OperatorAction) {}
	}
	return &Operator{client: c.urgent, note: note, search: newStoreSearch(c)}
}

// Release unlocks a key and keeps its value, flags and session; no lock-delay follows. It acts only on the hold of t
// (Session, CreateIndex, LockIndex); otherwise it fails with ErrMoved. It fails with ErrRefused for keys that electop
// never releases. After ErrUnknown, the write may have been applied.
func (op *Operator) Release(ctx context.Context, t election.Target) error {
	return op.releaseSeen(ctx, t, nil)
}

// ReleaseObserved is like Release, but needs only one request if the key has not changed since it was observed. If
// Patroni may have created the session, ReleaseObserved reads the key first.
func (op *Operator) ReleaseObserved(ctx context.Context, e *election.Election) error {
	if e.Unaddressable || e.Session == nil || e.Session.Behavior == election.BehaviorDelete {
		return op.Release(ctx, e.Target())
	}
	return op.releaseSeen(ctx, e.Target(), &e.Pair)
}

func (op *Operator) releaseSeen(ctx context.Context, t election.Target, seen *election.Pair) error {
	if err := op.elsewhere(t); err != nil {
		return err
	}
	a := election.OperatorAction{Kind: election.ActionRelease, Key: t.Key, Session: t.Session, CreateIndex: t.CreateIndex, LockIndex: t.LockIndex}
	return op.act(a, func() error {
		if seen != nil {
			if err := op.client.release(ctx, seen); !errors.Is(err, ErrMoved) {
				return err
			}
		}
		return op.release(ctx, t)
	})
}

// release reads and unlocks the key. It retries, because a write by the holder changes the index but not the lock.
func (op *Operator) release(ctx context.Context, t election.Target) error {
	if err := op.refuse(ctx, t); err != nil {
		return err
	}
	var err error
	for range ReleaseTries {
		pair, readErr := op.client.held(ctx, t)
		switch {
		case readErr != nil:
			return readErr
		case !t.SameHold(*pair):
			return Fail(ErrMoved, "%s is held in another term; nothing was written", t.Key)
		}
		if err = op.client.release(ctx, pair); !errors.Is(err, ErrMoved) {
			return err
		}
	}
	return err
}

// elsewhere returns an error if a target is not in the client's datacenter.
func (op *Operator) elsewhere(t election.Target) error {
	if own := op.client.datacenter; own != "" && t.Datacenter != "" && t.Datacenter != own {
		return Fail(ErrRefused, "the target is in datacenter %s, but this connection is to %s; nothing was written",
			sanitize.Line(t.Datacenter, 60), sanitize.Line(own, 60))
	}
	return nil
}

// act runs an action. It calls note before and after the action.
func (op *Operator) act(a election.OperatorAction, do func() error) error {
	a.At, a.Stage = time.Now(), election.ActionStarted
	op.note(a)
	err := do()
	a.At, a.Stage = time.Now(), election.ActionDone
	if errors.Is(err, ErrUnknown) {
		a.Stage = election.ActionUnconfirmed
	} else if err != nil {
		a.Stage = election.ActionFailed
	}
	op.note(a)
	return err
}

// addressable returns an error for a key that is not UTF-8.
func addressable(key string) error {
	if election.Addressable(key) {
		return nil
	}
	return Fail(ErrRefused, "%s is not UTF-8: Consul replaces its invalid bytes, so the key cannot be addressed and other keys may look the same; "+
		"nothing was written", sanitize.Line(key, 100))
}

// held reads the key of a target and checks that its session holds the key.
func (c *Client) held(ctx context.Context, t election.Target) (*election.Pair, error) {
	if err := addressable(t.Key); err != nil {
		return nil, err
	}
	pair, err := c.ReadKey(ctx, t.Key)
	switch {
	case err != nil:
		return nil, err
	case pair == nil:
		return nil, Fail(ErrMoved, "%s does not exist; nothing was written", t.Key)
	case !pair.Held():
		return nil, Fail(ErrMoved, "%s is no longer held; nothing was written", t.Key)
	case !pair.HeldBy(t.Session):
		return nil, Fail(ErrMoved, "%s is now held by another session (%s); nothing was written",
			t.Key, election.ShortID(pair.Session))
	}
	return pair, nil
}

// SetFlags changes the flags of a key that no session holds, and keeps its value. If the key has changed since p was
// read, or is held, it writes nothing and returns ErrMoved. A write to a held key would set its LockIndex to 0.
func (op *Operator) SetFlags(ctx context.Context, p election.Pair, flags uint64) error {
	set := op.client.kvOp(api.KVCAS, p.Key)
	set.Index, set.Value, set.Flags = p.ModifyIndex, p.Value, flags
	return op.client.repair(ctx, p, set)
}

// DeleteFree deletes a key that no session holds. If the key has changed since p was read, it writes nothing and
// returns ErrMoved.
func (op *Operator) DeleteFree(ctx context.Context, p election.Pair) error {
	remove := op.client.kvOp(api.KVDeleteCAS, p.Key)
	remove.Index = p.ModifyIndex
	return op.client.repair(ctx, p, remove)
}

// repair writes a key that no session holds. The transaction checks the index, so that it fails if p is outdated.
func (c *Client) repair(ctx context.Context, p election.Pair, write *api.KVTxnOp) error {
	switch {
	case !election.Addressable(p.Key):
		return Fail(ErrRefused, "%s is not UTF-8, so it cannot be addressed; nothing was written", sanitize.Line(p.Key, 100))
	case p.Held():
		return Fail(ErrMoved, "%s is held; nothing was written", p.Key)
	case p.ModifyIndex == 0: // in a check-and-set, index 0 means that the key must not exist
		return Fail(ErrMoved, "%s does not exist; nothing was written", p.Key)
	}
	index := c.kvOp(api.KVCheckIndex, p.Key)
	index.Index = p.ModifyIndex
	ok, answer, err := c.writeTxn(ctx, api.TxnOps{{KV: index}, {KV: write}})
	switch {
	case tooLarge(err):
		return Fail(ErrRefused, "the value of %s is too large for a transaction; nothing was written", sanitize.Line(p.Key, 100))
	case err != nil:
		return c.unconfirmed(ctx, err, "the write", func(ctx context.Context) (string, error) { return c.keyNow(ctx, p.Key) })
	case ok:
		return nil
	}
	return c.txnError(p.Key, answer.Errors)
}
