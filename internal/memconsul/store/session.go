package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// The values of Session.Behavior: what Consul does with a key when the session that holds it ends.
const (
	BehaviorRelease = "release"
	BehaviorDelete  = "delete"
)

// DefaultLockDelay is the lock-delay of a session that is created without a lock-delay.
const DefaultLockDelay = 15 * time.Second

const (
	minSessionTTL     = 10 * time.Second
	maxSessionTTL     = 24 * time.Hour
	sessionTTLFactor  = 2    // a session expires after twice its TTL
	lockDelaySeconds  = 1000 // a smaller number is in seconds, not nanoseconds
	sessionTimerSpace = "session/"
)

// Session is one session in the form of the HTTP API.
type Session struct {
	ID            string
	Name          string
	Node          string
	LockDelay     time.Duration
	Behavior      string
	TTL           string
	NodeChecks    []string
	ServiceChecks []ServiceCheckRef
	Checks        []string `json:",omitempty"`
	CreateIndex   uint64
	ModifyIndex   uint64
}

// ServiceCheckRef refers to a check of a service.
type ServiceCheckRef struct {
	ID        string
	Namespace string
}

// UnmarshalJSON accepts a lock-delay as a duration string, as nanoseconds, or as a small number of seconds.
func (s *Session) UnmarshalJSON(data []byte) error {
	type plain Session
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
func (s *Session) checkIDs() []string {
	ids := append(slices.Clone(s.Checks), s.NodeChecks...)
	for _, ref := range s.ServiceChecks {
		ids = append(ids, ref.ID)
	}
	return ids
}

// ttl returns the TTL, or 0 for a session that never expires.
func (s *Session) ttl() time.Duration {
	d, err := time.ParseDuration(s.TTL)
	if err != nil {
		return 0
	}
	return d
}

// SettleChecks sets the node checks of the session. Checks is the older name of NodeChecks. If the client set neither,
// the session depends on the check SerfHealth. If the client set only one, SettleChecks uses that one.
func (s *Session) SettleChecks() {
	switch {
	case len(s.Checks) == 0:
		s.NodeChecks = []string{}
	case len(s.Checks) == 1 && s.Checks[0] == SerfHealth, len(s.NodeChecks) == 0:
		s.Checks = nil
	}
}

func (s *Session) validate() error {
	if s.Node == "" {
		return refused("Must provide Node")
	}
	switch s.Behavior {
	case "":
		s.Behavior = BehaviorRelease
	case BehaviorRelease, BehaviorDelete:
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
	byID  map[string]*Session
	index uint64 // index of the latest change
}

// selected returns the sessions that match, sorted by ID like Consul.
func (t *sessionTable) selected(match func(*Session) bool) []*Session {
	out := []*Session{}
	for _, s := range t.byID {
		if match(s) {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b *Session) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// CreateSession stores the session with a new ID. The caller must not modify the session afterwards.
func (s *Store) CreateSession(sess *Session) error {
	if err := sess.validate(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	index := s.nextIndex()
	if err := s.checkSessionChecks(sess); err != nil {
		return fmt.Errorf("apply failed: %w", err)
	}
	sess.ID = NewUUID()
	sess.CreateIndex, sess.ModifyIndex = index, index
	s.sessions.byID[sess.ID] = sess
	s.sessionChanged(sess, index)
	s.armSession(sess)
	return nil
}

// checkSessionChecks returns an error if a check of the session does not exist or is critical.
func (s *Store) checkSessionChecks(sess *Session) error {
	n := s.catalog.nodes[Fold(sess.Node)]
	if n == nil {
		return refused("Missing node registration")
	}
	for _, id := range sess.checkIDs() {
		c := n.checks[Fold(id)]
		if c == nil {
			return refused("Missing check '%s' registration", id)
		}
		if c.Status == StatusCritical {
			return refused("Check '%s' is in %s state", id, c.Status)
		}
	}
	return nil
}

func (s *Store) sessionChanged(sess *Session, index uint64) {
	s.sessions.index = index
	s.notify(topicSession, sess.ID)
	s.notify(topicNodeSessions, Fold(sess.Node))
	s.notify(topicSessions, "")
}

// armSession restarts the TTL of the session.
func (s *Store) armSession(sess *Session) {
	if ttl := sess.ttl(); ttl > 0 {
		s.Timers.Set(sessionTimerSpace+sess.ID, sessionTTLFactor*ttl, func() { s.DestroySession(sess.ID) })
	}
}

// RenewSession restarts the TTL of a session and returns the session, or nil if it does not exist. A renewal changes no
// index.
func (s *Store) RenewSession(id string) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess := s.sessions.byID[Fold(id)]
	if sess != nil {
		s.armSession(sess)
	}
	return sess
}

// DestroySession ends a session at a client's request or because the session has expired. It ignores an unknown ID.
func (s *Store) DestroySession(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions.byID[Fold(id)] == nil {
		return
	}
	s.invalidateSession(Fold(id), s.nextIndex())
}

// invalidateSession ends a session, releases or deletes its keys, and starts their lock-delays. The caller holds the
// mutex.
func (s *Store) invalidateSession(id string, index uint64) {
	sess := s.sessions.byID[Fold(id)]
	if sess == nil {
		return
	}
	delete(s.sessions.byID, id)
	s.Timers.Remove(sessionTimerSpace + id)
	s.sessionChanged(sess, index)

	tx := s.newKVTx(index)
	for _, key := range s.kv.heldBy(id) {
		if sess.Behavior == BehaviorDelete {
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
func (s *Store) invalidateByCheck(node, checkID string, index uint64) {
	for _, sess := range s.sessions.selected(func(sess *Session) bool {
		return Fold(sess.Node) == Fold(node) &&
			slices.ContainsFunc(sess.checkIDs(), func(id string) bool { return Fold(id) == Fold(checkID) })
	}) {
		s.invalidateSession(sess.ID, index)
	}
}

// Session returns a query for one session. The body is empty if the session does not exist.
func (s *Store) Session(id string) Query[[]*Session] {
	return Query[[]*Session]{s, topic{topicSession, id}, func(s *Store) Result[[]*Session] {
		sess := s.sessions.byID[Fold(id)]
		if sess == nil {
			return Result[[]*Session]{Index: s.sessions.index, missing: true, Body: []*Session{}}
		}
		return Result[[]*Session]{Index: s.sessions.index, Body: []*Session{sess}}
	}}
}

// NodeSessions returns a query for the sessions of one node, sorted by ID.
func (s *Store) NodeSessions(node string) Query[[]*Session] {
	node = Fold(node)
	return s.sessionsWhere(topic{topicNodeSessions, node}, func(sess *Session) bool { return Fold(sess.Node) == node })
}

// Sessions returns a query for all sessions, sorted by ID.
func (s *Store) Sessions() Query[[]*Session] {
	return s.sessionsWhere(topic{topicSessions, ""}, func(*Session) bool { return true })
}

func (s *Store) sessionsWhere(wake topic, match func(*Session) bool) Query[[]*Session] {
	return Query[[]*Session]{s, wake, func(s *Store) Result[[]*Session] {
		return Result[[]*Session]{Index: s.sessions.index, Body: s.sessions.selected(match)}
	}}
}
