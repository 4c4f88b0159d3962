package memconsul

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

const (
	behaviorRelease = "release"
	behaviorDelete  = "delete"

	minSessionTTL     = 10 * time.Second
	maxSessionTTL     = 24 * time.Hour
	sessionTTLFactor  = 2 // Consul expires a session after twice its TTL
	defaultLockDelay  = 15 * time.Second
	lockDelaySeconds  = 1000 // Consul reads a smaller number as seconds, not nanoseconds
	sessionTimerSpace = "session/"
)

// session is one session as the HTTP API shows it.
type session struct {
	ID            string
	Name          string
	Node          string
	LockDelay     time.Duration
	Behavior      string
	TTL           string
	NodeChecks    []string
	ServiceChecks []serviceCheckRef
	Checks        []string `json:",omitempty"`
	CreateIndex   uint64
	ModifyIndex   uint64
}

type serviceCheckRef struct {
	ID        string
	Namespace string
}

// UnmarshalJSON accepts a lock-delay as a duration string, in nanoseconds, or as a small number of seconds.
func (s *session) UnmarshalJSON(data []byte) error {
	type plain session
	aux := struct {
		LockDelay any
		*plain
	}{plain: (*plain)(s)}
	if err := json.Unmarshal(data, &aux); err != nil {
		return err
	}
	var delay time.Duration
	switch v := aux.LockDelay.(type) {
	case nil:
		return nil
	case string:
		d, err := time.ParseDuration(v)
		if err != nil {
			return err
		}
		delay = d
	case float64:
		delay = time.Duration(v)
	}
	if delay < lockDelaySeconds {
		delay *= time.Second //nolint:durationcheck // delay is a number of seconds here
	}
	s.LockDelay = delay
	return nil
}

// checkIDs returns the IDs of all checks that the session depends on.
func (s *session) checkIDs() []string {
	ids := append(slices.Clone(s.Checks), s.NodeChecks...)
	for _, ref := range s.ServiceChecks {
		ids = append(ids, ref.ID)
	}
	return ids
}

// ttl returns 0 for a session that never expires.
func (s *session) ttl() time.Duration {
	d, err := time.ParseDuration(s.TTL)
	if err != nil {
		return 0
	}
	return d
}

// settleChecks resolves the default checks. Checks is the older name of NodeChecks; both default to serfHealth, and the
// field that the client set takes precedence.
func (s *session) settleChecks() {
	switch {
	case len(s.Checks) == 0:
		s.NodeChecks = []string{}
	case len(s.Checks) == 1 && s.Checks[0] == serfHealth, len(s.NodeChecks) == 0:
		s.Checks = nil
	}
}

func (s *session) validate() error {
	if s.Node == "" {
		return refused("Must provide Node")
	}
	switch s.Behavior {
	case "":
		s.Behavior = behaviorRelease
	case behaviorRelease, behaviorDelete:
	default:
		return refused("Invalid Behavior setting '%s'", s.Behavior)
	}
	if s.TTL == "" {
		return nil
	}
	ttl, err := time.ParseDuration(s.TTL)
	if err != nil {
		return refused("Session TTL '%s' invalid: %v", s.TTL, err)
	}
	if ttl != 0 && (ttl < minSessionTTL || ttl > maxSessionTTL) {
		return refused("Invalid Session TTL '%d', must be between [%v=%v]", ttl, minSessionTTL, maxSessionTTL)
	}
	return nil
}

type sessionTable struct {
	byID  map[string]*session
	index uint64 // of the latest change
}

// selected returns the sessions that match, sorted by ID like Consul.
func (t *sessionTable) selected(match func(*session) bool) []*session {
	out := []*session{}
	for _, s := range t.byID {
		if match(s) {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b *session) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// createSession stores the session with a new ID. The caller must not change it afterwards.
func (s *store) createSession(sess *session) error {
	if err := sess.validate(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	index := s.nextIndex()
	if err := s.checkSessionChecks(sess); err != nil {
		return fmt.Errorf("apply failed: %w", err)
	}
	sess.ID = newUUID()
	sess.CreateIndex, sess.ModifyIndex = index, index
	s.sessions.byID[sess.ID] = sess
	s.sessionChanged(sess, index)
	s.armSession(sess)
	return nil
}

// checkSessionChecks rejects unknown and critical checks.
func (s *store) checkSessionChecks(sess *session) error {
	n := s.catalog.nodes[fold(sess.Node)]
	if n == nil {
		return refused("Missing node registration")
	}
	for _, id := range sess.checkIDs() {
		c := n.checks[fold(id)]
		if c == nil {
			return refused("Missing check '%s' registration", id)
		}
		if c.Status == statusCritical {
			return refused("Check '%s' is in %s state", id, c.Status)
		}
	}
	return nil
}

func (s *store) sessionChanged(sess *session, index uint64) {
	s.sessions.index = index
	s.notify(topicSession, sess.ID)
	s.notify(topicNodeSessions, fold(sess.Node))
	s.notify(topicSessions, "")
}

// armSession restarts the session's TTL.
func (s *store) armSession(sess *session) {
	if ttl := sess.ttl(); ttl > 0 {
		s.timers.set(sessionTimerSpace+sess.ID, sessionTTLFactor*ttl, func() { s.destroySession(sess.ID) })
	}
}

// renewSession restarts the session's TTL and returns the session, or nil if there is none. No index changes.
func (s *store) renewSession(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess := s.sessions.byID[id]
	if sess != nil {
		s.armSession(sess)
	}
	return sess
}

// destroySession ends a session, on request or on expiry. An unknown ID has no effect.
func (s *store) destroySession(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions.byID[id] == nil {
		return
	}
	s.invalidateSession(id, s.nextIndex())
}

// invalidateSession ends a session, releases or deletes its keys, and starts their lock-delays. The caller holds the
// mutex.
func (s *store) invalidateSession(id string, index uint64) {
	sess := s.sessions.byID[id]
	if sess == nil {
		return
	}
	delete(s.sessions.byID, id)
	s.timers.remove(sessionTimerSpace + id)
	s.sessionChanged(sess, index)

	tx := s.newKVTx(index)
	for _, key := range s.kv.heldBy(id) {
		if sess.Behavior == behaviorDelete {
			tx.remove(key)
		} else {
			freed := *tx.get(key)
			freed.Session = ""
			tx.write(&freed)
		}
		s.delays.arm(key, sess.LockDelay)
	}
	tx.commit()
}

// invalidateByCheck ends the sessions of a node that depend on the check. The caller holds the mutex.
func (s *store) invalidateByCheck(node, checkID string, index uint64) {
	for _, sess := range s.sessions.selected(func(sess *session) bool {
		return fold(sess.Node) == fold(node) &&
			slices.ContainsFunc(sess.checkIDs(), func(id string) bool { return fold(id) == fold(checkID) })
	}) {
		s.invalidateSession(sess.ID, index)
	}
}
