package election

import "time"

// Observation is a read or an action of an observer: one of the types in this file whose field At is the time on the
// observer's clock. A [tracker.Tracker] receives observations in the order in which they were made.
type Observation any

// KeysRead is the complete content of a range of keys: a key in Range that is not in Pairs does not exist.
type KeysRead struct {
	At    time.Time
	Range Range
	// Asked is the time at which the request was sent; if it is zero, At is used. If a request was sent before a
	// [Gap], its response proves nothing about the time after the gap.
	Asked time.Time
	// Pairs are sorted by [ComparePairs], and do not change. The tracker ignores keys that match no pattern.
	Pairs []*Pair
	// Index is the revision of the store that was read, if an observer sees every change.
	Index uint64
	// AfterGap is set for the first response after the connection was lost: the changes may have happened at any time
	// since the previous response.
	AfterGap bool
	// Filtered is set if ACLs may have removed keys from the response.
	Filtered bool
	// Hidden are known keys, sorted, that the token can no longer read. The tracker keeps their last state and marks them
	// unreadable.
	Hidden []string
}

// HistoryRead contains the elections of a history. It precedes the first read of their keys, unless the tracker waits for it.
type HistoryRead struct {
	At time.Time
	// Elections have a time RecordedUntil. A history contains no values or flags, except for the keys of semaphores.
	Elections []*Election
	// Parts describe the latest recorded observation of each datacenter.
	Parts []RecordedPart
	// Replayed are observations between the history and the first read.
	Replayed []Observation
}

// RecordedPart is the latest observation of one datacenter in a history.
type RecordedPart struct {
	Datacenter string
	Patterns   Patterns
	// Until is the end of the observation. Newest is the highest Raft index in the history.
	Until  time.Time
	Newest uint64
}

// PatternsSet replaces the watched patterns. The tracker discards elections that the new patterns do not select,
// without events, and treats every key as not read.
type PatternsSet struct {
	At       time.Time
	Patterns Patterns
}

// CandidatesRead is the result of a search for candidates, with the elections in the state in which the search read them.
type CandidatesRead struct {
	At time.Time
	// None are elections without a candidate. Found, if not nil, is an election without a leader that has a candidate.
	None  []*Election
	Found *Election
}

// SessionsRead contains sessions that were read.
type SessionsRead struct {
	At       time.Time
	Sessions []*Session
}

// ChecksRead contains the health checks of one node, or the error of the read.
type ChecksRead struct {
	At     time.Time
	Node   string
	Checks []Check
	// Partial is set if ACLs hide some checks of the node.
	Partial bool
	Err     string
}

// Unwatched reports that the observer no longer watches the checks of a node or, without a node, the list of sessions. What
// is known of them becomes stale.
type Unwatched struct {
	At   time.Time
	Node string
}

// LinkLost reports that a query of a source failed. Source identifies the source.
type LinkLost struct {
	At     time.Time
	Source string
	// Part is the part of the data that the source reads; zero means everything.
	Part
	Error string
	// Since is the time at which the part was last known to be current; zero means the last contact with Consul, which a
	// tracker enters.
	Since time.Time
	// RetryAt is the time at which the next attempt is made; zero means that the first attempt is in progress.
	RetryAt time.Time
	// Refused is set if Consul responded and rejected the request.
	Refused bool
	// Gap is set if the store responds again, but changes were lost. This is an event, even after other failures.
	Gap bool
}

// LinkUp reports that Consul responded to a query of a source. Latency is 0 for a blocking query.
type LinkUp struct {
	At      time.Time
	Source  string
	Latency time.Duration
}

// TermEvidence is the evidence for the cause of one ended term.
type TermEvidence struct {
	At      time.Time
	Event   Event // the [Vacated] event of this term
	Outcome Evidence
}

// Clock reports the current time, so that pending explanations reach their deadline.
type Clock struct{ At time.Time }

// Gap reports that nothing was observed between Since and At because the process or the machine was suspended, or the clock was set. In
// each range, the first response to a request that was sent after At shows changes whose time is unknown.
type Gap struct{ At, Since time.Time }

// DatacenterRead contains the name of the datacenter that responds.
type DatacenterRead struct {
	At         time.Time
	Datacenter string
}

// Evidence is the state of a session and its checks, read immediately after the session's term ended.
type Evidence struct {
	// SessionRead is set if Consul responded to the query for the session. SessionExists is set if the session
	// exists.
	SessionRead   bool
	SessionExists bool
	// Expired is set if the store reported that the lease expired.
	Expired bool
	// SessionsIndex is the Raft index of the last change to any session
	// (X-Consul-Index of GET /v1/session/info/:id).
	SessionsIndex uint64
	// DeleteIndex is the Raft index at which the key was deleted, from its tombstone, or 0 if it was not read.
	DeleteIndex uint64
	// ChecksRead is set if the checks of the node were read. NodeExists is set if the node is registered.
	ChecksRead bool
	NodeExists bool
	Checks     []Check
	// ChecksIndex is the Raft index of the last change to any check (X-Consul-Index
	// of the checks of the node).
	ChecksIndex uint64
	// Err is the reason why part of the evidence could not be read.
	Err string
}

// SessionListRead contains the list of all sessions, or the error of the read.
type SessionListRead struct {
	At       time.Time
	Sessions []*Session
	// Index is the Raft index of the response (X-Consul-Index), or 0 if unknown.
	Index uint64
	// AfterGap is set for the first list after the start or after a pause: the creation time of new sessions in this
	// list is unknown.
	AfterGap bool
	// Partial is set if ACLs hide some sessions. Denied is set if ACLs are the reason for Err.
	Partial, Denied bool
	Err             string
}
