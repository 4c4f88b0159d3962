package election

import "time"

// Observation is something an observer learned, with its clock. A [tracker.Tracker] is
// given observations in the order in which they were made.
type Observation interface{ Observed() time.Time }

// KeysRead is a complete answer about a range of keys: a key of the range that
// is not in Pairs does not exist.
type KeysRead struct {
	At    time.Time
	Range Range
	// Asked is when the request was sent; zero means at At. A response to a
	// request from before a [Gap] says nothing about the time after it.
	Asked time.Time
	// Pairs are sorted by key and lie in Range; those of equal keys (see
	// [Addressable]) are sorted by CreateIndex. Keys that no pattern matches are
	// ignored.
	Pairs []Pair
	// AfterGap marks the first answer after the link was broken: moves may
	// have happened at any moment in between.
	AfterGap bool
	// Filtered is set when the answer may have been cut short by the token's
	// rights.
	Filtered bool
	// Hidden are keys that were read before and may no longer be read: they
	// are kept as they were and marked unreadable. Of keys that are not
	// addressable nothing can be verified: a filtered answer hides them.
	Hidden []string
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
	// Partial is set when the token may not read all of them.
	Partial bool
	Err     string
}

// ChecksUnwatched says that the checks of a node are no longer watched: what was
// read of them grows old.
type ChecksUnwatched struct {
	At   time.Time
	Node string
}

// LinkLost says that a query of the named source (any unique text) failed.
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
	// Refused is set when Consul did answer, and refused.
	Refused bool
}

// LinkUp says that Consul answered a query of the named source. Latency is 0 for
// a query that was meant to block.
type LinkUp struct {
	At      time.Time
	Source  string
	Latency time.Duration
}

// ActionKind is what an operator does to a hold.
type ActionKind string

// The operator's actions.
const (
	ActionRelease ActionKind = "release"
	ActionDestroy ActionKind = "destroy"
)

// ActionStage is how far an operator's action has come.
type ActionStage int

// The stages of an action.
const (
	ActionStarted ActionStage = iota
	ActionDone
	ActionFailed
	ActionUnconfirmed // it may have been applied
)

// OperatorAction says that this program acts on a hold. Key is empty for a
// destroy, which ends every hold of the session.
type OperatorAction struct {
	At      time.Time
	Kind    ActionKind
	Key     string
	Session string
	// CreateIndex and LockIndex are those of the hold that a release is bound
	// to (see [Target]): it explains the end of no other term. 0 is unknown.
	CreateIndex, LockIndex uint64
	Stage                  ActionStage
}

// TermEvidence is what was found out about why a term ended.
type TermEvidence struct {
	At      time.Time
	Event   Event // the vacated event that is to be explained
	Outcome Evidence
}

// Clock says that time has passed. It lets pending explanations run out.
type Clock struct{ At time.Time }

// Gap says that nothing was observed between Since and At, because the process
// or the machine was stopped. What the first response about each range shows, to
// a request sent after At, may have happened at any moment in between.
type Gap struct{ At, Since time.Time }

// ClockSet says that the wall clock was set: it moved by By, backwards if that is
// negative, and no time passed. At is the time on the new clock.
type ClockSet struct {
	At time.Time
	By time.Duration
}

// Observed implements [Observation].
func (o KeysRead) Observed() time.Time { return o.At }

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

// DatacenterRead says which datacenter the answers come from.
type DatacenterRead struct {
	At         time.Time
	Datacenter string
}

// Observed implements [Observation].
func (o DatacenterRead) Observed() time.Time { return o.At }

// Evidence is what an observer found when it looked, right after a term ended,
// at the session that had held the key and at the checks that kept it alive.
type Evidence struct {
	// SessionRead says whether Consul answered about the session at all, and
	// SessionExists what it answered.
	SessionRead   bool
	SessionExists bool
	// SessionsIndex is the Raft index of the last change to any session
	// (X-Consul-Index of GET /v1/session/info/:id).
	SessionsIndex uint64
	// DeleteIndex is the Raft index at which the key was deleted, as its
	// tombstone tells; 0 when it was not read.
	DeleteIndex uint64
	// ChecksRead says whether the checks of the node could be read,
	// NodeExists whether the node is still registered.
	ChecksRead bool
	NodeExists bool
	Checks     []Check
	// ChecksIndex is the Raft index of the last change to any check, as far as
	// Consul tells with the checks of the node.
	ChecksIndex uint64
	// Err says why something could not be read.
	Err string
}

// SurroundingsRead are the surroundings of the election that is looked at. A
// tracker keeps the latest only.
type SurroundingsRead struct{ Surroundings Surroundings }

// Observed implements [Observation].
func (o SurroundingsRead) Observed() time.Time { return o.Surroundings.At }

// SessionListRead is an answer to "which sessions are there", or why there is
// none.
type SessionListRead struct {
	At       time.Time
	Sessions []*Session
	// Index is the Raft index of the answer (X-Consul-Index), 0 if unknown.
	Index uint64
	// AfterGap marks the first answer, and the first after the sessions were not
	// watched for a while: new ones may have been created at any time before.
	AfterGap bool
	Err      string
}

// SessionListUnwatched says that the list of sessions is no longer watched.
type SessionListUnwatched struct{ At time.Time }

// Observed implements [Observation].
func (o SessionListRead) Observed() time.Time { return o.At }

// Observed implements [Observation].
func (o SessionListUnwatched) Observed() time.Time { return o.At }
