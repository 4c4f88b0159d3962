package memconsul

import "encoding/json"

func (a *Agent) serveSessionCreate(rq *request) (any, error) {
	sess := &session{
		Node:       a.cfg.NodeName,
		NodeChecks: []string{serfHealth},
		Checks:     []string{serfHealth},
		LockDelay:  defaultLockDelay,
		Behavior:   behaviorRelease,
	}
	if rq.r.ContentLength > 0 {
		// Unlike other endpoints, Consul ignores unknown fields here.
		if err := json.NewDecoder(rq.r.Body).Decode(sess); err != nil {
			return nil, badRequest("Request decode failed: %v", err)
		}
	}
	sess.settleChecks()
	if err := a.store.createSession(sess); err != nil {
		return nil, err
	}
	return struct{ ID string }{sess.ID}, nil
}

func missingSession() error { return badRequest("Missing session") }

func (a *Agent) serveSessionDestroy(rq *request) (any, error) {
	if rq.rest == "" {
		return nil, missingSession()
	}
	a.store.destroySession(rq.rest)
	return true, nil
}

func (a *Agent) serveSessionRenew(rq *request) (any, error) {
	if rq.rest == "" {
		return nil, missingSession()
	}
	sess := a.store.renewSession(rq.rest)
	if sess == nil {
		return nil, notFound("Session id '%s' not found", rq.rest)
	}
	return []*session{sess}, nil
}

func (a *Agent) serveSessionInfo(rq *request) (any, error) {
	id := rq.rest
	if id == "" {
		return nil, missingSession()
	}
	return a.querySessions(rq, topic{topicSession, id}, func(s *store) answer {
		sess := s.sessions.byID[id]
		if sess == nil {
			return answer{index: s.sessions.index, missing: true, body: []*session{}}
		}
		return answer{index: s.sessions.index, body: []*session{sess}}
	})
}

func (a *Agent) serveSessionNode(rq *request) (any, error) {
	node := fold(rq.rest)
	if node == "" {
		return nil, badRequest("Missing node name")
	}
	return a.querySessions(rq, topic{topicNodeSessions, node}, func(s *store) answer {
		own := s.sessions.selected(func(sess *session) bool { return fold(sess.Node) == node })
		return answer{index: s.sessions.index, body: own}
	})
}

func (a *Agent) serveSessionList(rq *request) (any, error) {
	return a.querySessions(rq, topic{topicSessions, ""}, func(s *store) answer {
		all := s.sessions.selected(func(*session) bool { return true })
		return answer{index: s.sessions.index, body: all}
	})
}

func (a *Agent) querySessions(rq *request, wake topic, read func(*store) answer) (any, error) {
	ans, ok := a.query(rq, wake, read)
	if !ok {
		return nil, nil
	}
	return ans.body, nil
}
