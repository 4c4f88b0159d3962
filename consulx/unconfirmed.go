package consulx

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx/internal/transport"
	"electop/election"
	"electop/election/sanitize"
)

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
		select {
		case <-ctx.Done():
		case <-time.After(currentRetry):
		}
		if ctx.Err() != nil || IsDenied(err) {
			return "the current state could not be read: " + Describe(last)
		}
	}
}

// neverApplied reports whether a failed write certainly had no effect.
func neverApplied(err error) bool {
	var status api.StatusError
	if !errors.As(err, &status) {
		return transport.NeverSent(err)
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
