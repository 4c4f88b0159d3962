package consulx

import (
	"context"
	"errors"

	"github.com/hashicorp/consul/api"

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

// allSessions lists every session of the datacenter. errPartly comes with what
// could be read.
func (c *Client) allSessions(q *api.QueryOptions) ([]*election.Session, error) {
	sessions, meta, err := c.listSessions(q)
	if err != nil {
		return nil, err
	}
	return sessions, c.judgeSessions(sessions, meta)
}

// listSessions reads every session (GET /v1/session/list).
func (c *Client) listSessions(q *api.QueryOptions) ([]*election.Session, *api.QueryMeta, error) {
	entries, meta, err := c.api.Session().List(q)
	if err != nil {
		return nil, nil, c.wrap(err)
	}
	sessions := make([]*election.Session, len(entries))
	for i, entry := range entries {
		sessions[i] = toSession(entry)
	}
	return sessions, meta, nil
}

// judgeSessions tells whether a list of sessions is all that there are.
func (c *Client) judgeSessions(sessions []*election.Session, meta *api.QueryMeta) error {
	switch {
	case len(sessions) == 0 && c.filtered(meta):
		return fail(ErrDenied, "sessions may not be read with this token")
	case meta.ResultsFilteredByACLs:
		return errPartly
	}
	return nil
}
