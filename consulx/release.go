package consulx

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/consul/api"
	"golang.org/x/sync/semaphore"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

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
	return &Operator{client: c.urgent, store: c.Consistently(), note: note, turn: semaphore.NewWeighted(1)}
}

// elsewhere returns an error if a target is not in the client's datacenter.
func (op *Operator) elsewhere(t election.Target) error {
	if own := op.client.Datacenter(); own != "" && t.Datacenter != "" && t.Datacenter != own {
		return Fail(ErrRefused, "the target is in datacenter %s, but this connection is to %s; nothing was written",
			sanitize.Line(t.Datacenter, 60), sanitize.Line(own, 60))
	}
	return nil
}

// ReleaseTries is the maximum number of attempts to release a key while the holder writes its value repeatedly.
const ReleaseTries = 5

// Release unlocks a key and keeps its value, flags and session; no lock-delay follows. It acts only on the hold of t
// (Session, CreateIndex, LockIndex); otherwise it fails with ErrMoved. It fails with ErrRefused for keys that electop
// never releases. After ErrUnknown, the write may have been applied.
func (op *Operator) Release(ctx context.Context, t election.Target) error {
	if err := op.elsewhere(t); err != nil {
		return err
	}
	a := election.OperatorAction{Kind: election.ActionRelease, Key: t.Key, Session: t.Session, CreateIndex: t.CreateIndex, LockIndex: t.LockIndex, Detail: t.Note}
	return a.Run(time.Now, op.note, func() error { return op.release(ctx, t) })
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

// release unlocks a key that was just read, in one transaction that checks the index and the session. It reads the key
// again, because a faulty proxy may answer a transaction that it does not forward.
func (c *Client) release(ctx context.Context, p *election.Pair) error {
	failed := func(err error) error {
		return c.unconfirmed(ctx, err, "the release", func(ctx context.Context) (string, error) { return c.keyNow(ctx, p.Key) })
	}
	if err := c.commit(ctx, p, c.unlockOps(p), failed); err != nil {
		return err
	}
	now, err := c.ReadKey(ctx, p.Key)
	if err != nil || now != nil && now.Session == p.Session && now.CreateIndex == p.CreateIndex && now.LockIndex == p.LockIndex &&
		(p.LockIndex > 0 || now.ModifyIndex == p.ModifyIndex) { // a write without the lock resets LockIndex
		return failed(errors.New("a read afterwards does not show it"))
	}
	return nil
}

// commit ends the hold of a key with a transaction. failed returns the error of a write that Consul may have applied. A
// value that is too large for a transaction is refused: the endpoint for single keys does not check the index, so that
// it could overwrite a concurrent write of the holder.
func (c *Client) commit(ctx context.Context, p *election.Pair, ops api.TxnOps, failed func(error) error) error {
	ok, answer, err := c.writeTxn(ctx, ops)
	var status api.StatusError
	switch {
	case errors.As(err, &status) && status.Code == http.StatusRequestEntityTooLarge:
		return Fail(ErrRefused, "cannot release %s: its value is too large for a transaction; nothing was written", sanitize.Line(p.Key, 100))
	case err != nil:
		return failed(err)
	case ok:
		return nil
	}
	return c.txnError(answer.Errors, ErrMoved, "lock state of %s changed (%s); nothing was written", p.Key)
}

func (c *Client) unlockOps(p *election.Pair) api.TxnOps {
	index, session, unlock := c.kvOp(api.KVCheckIndex, p.Key), c.kvOp(api.KVCheckSession, p.Key), c.kvOp(api.KVUnlock, p.Key)
	index.Index = p.ModifyIndex
	session.Session, unlock.Session = p.Session, p.Session
	// Without value and flags, the unlock would clear both. Waiting api.Lock candidates would then fail permanently.
	unlock.Value, unlock.Flags = p.Value, p.Flags
	return api.TxnOps{{KV: index}, {KV: session}, {KV: unlock}}
}

// GiveUp unlocks a key that was just read, or deletes it if the behavior is "delete". After an error other than ErrMoved
// and ErrRefused, the write may have been applied.
func (c *Client) GiveUp(ctx context.Context, p *election.Pair, behavior string) error {
	ops := c.unlockOps(p)
	if behavior == election.BehaviorDelete {
		session := c.kvOp(api.KVCheckSession, p.Key)
		session.Session = p.Session
		ops = api.TxnOps{{KV: session}, {KV: c.kvOp(api.KVDelete, p.Key)}}
	}
	return c.commit(ctx, p, ops, c.Wrap)
}

// refuse fails with ErrRefused if a release would be harmful: Patroni stores the leader's name in the key's value, and
// a release keeps the value. No option disables this check.
func (op *Operator) refuse(ctx context.Context, t election.Target) error {
	if t.Key[strings.LastIndexByte(t.Key, '/')+1:] != "leader" { // of every Patroni leader
		return nil
	}
	pair, err := op.client.held(ctx, t)
	if err != nil {
		return err
	}
	e := &election.Election{Exists: true, Pair: *pair}
	if e.Session, err = op.client.session(ctx, t.Session); err != nil && !IsDenied(err) && !errors.Is(err, ErrNoSession) {
		return err
	}
	if e.Session != nil && e.Session.Behavior != election.BehaviorDelete {
		return nil // Patroni's sessions have Behavior delete
	}
	around := &election.Surroundings{Key: t.Key}
	if refusal(e, nil) == "" {
		around.Siblings, _, err = op.client.Siblings(ctx, t.Key)
	}
	if text := refusal(e, around); text != "" {
		text = sanitize.Line(strings.TrimSuffix(text, ".")+"; nothing was written", sentenceLength)
		return &lineError{text: text, kind: ErrRefused}
	}
	// If not all siblings were read, only the session can identify Patroni.
	switch hidden := err != nil && !Unanswered(err); {
	case hidden && e.Session != nil:
		return nil
	case hidden:
		return Fail(ErrRefused, "electop does not release Patroni's keys, and it is unknown whether %s belongs to Patroni: the token lacks %s; "+
			"nothing was written", sanitize.Line(t.Key, 80), rightTo("read", "session", "").rule())
	}
	return err
}

// refusal returns the reason why electop does not release a key, or "" if electop releases it.
func refusal(e *election.Election, around *election.Surroundings) string {
	return insight.EffectOf(election.ActionRelease, e, around, -1).Refusal
}
