package consulx

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/election/sanitize"
)

const (
	// currentLimit bounds reading the state again after a write without a result.
	// Consul needs up to about 10 s to elect its own leader.
	currentLimit = 10 * time.Second
	// interruptedLimit is the same for a user who has stopped electop.
	interruptedLimit = 2 * time.Second
	currentRetry     = 250 * time.Millisecond
)

// unconfirmed turns the error of a write into one that says whether the write may
// have been applied (ErrUnknown), and then also what the state is now.
func (c *Client) unconfirmed(ctx context.Context, err error, what string, now func(context.Context) (string, error)) error {
	wrapped := c.wrap(err)
	if neverApplied(err) {
		return wrapped
	}
	limit := currentLimit
	if errors.Is(ctx.Err(), context.Canceled) {
		limit = interruptedLimit
	}
	// The write's own context may be over, which is then why there is no result.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	text := fmt.Sprintf("%s may have been applied (%s); %s", what, sanitize.Line(wrapped.Error(), errorLength/3), readAgain(ctx, now))
	return &lineError{text: sanitize.Line(text, errorLength), kind: ErrUnknown, cause: plainCause(err)}
}

// readAgain reads the state until Consul answers: what leaves a write without a
// result often makes reads fail for a few seconds too.
func readAgain(ctx context.Context, now func(context.Context) (string, error)) string {
	var last error
	for {
		text, err := now(ctx)
		switch {
		case err == nil:
			return text
		case last == nil || ctx.Err() == nil:
			last = err // the end of the context would say less
		}
		if sleep(ctx, currentRetry); ctx.Err() != nil || isDenied(err) {
			return "the current state could not be read: " + Describe(last)
		}
	}
}

// neverApplied reports an error after which the write certainly had no effect.
// What is not listed here is unknown.
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

// neverLogged reports errors that Consul and its Raft library give before the
// write becomes a log entry. "leadership lost while committing log" is none.
func neverLogged(body string) bool {
	text := strings.TrimSpace(strings.ReplaceAll(body, "rpc error making call: ", ""))
	switch strings.TrimPrefix(text, "raft apply failed: ") {
	case "No cluster leader", "No known Consul servers", "node is not the leader",
		"leadership transfer in progress", "timed out enqueuing operation":
		return true
	}
	return denial(text)
}

// neverSent reports errors that occur before a request is sent.
func neverSent(err error) bool {
	var (
		op      *net.OpError
		dns     *net.DNSError
		invalid *tls.CertificateVerificationError
		notTLS  tls.RecordHeaderError
	)
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns) || errors.As(err, &invalid) ||
		errors.As(err, &notTLS)
}

// keyNow says who holds a key now.
func (c *Client) keyNow(ctx context.Context, key string) (string, error) {
	pair, err := c.readKey(ctx, key)
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

// sessionNow says whether a session still exists, and who holds the key that it
// held.
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
