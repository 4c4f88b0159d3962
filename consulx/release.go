package consulx

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	json "github.com/go-json-experiment/json/v1"
	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/election/sanitize"
)

// ReleaseTries is the maximum number of attempts to release a key while the holder writes its value repeatedly.
const ReleaseTries = 5

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

// writeTxn runs a transaction that writes. Consul's library hides the HTTP status of a failed transaction, but the
// status shows whether the write may have been applied.
func (c *Client) writeTxn(ctx context.Context, ops api.TxnOps) (ok bool, answer api.TxnResponse, err error) {
	_, err = c.api.Raw().Write("/v1/txn", ops, &answer, c.Write(ctx))
	if err == nil && len(answer.Results) == 0 {
		return false, answer, NotConsul("it contains no result of the transaction") // Consul returns one result per operation
	}
	var status api.StatusError
	conflict := errors.As(err, &status) && status.Code == http.StatusConflict
	if conflict {
		err = json.Unmarshal([]byte(status.Body), &answer)
		if err == nil && len(answer.Errors) == 0 {
			err = NotConsul("it rejects the transaction without an error")
		}
	}
	if err == nil {
		err = checkTxn(&answer)
	}
	return err == nil && !conflict, answer, err
}

// txnError returns the error for a transaction that Consul rejected: ErrDenied, or kind with a message. Consul's text is the
// last argument of the message.
func (c *Client) txnError(all api.TxnErrors, kind error, format string, args ...any) error {
	text := c.Redact(txnText(all))
	if slices.ContainsFunc(all, func(e *api.TxnError) bool { return denial(e.What) }) {
		return Fail(ErrDenied, "%s", text)
	}
	return Fail(kind, format, append(args, text)...)
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

const (
	// currentLimit is the timeout for rereading the state after a write that Consul did not confirm. An election of
	// Consul's leader can take about 10 s.
	currentLimit = 10 * time.Second
	// interruptedLimit replaces currentLimit after the user has stopped electop.
	interruptedLimit = 5 * time.Second
	currentRetry     = 250 * time.Millisecond
)

// unconfirmed adds the current state to the error of a write. If the write may have been applied, it returns
// ErrUnknown.
func (c *Client) unconfirmed(ctx context.Context, err error, what string, now func(context.Context) (string, error)) error {
	wrapped := c.Wrap(err)
	if neverApplied(err) {
		return wrapped
	}
	limit := currentLimit
	if errors.Is(ctx.Err(), context.Canceled) {
		limit = interruptedLimit
	}
	// ctx may already have ended, so the reread needs another context.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	text := fmt.Sprintf("%s may have been applied (%s); %s", what, sanitize.Line(wrapped.Error(), errorLength/3), readAgain(ctx, now))
	return &lineError{text: sanitize.Line(text, errorLength), kind: ErrUnknown, cause: plainCause(err)}
}

// readAgain rereads the state until Consul responds. It retries, because reads often fail as long as writes fail.
func readAgain(ctx context.Context, now func(context.Context) (string, error)) string {
	var last error
	for {
		text, err := now(ctx)
		switch {
		case err == nil:
			return text
		case last == nil || ctx.Err() == nil:
			last = err // an error from Consul is more useful than the error of the context
		}
		if Sleep(ctx, currentRetry); ctx.Err() != nil || IsDenied(err) {
			return "the current state could not be read: " + Describe(last)
		}
	}
}

// neverApplied reports whether a failed write certainly had no effect.
func neverApplied(err error) bool {
	var status api.StatusError
	if !errors.As(err, &status) {
		return neverSent(err)
	}
	switch status.Code {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound,
		http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests,
		http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	case http.StatusInternalServerError:
		return neverLogged(status.Body)
	}
	return false
}

// neverLogged reports whether Consul or Raft returned the error before it added the write to the log. "leadership lost
// while committing log" occurs after Raft has added the write.
func neverLogged(body string) bool {
	text := strings.TrimSpace(strings.ReplaceAll(body, "rpc error making call: ", ""))
	switch strings.TrimPrefix(text, "raft apply failed: ") {
	case "No cluster leader", "No known Consul servers", "node is not the leader",
		"leadership transfer in progress", "timed out enqueuing operation":
		return true
	}
	return denial(text)
}

// keyNow describes the current holder of a key.
func (c *Client) keyNow(ctx context.Context, key string) (string, error) {
	pair, err := c.ReadKey(ctx, key)
	name := sanitize.Line(key, 80)
	switch {
	case err != nil:
		return "", err
	case pair == nil:
		return name + " does not exist now", nil
	case !pair.Held():
		return name + " is now unlocked", nil
	}
	return fmt.Sprintf("%s is now held by session %s", name, election.ShortID(pair.Session)), nil
}

// sessionNow describes the current state of a session and of the key that it held.
func (c *Client) sessionNow(ctx context.Context, t election.Target) (string, error) {
	text := "the session still exists"
	switch _, err := c.session(ctx, t.Session); {
	case errors.Is(err, ErrNoSession):
		text = "the session no longer exists"
	case err != nil:
		return "", err
	}
	if t.Key == "" {
		return text, nil
	}
	key, err := c.keyNow(ctx, t.Key)
	return text + "; " + key, err
}
