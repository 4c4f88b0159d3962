package consulx

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx/internal/transport"
	"electop/consulx/internal/wire"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

// changeWait is the maximum time for which a release waits for its own change.
const changeWait = 5 * time.Second

// Released describes how a key was unlocked.
type Released struct {
	// Unconditional is set if the value was too large for a transaction. In this case, the release checked the
	// session, but not the index.
	Unconditional bool
	// LostWrite is set if the holder wrote its value after electop had read the key, and the release restored the
	// older value.
	LostWrite bool
}

// Note returns the warning about a release, in one line, or "" if there is no warning.
func (r Released) Note() string {
	switch {
	case r.LostWrite:
		return "the holder wrote the key concurrently; the release replaced the new value with the previous one"
	case r.Unconditional:
		return "the value is too large for a transaction: the release checked the session, but not the index"
	}
	return ""
}

// unlock is like release, but returns only the error.
func (c *Client) unlock(ctx context.Context, p *election.Pair) error {
	_, err := c.release(ctx, p)
	return err
}

// release unlocks a key that was just read. It uses a transaction, or [Client.releaseLarge] if the value is larger than
// about 390 KB.
func (c *Client) release(ctx context.Context, p *election.Pair) (Released, error) {
	ops := c.unlockOps(p)
	if body, err := json.Marshal(ops); err != nil || len(body) >= insight.TxnBodyLimit {
		return c.releaseLarge(ctx, p)
	}
	ok, answer, err := c.writeTxn(ctx, ops)
	switch {
	case tooLarge(err): // the agent's limit for transactions is below the default
		return c.releaseLarge(ctx, p)
	case err != nil:
		return Released{}, c.UnconfirmedRelease(ctx, p, err)
	case ok:
		return Released{}, nil
	}
	return Released{}, c.txnError(p.Key, answer.Errors)
}

func (c *Client) unlockOps(p *election.Pair) api.TxnOps {
	index, session, unlock := c.kvOp(api.KVCheckIndex, p.Key), c.kvOp(api.KVCheckSession, p.Key), c.kvOp(api.KVUnlock, p.Key)
	index.Index = p.ModifyIndex
	session.Session, unlock.Session = p.Session, p.Session
	// Without value and flags, the unlock would clear both. Waiting api.Lock candidates would then fail permanently.
	unlock.Value, unlock.Flags = p.Value, p.Flags
	return api.TxnOps{{KV: index}, {KV: session}, {KV: unlock}}
}

// writeTxn runs a transaction that writes. Consul's library hides the HTTP status of a failed transaction, but the
// status shows whether the write may have been applied.
func (c *Client) writeTxn(ctx context.Context, ops api.TxnOps) (ok bool, answer api.TxnResponse, err error) {
	_, err = c.api.Raw().Write("/v1/txn", ops, &answer, c.Write(ctx))
	if err == nil && len(answer.Results) == 0 {
		return false, answer, transport.NotConsul("it contains no result of the transaction") // Consul returns one result per operation
	}
	var status api.StatusError
	if errors.As(err, &status) && status.Code == http.StatusConflict {
		return false, answer, json.Unmarshal([]byte(status.Body), &answer)
	}
	return err == nil, answer, err
}

// txnError returns the error for a transaction that Consul rejected.
func (c *Client) txnError(key string, all api.TxnErrors) error {
	text := c.Redact(txnText(all))
	if txnDenial(all) {
		return Fail(ErrDenied, "%s", text)
	}
	return Fail(ErrMoved, "lock state of %s changed (%s); nothing was written", key, text)
}

func tooLarge(err error) bool {
	var status api.StatusError
	return errors.As(err, &status) && status.Code == http.StatusRequestEntityTooLarge
}

// releaseLarge unlocks a key whose value is too large for a transaction. The single-key endpoint checks the session,
// but not the index. Therefore the release overwrites a concurrent write by the holder.
func (c *Client) releaseLarge(ctx context.Context, p *election.Pair) (Released, error) {
	if !wire.Literal(p.Key) {
		return Released{}, Fail(ErrRefused, "cannot release %s: its value is too large for a transaction, and "+
			"a URL cannot contain this key; nothing was written", sanitize.Line(p.Key, 100))
	}
	change := c.firstChange(ctx, p)
	defer change.stop()
	ok, _, err := c.api.KV().Release(&api.KVPair{Key: p.Key, Session: p.Session, Value: p.Value, Flags: p.Flags}, c.Write(ctx))
	switch {
	case err != nil:
		return Released{}, c.UnconfirmedRelease(ctx, p, err)
	case !ok:
		return Released{}, Fail(ErrMoved, "%s is no longer held by session %s; nothing was written", p.Key, election.ShortID(p.Session))
	}
	return Released{Unconditional: true, LostWrite: overwrites(p, change.wait())}, nil
}

// overwrites reports whether the first change after a read is a write by the holder. Blocking queries merge writes that
// are less than a millisecond apart, so false does not exclude such a write.
func overwrites(read, next *election.Pair) bool {
	return next != nil && next.ModifyIndex != read.ModifyIndex && next.CreateIndex == read.CreateIndex &&
		next.Session == read.Session && next.LockIndex <= read.LockIndex
}

// UnconfirmedRelease returns the error of a release that Consul did not confirm. The error contains the current state.
func (c *Client) UnconfirmedRelease(ctx context.Context, p *election.Pair, err error) error {
	return c.unconfirmed(ctx, err, "the release", func(ctx context.Context) (string, error) { return c.keyNow(ctx, p.Key) })
}

// keyChange is a blocking query for the first change to a key.
type keyChange struct {
	cancel context.CancelFunc
	done   chan struct{}
	pair   *election.Pair // nil if the key does not exist, or if the query failed
}

// firstChange starts the query and returns when the request has been sent.
func (c *Client) firstChange(ctx context.Context, p *election.Pair) *keyChange {
	ctx, cancel := context.WithTimeout(ctx, changeWait)
	k := &keyChange{cancel: cancel, done: make(chan struct{})}
	sent := make(chan struct{})
	once := sync.OnceFunc(func() { close(sent) })
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { once() }})
	go func() {
		defer close(k.done)
		q := c.Consistent(ctx)
		q.WaitIndex, q.WaitTime = p.ModifyIndex, changeWait
		// If the query fails, the release remains successful, because Consul confirmed it.
		if pair, _, err := c.api.KV().Get(p.Key, q); err == nil && pair != nil {
			next := wire.Pair(pair)
			k.pair = &next
		}
	}()
	select {
	case <-sent:
	case <-k.done:
	}
	return k
}

func (k *keyChange) wait() *election.Pair {
	<-k.done
	return k.pair
}

func (k *keyChange) stop() {
	k.cancel()
	<-k.done
}

// UnknownResult returns the error of a write that Consul did not confirm.
type UnknownResult func(ctx context.Context, p *election.Pair, err error) error

// GiveUp unlocks a key that was just read, or deletes it if the behavior is "delete".
func (c *Client) GiveUp(ctx context.Context, p *election.Pair, behavior string, unknown UnknownResult) error {
	ops := c.unlockOps(p)
	if behavior == election.BehaviorDelete {
		session := c.kvOp(api.KVCheckSession, p.Key)
		session.Session = p.Session
		ops = api.TxnOps{{KV: session}, {KV: c.kvOp(api.KVDelete, p.Key)}}
	}
	ok, answer, err := c.writeTxn(ctx, ops)
	switch {
	case tooLarge(err):
		return c.unlock(ctx, p)
	case err != nil:
		return unknown(ctx, p, err)
	case ok:
		return nil
	}
	return c.txnError(p.Key, answer.Errors)
}
