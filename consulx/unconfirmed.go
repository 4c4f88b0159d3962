package consulx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/election/sanitize"
)

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
		// Consul or Raft returns these errors before it adds the write to the log. "leadership lost while committing log"
		// occurs after that.
		text := strings.TrimSpace(strings.ReplaceAll(status.Body, "rpc error making call: ", ""))
		switch strings.TrimPrefix(text, "raft apply failed: ") {
		case "No cluster leader", "No known Consul servers", "node is not the leader",
			"leadership transfer in progress", "timed out enqueuing operation":
			return true
		}
		return denial(text)
	}
	return false
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
