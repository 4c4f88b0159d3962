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
	// currentLimit bounds rereading the state after a write without a result. Consul needs
	// up to about 10 s to elect its leader.
	currentLimit = 10 * time.Second
	// interruptedLimit is the same after the user stopped electop.
	interruptedLimit = 2 * time.Second
	currentRetry     = 250 * time.Millisecond
)

// unconfirmed adds to the error of a write whether it may have been applied (ErrUnknown), and the current state.
func (c *Client) unconfirmed(ctx context.Context, err error, what string, now func(context.Context) (string, error)) error {
	wrapped := c.Wrap(err)
	if neverApplied(err) {
		return wrapped
	}
	limit := currentLimit
	if errors.Is(ctx.Err(), context.Canceled) {
		limit = interruptedLimit
	}
	// The end of the write's own context may be the reason for the missing result.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	text := fmt.Sprintf("%s may have been applied (%s); %s", what, sanitize.Line(wrapped.Error(), errorLength/3), readAgain(ctx, now))
	return &lineError{text: sanitize.Line(text, errorLength), kind: ErrUnknown, cause: plainCause(err)}
}

// readAgain retries until Consul responds: reads often fail as long as writes do.
func readAgain(ctx context.Context, now func(context.Context) (string, error)) string {
	var last error
	for {
		text, err := now(ctx)
		switch {
		case err == nil:
			return text
		case last == nil || ctx.Err() == nil:
			last = err // more specific than the end of the context
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

// neverLogged reports errors that Consul and Raft return before the write becomes a log entry. "leadership lost while
// committing log" is not one of them.
func neverLogged(body string) bool {
	text := strings.TrimSpace(strings.ReplaceAll(body, "rpc error making call: ", ""))
	switch strings.TrimPrefix(text, "raft apply failed: ") {
	case "No cluster leader", "No known Consul servers", "node is not the leader",
		"leadership transfer in progress", "timed out enqueuing operation":
		return true
	}
	return denial(text)
}

// keyNow describes the holder of a key.
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

// sessionNow describes a session and the key that it held.
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
