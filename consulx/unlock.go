package consulx

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/hashicorp/consul/api"

	"electop/consulx/internal/transport"
	"electop/election"
	"electop/election/sanitize"
)

// release unlocks a key that was just read, in one transaction that checks the index and the session.
func (c *Client) release(ctx context.Context, p *election.Pair) error {
	return c.commit(ctx, p, c.unlockOps(p), func(err error) error {
		return c.unconfirmed(ctx, err, "the release", func(ctx context.Context) (string, error) { return c.keyNow(ctx, p.Key) })
	})
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
	case ok && ops[len(ops)-1].KV.Verb == api.KVUnlock && !unlocked(p, answer.Results):
		return failed(transport.NotConsul("it does not contain the unlocked key"))
	case ok:
		return nil
	}
	return c.txnError(p.Key, answer.Errors)
}

// unlocked reports whether the results of a transaction end with the key without a session, written after p.
func unlocked(p *election.Pair, results api.TxnResults) bool {
	now := results[len(results)-1].KV
	return now != nil && now.Key == p.Key && now.Session == "" && now.ModifyIndex > p.ModifyIndex
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
	conflict := errors.As(err, &status) && status.Code == http.StatusConflict
	if conflict {
		err = json.Unmarshal([]byte(status.Body), &answer)
	}
	if err == nil {
		err = checkTxn(&answer)
	}
	return err == nil && !conflict, answer, err
}

// txnError returns the error for a transaction that Consul rejected.
func (c *Client) txnError(key string, all api.TxnErrors) error {
	text := c.Redact(txnText(all))
	if txnDenial(all) {
		return Fail(ErrDenied, "%s", text)
	}
	return Fail(ErrMoved, "lock state of %s changed (%s); nothing was written", key, text)
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
