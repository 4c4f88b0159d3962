package election

import "time"

// Observation is what an observer read or did, with the time of its clock. A
// [tracker.Tracker] receives observations in the order in which they were made.
type Observation interface{ Observed() time.Time }

// KeysRead is the complete content of a range of keys: a key in Range that is not
// in Pairs does not exist.
type KeysRead struct {
	At    time.Time
	Range Range
	// Asked is when the request was sent, At if zero. The response to a request from before a [Gap] proves nothing
	// about the time after it.
	Asked time.Time
	// Pairs are sorted by key, equal keys (see [Addressable]) by CreateIndex. Keys
	// that match no pattern are ignored.
	Pairs []Pair
	// AfterGap is set for the first response after the connection was lost: changes may have happened at any time
	// since the previous one.
	AfterGap bool
	// Filtered is set if ACLs may have removed keys from the response.
	Filtered bool
	// Hidden are known keys that the token can no longer read: they stay as they
	// were and are marked unreadable. A filtered response hides all keys that are
	// not addressable, because they cannot be verified.
	Hidden []string
}

// HistoryRead is what a history says about elections, before their keys are read for
// the first time.
type HistoryRead struct {
	At time.Time
	// Elections are in the order of [Compare] within a datacenter. The content of
	// their keys is unknown, except that of semaphores, and RecordedUntil is set.
	Elections []*Election
}

// PatternsSet replaces the watched patterns. Elections that they do not select are
// forgotten, without events; every key counts as not read.
type PatternsSet struct {
	At       time.Time
	Patterns Patterns
}

// NoCandidates are elections for which a search found no candidate, as in the snapshot
// that was searched.
type NoCandidates struct {
	At        time.Time
	Elections []*Election
}

// CandidateSeen reports that a candidate was seen for one election.
type CandidateSeen struct {
	At  time.Time
	Key string
}

// SessionsRead are sessions as they were read.
type SessionsRead struct {
	At       time.Time
	Sessions []*Session
}

// ChecksRead are the health checks of one node, or why they could not be read.
type ChecksRead struct {
	At     time.Time
	Node   string
	Checks []Check
	// Partial is set if ACLs hide some checks of the node.
	Partial bool
	Err     string
}

// ChecksUnwatched reports that the checks of a node are no longer watched: the data becomes outdated.
type ChecksUnwatched struct {
	At   time.Time
	Node string
}

// LinkLost reports that a query of a source (any unique text) failed.
type LinkLost struct {
	At     time.Time
	Source string
	// Part is what the source reads; zero is everything.
	Part  Part
	Error string
	// Since is when the part was last known to be current; zero is at the last
	// contact.
	Since time.Time
	// RetryAt is when the next attempt is made. Zero means that the first one is
	// under way.
	RetryAt time.Time
	// Refused is set if Consul responded and rejected the request.
	Refused bool
}

// LinkUp reports that Consul responded to a query of a source. Latency is 0 for a
// blocking query.
type LinkUp struct {
	At      time.Time
	Source  string
	Latency time.Duration
}

// ActionKind is the kind of an operator's action on an election.
type ActionKind string

// The operator's actions. Setting flags and deleting change a key that no session holds.
const (
	ActionRelease  ActionKind = "release"
	ActionDestroy  ActionKind = "destroy"
	ActionSetFlags ActionKind = "set_flags"
	ActionDelete   ActionKind = "delete_key"
	// ActionFix is a fix of the dashboard whose write is not known yet.
	ActionFix ActionKind = "fix"
)

// EndsHold reports whether the action ends a hold, and so explains the end of a term.
func (k ActionKind) EndsHold() bool { return k == ActionRelease || k == ActionDestroy }

// ActionStage is the progress of an operator's action.
type ActionStage int

// The stages of an action.
const (
	ActionStarted ActionStage = iota
	ActionDone
	ActionFailed
	ActionUnconfirmed // it may have been applied
)

// Explains reports whether an observer that does not know of an action of this kind may
// have reported its effect as this cause.
func (k ActionKind) Explains(seen Cause, guess bool) bool {
	released := k == ActionRelease && seen == Released
	destroyed := k == ActionDestroy && (seen == SessionDestroyed || seen == SessionExpiredOrDestroyed || seen == KeyDeleted)
	return k.EndsHold() && (guess || seen == Unknown || released || destroyed)
}

// OperatorAction reports an action on a hold, of this process or of another one. Key is
// empty for a destroy, which ends every hold of the session.
type OperatorAction struct {
	At      time.Time
	Kind    ActionKind
	Key     string
	Session string
	// CreateIndex and LockIndex identify the hold that a release is bound to (see
	// [Target]): it explains the end of no other term. 0 means unknown.
	CreateIndex, LockIndex uint64
	Stage                  ActionStage
	// By is user@host of another process's action, which is known from a history after
	// its effect was observed.
	By string
}

// TermEvidence is the evidence for why a term ended.
type TermEvidence struct {
	At      time.Time
	Event   Event // the vacated event to explain
	Outcome Evidence
}

// Clock reports the current time, so that pending explanations reach their
// deadline.
type Clock struct{ At time.Time }

// Gap reports that nothing was observed between Since and At because the process or
// the machine was suspended. For each range, changes in the first response to a
// request that was sent after At may have happened at any time in between.
type Gap struct{ At, Since time.Time }

// ClockSet reports that the wall clock was set by By (negative: back) while no time
// passed. At is the time on the new clock.
type ClockSet struct {
	At time.Time
	By time.Duration
}

// Observed implements [Observation].
func (o KeysRead) Observed() time.Time { return o.At }

// Observed implements [Observation].
func (o HistoryRead) Observed() time.Time { return o.At }

// Observed implements [Observation].
func (o NoCandidates) Observed() time.Time { return o.At }

// Observed implements [Observation].
func (o PatternsSet) Observed() time.Time { return o.At }

// Observed implements [Observation].
func (o CandidateSeen) Observed() time.Time { return o.At }

// Observed implements [Observation].
func (o SessionsRead) Observed() time.Time { return o.At }

// Observed implements [Observation].
func (o ChecksRead) Observed() time.Time { return o.At }

// Observed implements [Observation].
func (o ChecksUnwatched) Observed() time.Time { return o.At }

// Observed implements [Observation].
func (o LinkLost) Observed() time.Time { return o.At }

// Observed implements [Observation].
func (o LinkUp) Observed() time.Time { return o.At }

// Observed implements [Observation].
func (o OperatorAction) Observed() time.Time { return o.At }

// Observed implements [Observation].
func (o TermEvidence) Observed() time.Time { return o.At }

// Observed implements [Observation].
func (o Clock) Observed() time.Time { return o.At }

// Observed implements [Observation].
func (o Gap) Observed() time.Time { return o.At }

// Observed implements [Observation].
func (o ClockSet) Observed() time.Time { return o.At }

// DatacenterRead is the name of the datacenter that responds.
type DatacenterRead struct {
	At         time.Time
	Datacenter string
}

// Observed implements [Observation].
func (o DatacenterRead) Observed() time.Time { return o.At }

// Evidence is the state of a session and its checks, read immediately after the
// session's term ended.
type Evidence struct {
	// SessionRead reports whether Consul responded to the query for the session,
	// SessionExists whether the session exists.
	SessionRead   bool
	SessionExists bool
	// SessionsIndex is the Raft index of the last change to any session
	// (X-Consul-Index of GET /v1/session/info/:id).
	SessionsIndex uint64
	// DeleteIndex is the Raft index at which the key was deleted, from its
	// tombstone; 0 if it was not read.
	DeleteIndex uint64
	// ChecksRead reports whether the checks of the node were read, NodeExists
	// whether the node is registered.
	ChecksRead bool
	NodeExists bool
	Checks     []Check
	// ChecksIndex is the Raft index of the last change to any check (X-Consul-Index
	// of the checks of the node).
	ChecksIndex uint64
	// Err is why something could not be read.
	Err string
}

// SurroundingsRead are the surroundings of the selected election. A tracker keeps
// only the latest.
type SurroundingsRead struct{ Surroundings Surroundings }

// Observed implements [Observation].
func (o SurroundingsRead) Observed() time.Time { return o.Surroundings.At }

// SessionListRead is the list of all sessions, or why it could not be read.
type SessionListRead struct {
	At       time.Time
	Sessions []*Session
	// Index is the Raft index of the response (X-Consul-Index), 0 if unknown.
	Index uint64
	// AfterGap is set for the first response, and for the first one after the sessions were not watched for a while:
	// new ones may have been created at any time before.
	AfterGap bool
	Err      string
}

// SessionListUnwatched reports that the list of sessions is no longer watched.
type SessionListUnwatched struct{ At time.Time }

// Observed implements [Observation].
func (o SessionListRead) Observed() time.Time { return o.At }

// Observed implements [Observation].
func (o SessionListUnwatched) Observed() time.Time { return o.At }

// clockTolerance is the maximum difference between the two clocks over about a second.
// ntpd slews the wall clock by 0.5 ms per second and steps it above 128 ms.
const clockTolerance = 100 * time.Millisecond

// ClockJump compares two readings of time.Now, at most limit apart. It returns the
// observations to make first: a clock that was set, and a gap. A machine that slept looks
// like a clock that was set forward: both are a gap.
func ClockJump(last, now time.Time, limit time.Duration) []Observation {
	return clockJump(last.Round(0), now, now.Round(0).Sub(last.Round(0)), now.Sub(last), limit)
}

// clockJump compares the progress of the wall clock and of the monotonic clock.
func clockJump(last, now time.Time, wall, monotonic, limit time.Duration) (all []Observation) {
	set := wall - monotonic
	if set < -clockTolerance {
		all = append(all, ClockSet{At: now, By: set})
		last = last.Add(set)
	}
	if set > clockTolerance || monotonic > limit {
		all = append(all, Gap{At: now, Since: last})
	}
	return all
}
