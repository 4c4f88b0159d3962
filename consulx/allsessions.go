package consulx

import (
	"context"
	"errors"

	"electop/election"
)

// Sessions reads every session of the datacenter once. Where the token may not
// read all of them, the error is ErrIncomplete and comes with the others;
// ErrDenied says that it may read none.
func Sessions(ctx context.Context, c *Client) ([]*election.Session, error) {
	all, err := c.allSessions(c.read(ctx))
	if errors.Is(err, errPartly) {
		return all, fail(ErrIncomplete, "may be incomplete: this token may not read all sessions")
	}
	return all, err
}
