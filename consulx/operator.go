package consulx

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"

	"electop/election"
	"electop/election/sanitize"
)

// ReleaseTries is the maximum number of attempts to release a key while the holder writes its value repeatedly.
const ReleaseTries = 5

// Operator releases keys and destroys sessions, so that their leaders step down.
type Operator struct {
	client *Client
	store  *Client // the client for searches of the whole store
	note   func(election.OperatorAction)
	turn   *semaphore.Weighted // a mutex whose waiters have a timeout; it guards latest
	latest *foundKeys          // the latest search of the whole store
}

// NewOperator returns an operator. note, if not nil, receives every action twice: before it starts and when it has
// ended. See observe.Observer.Note.
func NewOperator(c *Client, note func(election.OperatorAction)) *Operator {
	if note == nil {
		note = func(election.OperatorAction) {}
	}
	return &Operator{client: c.urgent, store: c.Consistently(), note: note, turn: semaphore.NewWeighted(1)}
}

// Release unlocks a key and keeps its value, flags and session; no lock-delay follows. It acts only on the hold of t
// (Session, CreateIndex, LockIndex); otherwise it fails with ErrMoved. It fails with ErrRefused for keys that electop
// never releases. After ErrUnknown, the write may have been applied.
func (op *Operator) Release(ctx context.Context, t election.Target) error {
	if err := op.elsewhere(t); err != nil {
		return err
	}
	a := election.OperatorAction{Kind: election.ActionRelease, Key: t.Key, Session: t.Session, CreateIndex: t.CreateIndex, LockIndex: t.LockIndex}
	return op.act(a, func() error { return op.release(ctx, t) })
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
	if err != nil {
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
