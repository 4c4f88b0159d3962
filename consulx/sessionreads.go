package consulx

import (
	"cmp"
	"context"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/election/sanitize"
)

// ManySessions is the maximum number of sessions that electop reads one by one. For a larger number, a list of all
// sessions is cheaper.
const ManySessions = 20

// Sessions lists every session of the datacenter. If some are not readable, it returns the readable ones and
// ErrIncomplete.
func (c *Client) Sessions(ctx context.Context) ([]*election.Session, error) {
	sessions, meta, err := c.ListSessions(c.Read(ctx))
	if err != nil {
		return nil, err
	}
	return sessions, c.JudgeSessions(sessions, meta)
}

// ListSessions reads every session (GET /v1/session/list).
func (c *Client) ListSessions(q *api.QueryOptions) (sessions []*election.Session, meta *api.QueryMeta, err error) {
	found := false
	meta, err = c.Get("/v1/session/list", url.Values{}, q, func(body io.Reader) error {
		found = true
		list := jsontext.NewDecoder(body, election.JSONOptions)
		var entry api.SessionEntry
		return decodeList(list, "sessions", func() error {
			entry = api.SessionEntry{}
			err := jsonv2.UnmarshalDecode(list, &entry, election.JSONOptions)
			sessions = append(sessions, c.sessionOf(&entry))
			return err
		})
	})
	if err == nil && !found {
		err = c.Wrap(NotConsul("it is not a list of sessions"))
	}
	if err != nil {
		return nil, nil, err
	}
	return sessions, meta, nil
}

// JudgeSessions returns an error if ACLs may have removed sessions from the list.
func (c *Client) JudgeSessions(sessions []*election.Session, meta *api.QueryMeta) error {
	switch {
	case len(sessions) == 0 && c.Filtered(meta):
		return Fail(ErrDenied, "sessions cannot be read with this token")
	case meta.ResultsFilteredByACLs:
		return incomplete("sessions")
	}
	return nil
}

// SessionsByID reads sessions. Their IDs have the spelling of ids: a key keeps the spelling with which it was acquired,
// and Consul accepts any. hidden is set if some sessions are not readable. If err is not nil, found may be incomplete.
func (c *Client) SessionsByID(ctx context.Context, ids []string) (found []*election.Session, hidden bool, err error) {
	if len(ids) > ManySessions {
		return c.pickSessions(ctx, ids)
	}
	type read struct {
		session *election.Session
		err     error
	}
	for _, r := range ReadEach(ids, func(id string) read {
		entry, meta, err := c.SessionInfo(id, c.Read(ctx))
		switch {
		case err == nil && entry != nil:
			entry.ID = id
			return read{session: c.sessionOf(entry)}
		case err == nil && c.Filtered(meta):
			return read{err: ErrDenied}
		}
		return read{err: err}
	}) {
		switch {
		case r.session != nil:
			found = append(found, r.session)
		case IsDenied(r.err):
			hidden = true
		default:
			err = cmp.Or(err, r.err)
		}
	}
	return found, hidden, err
}

// pickSessions selects sessions from the list of all sessions.
func (c *Client) pickSessions(ctx context.Context, ids []string) (found []*election.Session, hidden bool, err error) {
	all, meta, err := c.ListSessions(c.Read(ctx))
	switch {
	case IsDenied(err):
		return nil, true, nil
	case err != nil:
		return nil, false, err
	}
	known := election.ByID(all)
	for _, id := range ids {
		if s := known[strings.ToLower(id)]; s != nil {
			spelled := *s
			spelled.ID = id
			found = append(found, &spelled)
		}
	}
	return found, c.Filtered(meta), nil
}

// SessionInfo reads one session (GET /v1/session/info). It returns nil if the session does not exist or is not readable.
func (c *Client) SessionInfo(id string, q *api.QueryOptions) (*api.SessionEntry, *api.QueryMeta, error) {
	entry, meta, err := c.api.Session().Info(id, q)
	if err == nil && entry != nil && !strings.EqualFold(entry.ID, id) {
		err = NotConsul("it describes another session")
	}
	return entry, meta, c.Wrap(err)
}

// session reads one session in consistent mode.
func (c *Client) session(ctx context.Context, id string) (*election.Session, error) {
	entry, meta, err := c.SessionInfo(id, c.Consistent(ctx))
	switch {
	case err != nil:
		return nil, err
	case entry == nil && c.Filtered(meta):
		return nil, Fail(ErrDenied, "session %s cannot be read with this token, or does not exist", election.ShortID(id))
	case entry == nil:
		return nil, Fail(ErrNoSession, "session %s does not exist", sanitize.Line(id, 40))
	}
	return c.sessionOf(entry), nil
}

// IsSessionID reports whether text has the form of a session ID, a UUID.
func IsSessionID(text string) bool { return sessionID.MatchString(text) }

var sessionID = regexp.MustCompile(`^(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// sessionOf converts a session of Consul's API.
func (c *Client) sessionOf(e *api.SessionEntry) *election.Session {
	s := &election.Session{
		ID: e.ID, Name: e.Name, Node: e.Node, Datacenter: c.Datacenter(), Behavior: e.Behavior, LockDelay: e.LockDelay,
		CreateIndex: e.CreateIndex, NodeChecks: e.NodeChecks,
	}
	// An empty TTL means that the session has no TTL. ParseDuration accepts every other TTL that Consul accepts.
	s.TTL, _ = time.ParseDuration(e.TTL)
	for _, check := range e.ServiceChecks {
		s.ServiceChecks = append(s.ServiceChecks, check.ID)
	}
	// Clients older than Consul 1.7 set node checks in the field Checks.
	for _, id := range e.Checks {
		if !slices.Contains(s.NodeChecks, id) && !slices.Contains(s.ServiceChecks, id) {
			s.NodeChecks = append(s.NodeChecks, id)
		}
	}
	return s
}
