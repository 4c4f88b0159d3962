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
