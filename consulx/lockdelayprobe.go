package consulx

import (
	"context"
	"strings"

	"github.com/hashicorp/consul/api"

	"electop/election/insight"
)

// NoSession is a session ID that never exists.
const NoSession = "00000000-0000-0000-0000-000000000000"

// ProbeResult is the result of [ProbeLockDelay].
type ProbeResult struct {
	State insight.LockState `json:"state"`
	// Exists is set if the key exists. A deleted key can have a lock-delay too.
	Exists bool `json:"exists"`
	// Session is the ID of the session that holds the key. It is empty unless State is insight.LockHeld.
	Session string `json:"session,omitempty"`
}

// ProbeLockDelay reports whether a lock-delay is active. Reads do not show a lock-delay, so the probe tries to acquire
// the key with a nonexistent session. Consul rejects the acquire, with a different error during a lock-delay, and
// writes nothing. The token needs write permission on the key.
func ProbeLockDelay(ctx context.Context, c *Client, key string) (ProbeResult, error) {
	delayed, err := c.probeLock(ctx, key)
	if err != nil {
		return ProbeResult{}, err
	}
	// For a held key, Consul returns the same error as for a free key.
	pair, err := c.ReadKey(ctx, key)
	if err != nil {
		return ProbeResult{}, err
	}
	found := ProbeResult{State: insight.LockFree, Exists: pair != nil}
	switch {
	case pair != nil && pair.Held():
		found.State, found.Session = insight.LockHeld, pair.Session
	case delayed:
		found.State = insight.LockDelayed
	}
	return found, nil
}

// probeLock sends the acquire and parses the error.
func (c *Client) probeLock(ctx context.Context, key string) (delayed bool, err error) {
	lock := c.kvOp(api.KVLock, key)
	lock.Session = NoSession
	ok, answer, err := c.writeTxn(ctx, api.TxnOps{{KV: lock}})
	if err != nil {
		return false, c.Wrap(err)
	}
	if ok {
		return false, Fail(nil, "Consul locked %s for a session that cannot exist", key)
	}
	switch text := txnText(answer.Errors); {
	case strings.HasSuffix(text, "due to lock delay"):
		return true, nil
	case strings.HasPrefix(text, "invalid session"):
		return false, nil
	default:
		return false, c.txnError(answer.Errors, nil, "Consul answered a probe of %s with: %s", key)
	}
}
