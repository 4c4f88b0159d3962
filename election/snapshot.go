package election

import (
	"slices"
	"strings"
	"time"
)

// Snapshot is the known state of all elections and of the connection at one time. It is immutable and safe for
// concurrent use.
type Snapshot struct {
	At         time.Time
	Datacenter string
	// Elections are sorted by key.
	Elections []*Election
	// Events contains the latest events of all elections and of the connection, oldest first.
	Events []Event
	// Loaded is false until every watched range has been read once.
	Loaded bool
	// RecordedUntil is the latest [Election.RecordedUntil] of the elections. It is zero once all their keys have been
	// read from Consul.
	RecordedUntil time.Time
	Connection    Connection
	// Filtered is set if ACLs may have removed keys from a response. An empty list then does not prove that there are
	// no elections.
	Filtered bool
	// Checks contains the known health checks by node.
	Checks map[string]NodeChecks
	// Surroundings contains the surroundings of the selected election. It is nil until they are read.
	Surroundings *Surroundings
	// SessionList contains every session. It is nil unless a consumer requested it.
	SessionList *SessionList
}

// NodeChecks contains the health checks of one node. They are current while Until is zero and Err is empty.
type NodeChecks struct {
	// At is when Checks were read.
	At     time.Time
	Checks []Check
	// Until is when Checks was last known to be current. It is zero while the node is watched and its checks can be
	// read.
	Until time.Time
	// Partial is set if ACLs hide some checks of the node. A check that is not in Checks may then exist.
	Partial bool
	// Err is why the checks could not be read. Checks is then stale or empty.
	Err string
}

// Find returns the election with this [Election.ID], or the first one with this key. It returns nil if there is none.
func (s *Snapshot) Find(id string) *Election {
	key, mark, marked := strings.Cut(id, idMark)
	if !marked || Addressable(key) {
		key, mark = id, ""
	}
	i, found := slices.BinarySearchFunc(s.Elections, key, func(e *Election, key string) int { return strings.Compare(e.Key(), key) })
	for ; found && mark != "" && s.Elections[i].ID() != id; i++ {
		found = i+1 < len(s.Elections) && s.Elections[i+1].Key() == key
	}
	if !found {
		return nil
	}
	return s.Elections[i]
}

// Named returns the elections with this name or full key. Several elections may share a name, but several elections
// share a key only if it is not [Addressable].
func (s *Snapshot) Named(name string) []*Election {
	wanted := func(e *Election) bool { return e.Name == name }
	if e := s.Find(name); e != nil && e.Unaddressable {
		wanted = func(o *Election) bool { return o.Key() == e.Key() }
	} else if e != nil {
		return []*Election{e}
	}
	var found []*Election
	for _, e := range s.Elections {
		if wanted(e) {
			found = append(found, e)
		}
	}
	return found
}

// ConnectionState is the state of the connection to Consul.
type ConnectionState string

// The states of the connection.
const (
	Connecting ConnectionState = "connecting" // nothing has been read yet
	Live       ConnectionState = "live"
	Lost       ConnectionState = "lost" // the snapshot is not newer than LastContact
)

// Connection is the health of the connection to Consul.
type Connection struct {
	State ConnectionState
	// Since is when the state began.
	Since time.Time
	// LastContact is when the data, except for the parts in Stale, was last known to be current.
	LastContact time.Time
	// Latency is how long the latest probe took.
	Latency time.Duration
	// Error is why the connection was lost, in one line.
	Error string
	// RetryAt is when the next attempt is made.
	RetryAt time.Time
	// Refused is set if Consul responds but rejects the token, for example because the token was revoked.
	Refused bool
	// Stale contains the parts whose queries fail. It is empty if State is Lost.
	Stale []StalePart
}

// PartKind is the kind of data that a source reads.
type PartKind string

// The kinds of data. Elections are stale only if PartKeys is.
const (
	PartWhole    PartKind = ""         // all data: the connection itself
	PartKeys     PartKind = "keys"     // the elections in a range
	PartNames    PartKind = "names"    // which keys exist in a range
	PartSessions PartKind = "sessions" // the list of all sessions
	PartChecks   PartKind = "checks"   // the health checks of a node
)

// Part is the part of the data that one source reads.
type Part struct {
	Kind  PartKind
	Range Range  // set for PartKeys and PartNames
	Node  string // set for PartChecks
}

// StalePart is a part whose query fails while others succeed.
type StalePart struct {
	Part
	// Since is when the part was last known to be current.
	Since time.Time
	Error string
	// RetryAt is when the next attempt is made, zero while one is in progress.
	RetryAt time.Time
}

// StaleSince reports whether the data of an election may be outdated, and since when.
func (s *Snapshot) StaleSince(key string) (since time.Time, stale bool) {
	if s.Connection.State == Lost {
		return s.Connection.LastContact, true
	}
	for _, p := range s.Connection.Stale {
		if p.Kind == PartKeys && p.Range.Contains(key) && (!stale || p.Since.Before(since)) {
			since, stale = p.Since, true
		}
	}
	return since, stale
}

// CountStale counts the elections in stale parts.
func (s *Snapshot) CountStale() (n int) {
	at := func(key string) int {
		i, _ := slices.BinarySearchFunc(s.Elections, key, func(e *Election, key string) int { return strings.Compare(e.Key(), key) })
		return i
	}
	for _, r := range staleKeys(s.Connection.Stale).Ranges {
		end := len(s.Elections)
		if r.To != "" {
			end = at(r.To)
		}
		n += end - at(r.From)
	}
	return n
}

func staleKeys(parts []StalePart) (keys RangeSet) {
	for _, p := range parts {
		if p.Kind == PartKeys {
			keys.Add(p.Range)
		}
	}
	return keys
}

// Current reports whether the checks are watched and up to date.
func (c NodeChecks) Current() bool { return c.Until.IsZero() && c.Err == "" }

// OlderThan reports whether the checks were last current before the other checks were.
func (c NodeChecks) OlderThan(other NodeChecks) bool {
	switch {
	case c.Current() != other.Current():
		return other.Current()
	case c.Current():
		return c.At.Before(other.At)
	}
	return c.Until.Before(other.Until)
}

// Outdated returns a copy whose checks were current until at.
func (c NodeChecks) Outdated(at time.Time) NodeChecks {
	if c.Until.IsZero() && !c.At.IsZero() {
		c.Until = at
	}
	return c
}

// Seen is when a session was first read. Consul does not record creation times. If Created is false, the session may
// be older than At.
type Seen struct {
	At      time.Time
	Created bool
}

// Outdated returns a copy whose sessions were current until at.
func (l *SessionList) Outdated(at time.Time) SessionList {
	old := *l
	if old.Until.IsZero() {
		old.Until = at
	}
	return old
}

// SessionList contains every session of the datacenter. The observer reads it only while a consumer requests it.
type SessionList struct {
	// At is when Sessions was read. If no read succeeded, At is the time of the latest failure.
	At       time.Time
	Sessions []*Session
	// Until is when Sessions was last known to be current. It is zero while the list is watched.
	Until time.Time
	// FirstSeen contains when each session was first read.
	FirstSeen map[string]Seen
	// Err is why the sessions could not be read. Sessions is then stale.
	Err string
}
