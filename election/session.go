package election

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
)

// MaxLockDelay is the longest lock-delay that Consul enforces.
const MaxLockDelay = 60 * time.Second

// The behaviors of a session: what Consul does with the keys of an invalidated session.
const (
	BehaviorRelease = "release"
	BehaviorDelete  = "delete"
)

// Session is a Consul session as read from GET /v1/session/info/:id, or a lease, which has no node. It is immutable.
type Session struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Node string `json:"node"`
	// Datacenter is empty if the session was read from the agent's own datacenter.
	Datacenter string `json:"datacenter,omitempty"`
	// TTL is 0 if the session has no TTL, or if that of a lease is unknown. Consul invalidates a session about twice its
	// TTL after the last renewal, later if Consul's leader changes.
	TTL      time.Duration `json:"-"`
	Behavior string        `json:"behavior"`
	// LockDelay is the requested lock-delay; see [Session.EnforcedLockDelay].
	LockDelay     time.Duration `json:"-"`
	NodeChecks    []string      `json:"node_checks"`
	ServiceChecks []string      `json:"service_checks"`
	CreateIndex   uint64        `json:"create_index,omitempty"`
	// Expires is the earliest time at which a lease can end without a renewal, according to a request that was sent at
	// Read.
	Expires time.Time `json:"-"`
	Read    time.Time `json:"-"`
	// Store describes the store of the session, unless it comes from a history.
	Store Store `json:"-"`
}

// leaseDelay is the maximum time from the expiry of a lease, in whole seconds, to the deletion of its keys.
const leaseDelay = 1500 * time.Millisecond

// ExpiredBy reports whether a lease that was gone at this time certainly expired. revoked is set if a client certainly
// revoked it. A lease that was read long before may have been renewed since.
func (s *Session) ExpiredBy(gone time.Time) (expired, revoked bool) {
	late := gone.Sub(s.Expires)
	return late >= 0 && late <= leaseDelay && gone.Sub(s.Read) <= s.TTL/2, late < 0
}

// EnforcedLockDelay returns how long Consul rejects every acquire of a key after it invalidated this session while
// the session held the key.
func (s *Session) EnforcedLockDelay() time.Duration { return min(s.LockDelay, MaxLockDelay) }

// Checks returns the IDs of all checks that the session depends on, node checks first.
func (s *Session) Checks() []string {
	return slices.Concat(s.NodeChecks, s.ServiceChecks)
}

// DependsOn reports whether Consul invalidates the session if this check becomes critical.
func (s *Session) DependsOn(check string) bool {
	same := func(id string) bool { return SameNode(id, check) }
	return slices.ContainsFunc(s.NodeChecks, same) || slices.ContainsFunc(s.ServiceChecks, same)
}

// ByID returns the sessions by their IDs.
func ByID(sessions []*Session) map[string]*Session {
	all := make(map[string]*Session, len(sessions))
	for _, s := range sessions {
		all[s.ID] = s
	}
	return all
}

// TTLText returns the TTL, "none", or "?" for a lease whose TTL is unknown.
func (s *Session) TTLText() string {
	switch {
	case s.TTL > 0:
		return s.TTL.String()
	case s.Expires.IsZero():
		return "none"
	}
	return "?"
}

// wasRead reports whether the session was read. Otherwise only its ID is known.
func (s *Session) wasRead() bool { return s.Node != "" || s.TTL > 0 || !s.Expires.IsZero() }

type plainSession Session

type sessionJSON struct {
	plainSession
	TTL         string `json:"ttl"`
	TTLMS       int64  `json:"ttl_ms"`
	LockDelay   string `json:"lock_delay"`
	LockDelayMS int64  `json:"lock_delay_ms"`
	Expires     stamp  `json:"expires,omitzero"`
}

// MarshalJSON encodes the session as in `electop list -o json`. A session without a TTL has "ttl":"0s". A session that
// was not read is an object with only the ID, so that unknown settings do not look like defaults.
func (s *Session) MarshalJSON() ([]byte, error) {
	if !s.wasRead() {
		return json.Marshal(map[string]string{"id": s.ID})
	}
	j := sessionJSON{plainSession(*s), s.TTL.String(), s.TTL.Milliseconds(), s.LockDelay.String(), s.LockDelay.Milliseconds(), stamp{s.Expires.Truncate(time.Millisecond)}}
	j.NodeChecks, j.ServiceChecks = append([]string{}, s.NodeChecks...), append([]string{}, s.ServiceChecks...) // never null
	return json.Marshal(j)
}

// UnmarshalJSON decodes the output of MarshalJSON.
func (s *Session) UnmarshalJSON(text []byte) error {
	var j sessionJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	*s = Session(j.plainSession)
	s.Expires = j.Expires.Time
	s.NodeChecks, s.ServiceChecks = append([]string(nil), j.NodeChecks...), append([]string(nil), j.ServiceChecks...)
	return errors.Join(parseDuration(j.TTL, &s.TTL), parseDuration(j.LockDelay, &s.LockDelay))
}

// The statuses of a check, as Consul names them.
const (
	StatusPassing  = "passing"
	StatusWarning  = "warning"
	StatusCritical = "critical"
)

// Check is a health check of a node as read from GET /v1/health/node/:node.
type Check struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Node        string `json:"node"`
	Service     string `json:"service,omitempty"`
	Status      string `json:"status"`
	Output      string `json:"output"`
	ModifyIndex uint64 `json:"modify_index"`
}

// FindCheck returns the check with this ID, or nil if there is none.
func FindCheck(checks []Check, id string) *Check {
	i := slices.IndexFunc(checks, func(c Check) bool { return c.ID == id })
	if i < 0 { // comparing all IDs in lower case is expensive
		i = slices.IndexFunc(checks, func(c Check) bool { return SameNode(c.ID, id) })
	}
	if i < 0 {
		return nil
	}
	return &checks[i]
}

// SameNode reports whether two names name the same node, or two IDs the same check of a node. Consul's state store compares
// them in lower case (strings.ToLower, not Unicode case folding), and a session keeps the spelling with which it was created.
func SameNode(a, b string) bool {
	return a == b || strings.ToLower(a) == strings.ToLower(b) //nolint:staticcheck // EqualFold equates other names
}
