package election

import (
	"sort"
	"strconv"
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

// NodeChecks are the health checks of one node, as read at one moment.
type NodeChecks struct {
	At     time.Time
	Checks []Check
	// Partial is set when the token may not read all checks of the node: one
	// that is missing may be there.
	Partial bool
	// Err says why the checks could not be read; Checks is then old or empty.
	Err string
}

// Find gives the election with this key, nil if there is none.
func (s *Snapshot) Find(key string) *Election {
	i := sort.Search(len(s.Elections), func(i int) bool { return s.Elections[i].Key() >= key })
	if i < len(s.Elections) && s.Elections[i].Key() == key {
		return s.Elections[i]
	}
	return nil
}

// Named lists the elections whose name or full key is name. More than one
// means that the name is ambiguous; a full key never is.
func (s *Snapshot) Named(name string) []*Election {
	if e := s.Find(name); e != nil {
		return []*Election{e}
	}
	var found []*Election
	for _, e := range s.Elections {
		if e.Name == name {
			found = append(found, e)
		}
	}
	return found
}

// Count tells how many elections are in each state at the moment now.
func (s *Snapshot) Count(now time.Time) (led, vacant, lockDelay int) {
	for _, e := range s.Elections {
		switch e.State(now) {
		case Led:
			led++
		case InLockDelay:
			lockDelay++
		default:
			vacant++
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
	// LastContact is when everything that is shown was last known to be fresh.
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
}

func formatUint(n uint64) string { return strconv.FormatUint(n, 10) }
