package memconsul

import (
	"encoding/json"

	"electop/internal/memconsul/store"
)

func (a *Agent) serveSessionCreate(rq *request) (any, error) {
	sess := &store.Session{
		Node:       a.cfg.NodeName,
		NodeChecks: []string{store.SerfHealth},
		Checks:     []string{store.SerfHealth},
		LockDelay:  store.DefaultLockDelay,
		Behavior:   store.BehaviorRelease,
	}
	if rq.r.ContentLength > 0 {
		// For this endpoint, Consul ignores unknown fields.
		if err := json.NewDecoder(rq.r.Body).Decode(sess); err != nil {
			return nil, badRequest("Request decode failed: %v", err)
		}
	}
	sess.SettleChecks()
	if err := a.store.CreateSession(sess); err != nil {
		return nil, err
	}
	return struct{ ID string }{sess.ID}, nil
}

func missingSession() error { return badRequest("Missing session") }

func (a *Agent) serveSessionDestroy(rq *request) (any, error) {
	if rq.rest == "" {
		return nil, missingSession()
	}
	a.store.DestroySession(rq.rest)
	return true, nil
}

func (a *Agent) serveSessionRenew(rq *request) (any, error) {
	if rq.rest == "" {
		return nil, missingSession()
	}
	sess := a.store.RenewSession(rq.rest)
	if sess == nil {
		return nil, notFound("Session id '%s' not found", rq.rest)
	}
	return []*store.Session{sess}, nil
}

func (a *Agent) serveSessionInfo(rq *request) (any, error) {
	id := rq.rest
	if id == "" {
		return nil, missingSession()
	}
	return plainQuery(rq, a.store.Session(id))
}

func (a *Agent) serveSessionNode(rq *request) (any, error) {
	if rq.rest == "" {
		return nil, badRequest("Missing node name")
	}
	return plainQuery(rq, a.store.NodeSessions(rq.rest))
}

func (a *Agent) serveSessionList(rq *request) (any, error) {
	return plainQuery(rq, a.store.Sessions())
}
