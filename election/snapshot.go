package election

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"electop/election/sanitize"
)

// Snapshot is the known state of all elections and of the connection at one time. It is immutable and safe for
// concurrent use.
type Snapshot struct {
	At time.Time
	// Datacenter is empty if the name is unknown, and in a snapshot of several datacenters.
	Datacenter string
	// Store is the store of the elections. In a snapshot of several datacenters, only its name is set.
	Store Store
	// Parts are the snapshots of several datacenters, in a fixed order, or nil if there is only one. Data that
	// belongs to one datacenter is only in its part: Checks, Surroundings and the stale parts of Connection. See
	// [Snapshot.In].
	Parts []*Snapshot
	// Elections are sorted by [Compare].
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
	// At is the time at which Checks were read.
	At     time.Time
	Checks []Check
	// Until is the time at which Checks was last known to be current. It is zero while the node is watched and its
	// checks can be read.
	Until time.Time
	// Partial is set if ACLs hide some checks of the node. A check that is not in Checks may then exist.
	Partial bool
	// Err is the reason why the checks could not be read. Checks is then stale or empty.
	Err string
}

// KeepDeleted is the time for which a board keeps an election after its key was deleted. MaxDeleted is the maximum
// number of such elections.
const (
	KeepDeleted = 24 * time.Hour
	MaxDeleted  = 1000
)

// Kept returns the elections that a board keeps, in the given order: those whose key exists, and the latest
// [MaxDeleted] of those whose key was deleted in the last [KeepDeleted].
func Kept(all []*Election, now time.Time) []*Election {
	deleted := Without(all, func(e *Election) bool { return e.Exists || now.Sub(e.deletedAt()) > KeepDeleted })
	slices.SortFunc(deleted, func(a, b *Election) int { return cmp.Or(b.deletedAt().Compare(a.deletedAt()), Compare(a, b)) })
	kept := map[*Election]bool{}
	for _, e := range deleted[:min(len(deleted), MaxDeleted)] {
		kept[e] = true
	}
	return Without(all, func(e *Election) bool { return !e.Exists && !kept[e] })
}

// deletedAt returns the time at which the deletion of the key was observed.
func (e *Election) deletedAt() time.Time {
	if ev := e.Latest(Deleted); ev != nil {
		return ev.Time
	}
	return e.VacantSince
}

// Latest returns the latest observed event of a type, or nil.
func (e *Election) Latest(t EventType) *Event {
	for i := range slices.Backward(e.Events) {
		if e.Events[i].Type == t {
			return &e.Events[i]
		}
	}
	return nil
}

// Find returns the election with this [ID], or nil if there is none.
func (s *Snapshot) Find(id ID) *Election {
	datacenter, key, found := strings.Cut(string(id), datacenterMark)
	if !found {
		datacenter, key = "", string(id)
	}
	i, _ := slices.BinarySearchFunc(s.Elections, key, func(e *Election, key string) int { return strings.Compare(e.Key(), key) })
	for ; i < len(s.Elections) && s.Elections[i].Key() == key; i++ {
		if e := s.Elections[i]; datacenter == "" || e.Datacenter == "" || e.Datacenter == datacenter {
			return e
		}
	}
	return nil
}

// FindKey returns the first election with this key, in any datacenter, or nil if there is none.
func (s *Snapshot) FindKey(key string) *Election { return s.Find(KeyID(key)) }

// In returns the snapshot of one datacenter, or s itself if s has no parts. The snapshot of an unknown datacenter is
// empty and not connected.
func (s *Snapshot) In(datacenter string) *Snapshot {
	if s.Parts == nil {
		return s
	}
	for _, part := range s.Parts {
		if part.Datacenter == datacenter {
			return part
		}
	}
	return &Snapshot{At: s.At, Datacenter: datacenter}
}

// Datacenters returns the parts, or s itself if s has no parts.
func (s *Snapshot) Datacenters() []*Snapshot {
	if s.Parts == nil {
		return []*Snapshot{s}
	}
	return s.Parts
}

// ChecksOf returns the known health checks of the election's datacenter, by node.
func (s *Snapshot) ChecksOf(e *Election) map[string]NodeChecks { return s.In(e.Datacenter).Checks }

// Named returns the elections with this full key or, if there are none, with this name. Several elections may share a
// name. They share a key only if they are in several datacenters.
func (s *Snapshot) Named(name string) []*Election {
	byKey := s.FindKey(name) != nil
	return Without(s.Elections, func(e *Election) bool { return byKey && e.Key() != name || !byKey && e.Name != name })
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
	// Since is the time at which the state began.
	Since time.Time
	// LastContact is the time at which the data, except for the parts in Stale, was last known to be current.
	LastContact time.Time
	// Latency is the duration of the latest probe.
	Latency time.Duration
	// Error is the reason why the connection was lost, in one line.
	Error string
	// RetryAt is the time at which the next attempt is made.
	RetryAt time.Time
	// Refused is set if Consul responds but rejects the token, for example because the token was revoked.
	Refused bool
	// Stale contains the parts whose queries fail while others succeed. It is empty if State is Lost.
	Stale []LinkLost
}

// PartKind is the kind of data that a source reads.
type PartKind string

// The kinds of data. Elections are stale only if PartKeys is stale.
const (
	PartWhole    PartKind = ""         // not one part: the connection, and therefore all data
	PartKeys     PartKind = "keys"     // the elections in a range
	PartNames    PartKind = "names"    // which keys exist in a range
	PartSessions PartKind = "sessions" // the list of all sessions
	PartChecks   PartKind = "checks"   // the health checks of a node
)

// Part is the part of the data that one source reads.
type Part struct {
	Kind  PartKind
	Range Range // set if Kind is PartKeys or PartNames
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

// CountStale counts the elections in the stale key ranges, and of several datacenters those whose connection is lost.
func (s *Snapshot) CountStale() (n int) {
	for _, part := range s.Datacenters() {
		for _, e := range part.Elections {
			if _, stale := part.StaleSince(e.Key()); stale && (part != s || part.Connection.State != Lost) {
				n++
			}
		}
	}
	return n
}

// Current reports whether the checks are watched and up to date.
func (c NodeChecks) Current() bool { return c.Until.IsZero() && c.Err == "" }

// Same reports whether both values are the result of the same read and are in the same state.
func (c NodeChecks) Same(other NodeChecks) bool {
	return c.At.Equal(other.At) && c.Until.Equal(other.Until) && c.Err == other.Err
}

// Outdated returns a copy whose checks were current until at.
func (c NodeChecks) Outdated(at time.Time) NodeChecks {
	if c.Until.IsZero() && !c.At.IsZero() {
		c.Until = at
	}
	return c
}

// Seen is the time at which a session was first read. Consul does not record creation times. If Created is false, the
// session may be older than At.
type Seen struct {
	At      time.Time
	Created bool
}

// SessionList contains every session of the datacenter. The observer reads it only while a consumer requests it.
type SessionList struct {
	// At is the time at which Sessions was read. If no read succeeded, At is the time of the latest failure.
	At       time.Time
	Sessions []*Session
	// Until is the time at which Sessions was last known to be current. It is zero while the list is watched.
	Until time.Time
	// FirstSeen contains the time at which each session was first read.
	FirstSeen map[string]Seen
	// Partial is set if ACLs hide some sessions.
	Partial bool
	// Err is the reason why the sessions could not be read. Sessions is then stale. Denied is set if ACLs are the
	// reason.
	Err    string
	Denied bool
}

// Surroundings contains the keys and sessions from which electop infers the candidates, the semaphore and the advice
// for one election. As an observation, they are those of the selected election; a tracker keeps only the latest.
type Surroundings struct {
	At  time.Time
	Key string
	// Siblings are the other keys under the same parent as Key (see [Parent]). SiblingsErr is the reason why the read
	// failed. SiblingsCut is set if the list is truncated.
	Siblings    []Pair
	SiblingsErr string
	SiblingsCut bool
	// Sessions are all sessions of the datacenter. SessionsErr is the reason why the read failed.
	Sessions    []*Session
	SessionsErr string
	// Failed are the nodes whose serfHealth is critical, as far as they could be read.
	Failed []string
	// Ended are the sessions that have recently ended, oldest first, each with the time when it was last read.
	Ended []EndedSession
}

// EndedSession is a session that has ended.
type EndedSession struct {
	*Session
	Seen time.Time
}

// Unread returns the errors of the parts that could not be read, safe to print.
func (s *Surroundings) Unread() []string {
	if s == nil {
		return nil
	}
	var all []string
	for _, text := range []string{s.SiblingsErr, s.SessionsErr} {
		if text != "" {
			all = append(all, sanitize.Line(text, 200))
		}
	}
	return all
}

// HasFailed reports whether serfHealth of a node is critical, as far as it could be read.
func (s *Surroundings) HasFailed(node string) bool {
	return s != nil && slices.ContainsFunc(s.Failed, func(failed string) bool { return SameNode(failed, node) })
}

// Parent returns the prefix of the keys that candidates may create: the key up to its last "/", or "" if the key has
// no "/".
func Parent(key string) string {
	i := strings.LastIndexByte(key, '/')
	return key[:i+1]
}

// Without returns a copy of all without the elements for which drop returns true.
func Without[T any](all []T, drop func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), drop)
}

// Union appends those of the elements that all does not contain yet.
func Union[T comparable](all []T, more ...T) []T {
	for _, v := range more {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

// Map returns the results of a function for all elements.
func Map[T, R any](all []T, of func(T) R) []R {
	results := make([]R, len(all))
	for i, v := range all {
		results[i] = of(v)
	}
	return results
}

// SameSlice reports whether two slices share memory. Snapshots are immutable, so shared memory
// means equal content.
func SameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
