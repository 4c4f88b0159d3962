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
	all, err := c.allSessions(c.read(ctx), nil)
	if errors.Is(err, errPartly) {
		return all, fail(ErrIncomplete, "may be incomplete: this token may not read all sessions")
	}
	return all, err
}

// allSessions lists every session of the datacenter. known gives those that were
// read before; nil knows none. errPartly comes with what could be read.
func (c *Client) allSessions(q *api.QueryOptions, known func(id []byte) *election.Session) ([]*election.Session, error) {
	sessions, meta, err := c.listSessions(q, known)
	if err != nil {
		return nil, err
	}
	return sessions, c.judgeSessions(sessions, meta)
}

// listSessions reads every session (GET /v1/session/list).
func (c *Client) listSessions(q *api.QueryOptions, known func(id []byte) *election.Session) ([]*election.Session, *api.QueryMeta, error) {
	t := &tap{}
	_, meta, err := c.api.Session().List(q.WithContext(tapped(q.Context(), t)))
	if err != nil {
		return nil, nil, c.wrap(err)
	}
	r := sessionReader{known: known}
	_, err = c.buffers.with(t, r.read)
	return r.got, meta, c.wrap(err)
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
