package election

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Snapshot is everything known at one moment. It is immutable and may be read
// by many goroutines.
type Snapshot struct {
	At         time.Time
	Datacenter string
	// Elections are sorted by key.
	Elections []*Election
	// Events are the latest events of all elections and of the connection,
	// oldest first.
	Events []Event
	// Loaded is false until every watched range was read once.
	Loaded     bool
	Connection Connection
	// Filtered is set when an answer may have been cut short by the token's
	// rights: that no election is there is then no proof that there is none.
	Filtered bool
	// Checks holds the health checks of nodes as far as they were read.
	Checks map[string]NodeChecks
	// Surroundings are those of the election that is looked at, nil before they
	// were read.
	Surroundings *Surroundings
	// SessionList is every session, nil unless somebody looks at them.
	SessionList *SessionList
}

// NodeChecks are the health checks of one node. They are current while the node is
// watched and Until is zero.
type NodeChecks struct {
	// At is when Checks were read.
	At     time.Time
	Checks []Check
	// Until is when Checks were last known to be current: when the node was no
	// longer watched, or could no longer be read.
	Until time.Time
	// Partial is set when the token may not read all checks of the node: one
	// that is missing may be there.
	Partial bool
	// Err says why the checks could not be read; Checks is then old or empty.
	Err string
}

// Find gives the election with this [Election.ID], nil if there is none. Of keys
// that cannot be distinguished the key alone finds the first.
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

// Named lists the elections whose name or full key is name. More than one
// means that the name is ambiguous; a full key is only if keys cannot be
// distinguished.
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

// Count tells how many elections are in each state at the moment now. Semaphores
// and elections that may not be read are in none of them.
func (s *Snapshot) Count(now time.Time) (led, vacant, lockDelay int) {
	for _, e := range s.Elections {
		if e.Unreadable {
			continue
		}
		switch e.State(now) {
		case Led:
			led++
		case InLockDelay:
			lockDelay++
		case Vacant:
			vacant++
		case OfSemaphore:
		}
	}
	return led, vacant, lockDelay
}

// ConnectionState is how the link to Consul does.
type ConnectionState string

// The states of the connection.
const (
	Connecting ConnectionState = "connecting" // nothing was read yet
	Live       ConnectionState = "live"
	Lost       ConnectionState = "lost" // what is shown is as old as LastContact
)

// Connection is the health of the link to Consul.
type Connection struct {
	State ConnectionState
	// Since is when the state began.
	Since time.Time
	// LastContact is when everything that is shown was last known to be fresh,
	// but for the parts in Stale.
	LastContact time.Time
	// Latency is how long the latest probe took.
	Latency time.Duration
	// Error is why the link is lost, in one line.
	Error string
	// RetryAt is when the next attempt is made.
	RetryAt time.Time
	// Refused is set when Consul answers and refuses, as it does a token that
	// was revoked.
	Refused bool
	// Stale are the parts whose sources do not respond, unless State is Lost.
	Stale []StalePart
}

func formatUint(n uint64) string { return strconv.FormatUint(n, 10) }

// PartKind is what kind of data a source reads.
type PartKind string

// The kinds of data. Only keys that are stale make a board stale.
const (
	PartWhole    PartKind = ""         // everything: the link itself
	PartKeys     PartKind = "keys"     // the elections in a range
	PartNames    PartKind = "names"    // which keys exist in a range
	PartSessions PartKind = "sessions" // the list of all sessions
	PartChecks   PartKind = "checks"   // the health checks of a node
)

// Part is the part of the data that one source reads.
type Part struct {
	Kind  PartKind
	Range Range  // of keys and names
	Node  string // of checks
}

// StalePart is a part whose source does not respond while others do.
type StalePart struct {
	Part
	// Since is when it was last known to be current.
	Since time.Time
	Error string
	// RetryAt is when the next attempt is made; zero: one is under way.
	RetryAt time.Time
}

// StaleSince tells since when an election may differ from what is shown. It
// reports false while it is current.
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

// CountStale counts the elections in the parts that are stale.
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

// Current reports that the checks are watched and stand as they were read.
func (c NodeChecks) Current() bool { return c.Until.IsZero() && c.Err == "" }

// OlderThan reports whether the checks were last current before the other ones.
func (c NodeChecks) OlderThan(other NodeChecks) bool {
	switch {
	case c.Current() != other.Current():
		return other.Current()
	case c.Current():
		return c.At.Before(other.At)
	}
	return c.Until.Before(other.Until)
}

// Outdated are the checks when they are no longer current after at.
func (c NodeChecks) Outdated(at time.Time) NodeChecks {
	if c.Until.IsZero() && !c.At.IsZero() {
		c.Until = at
	}
	return c
}

// Seen tells when a session was first reported. It may be older, unless its
// creation was observed: Consul does not record when it created a session.
type Seen struct {
	At      time.Time
	Created bool
}

// Outdated is the list when it is no longer current after at.
func (l *SessionList) Outdated(at time.Time) SessionList {
	old := *l
	if old.Until.IsZero() {
		old.Until = at
	}
	return old
}

// SessionList is every session of the datacenter, read while somebody looks.
type SessionList struct {
	// At is when Sessions were read, or tried to be for the first time.
	At       time.Time
	Sessions []*Session
	// Until is when Sessions were last known to be current, zero while they are
	// watched.
	Until time.Time
	// FirstSeen tells of each of them when it was first reported.
	FirstSeen map[string]Seen
	// Err says why the sessions could not be read; Sessions is then old.
	Err string
}
