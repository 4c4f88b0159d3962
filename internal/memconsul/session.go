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
	sessionTTLFactor  = 2 // a session outlives its TTL by this much, to forgive a late renewal
	defaultLockDelay  = 15 * time.Second
	lockDelaySeconds  = 1000 // a number below this is meant as seconds, not nanoseconds
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

// UnmarshalJSON accepts a lock-delay as a duration string, as nanoseconds, and small numbers as seconds.
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
		delay *= time.Second //nolint:durationcheck // a count of seconds, as Consul reads small numbers
	}
	s.LockDelay = delay
	return nil
}

// checkIDs gives every check the session depends on, whichever of the three fields names it.
func (s *session) checkIDs() []string {
	ids := append(slices.Clone(s.Checks), s.NodeChecks...)
	for _, ref := range s.ServiceChecks {
		ids = append(ids, ref.ID)
	}
	return ids
}

// ttl is 0 for a session that never expires.
func (s *session) ttl() time.Duration {
	d, err := time.ParseDuration(s.TTL)
	if err != nil {
		return 0
	}
	return d
}

// settleChecks resolves the default checks: Checks is the older name of NodeChecks, both begin as serfHealth, and
// whichever was given wins.
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
	index uint64 // of the last change
}

// selected gives the sessions that match, in the order of their ids, which is Consul's.
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

// createSession gives the session an id and keeps it. The session belongs to the store from then on.
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

// checkSessionChecks refuses checks that could not tell of a loss: unknown ones and those that are critical already.
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

// armSession starts the session's expiry anew.
func (s *store) armSession(sess *session) {
	if ttl := sess.ttl(); ttl > 0 {
		s.timers.set(sessionTimerSpace+sess.ID, sessionTTLFactor*ttl, func() { s.destroySession(sess.ID) })
	}
}

// renewSession puts off the session's expiry and returns it, or nil if it is gone. No index changes.
func (s *store) renewSession(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess := s.sessions.byID[id]
	if sess != nil {
		s.armSession(sess)
	}
	return sess
}

// destroySession ends a session, by request or because its time ran out. An unknown one changes nothing.
func (s *store) destroySession(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions.byID[id] == nil {
		return
	}
	s.invalidateSession(id, s.nextIndex())
}

// invalidateSession ends a session and the holds it has, and arms the lock-delay of their keys. The caller holds the
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
