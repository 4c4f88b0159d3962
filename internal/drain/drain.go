// Package drain moves every leader off a node: it plans which elections to release,
// releases each until a session on another node leads, and reports the result.
//
// The package does no I/O: facts and observations come in, and an [Operator] writes.
package drain

import (
	"context"
	"time"

	"electop/election"
	"electop/election/insight"
)

// Status is the state of one election of a drain.
type Status string

// The states. An election at rest (see [Status.Final]) leaves it when its leader
// changes.
const (
	Waiting Status = "waiting" // the drain has not acted on it yet
	Moving  Status = "moving"
	Moved   Status = "moved"   // led on another node for the time of Settle
	Stayed  Status = "stayed"  // led on a drained node after the last round
	Vacant  Status = "vacant"  // no candidate acquired it in time
	Failed  Status = "failed"  // a release failed, or its result was not observed
	Skipped Status = "skipped" // not a part of the drain
)

// Final reports whether the drain does nothing more unless the leader changes.
func (s Status) Final() bool { return s != Waiting && s != Moving }

// Result is the state of one election. Its texts are safe to print.
type Result struct {
	Item   *Item
	Status Status
	// Rounds counts the releases. Destroyed is set if its session was destroyed as the
	// last resort.
	Rounds    int
	Destroyed bool
	// Leader is the present leader, zero while there is none. Here reports whether its
	// session is on a drained node.
	Leader insight.Holder
	Here   bool
	// Since is when the present state (the leader, or none) began, zero if that was
	// before the drain.
	Since time.Time
	// Vacancy is the total time without a leader since the first release. VacancyKnown
	// reports whether all of it was observed.
	Vacancy      time.Duration
	VacancyKnown bool
	// Failure is the kind of the outcome of a failed action, or why the drain skips an
	// election that the node goes on leading. Empty otherwise.
	Failure insight.OutcomeKind
	// Reason is one line: why the election did not move. It may be empty.
	Reason string
}

// Operator carries out an action on exactly one hold, or does nothing. ctx does not end
// when the drain is interrupted, so that no write stays unconfirmed.
type Operator interface {
	Release(ctx context.Context, t election.Target) insight.Outcome
	Destroy(ctx context.Context, t election.Target) insight.Outcome
}

// Options configure a [Runner].
type Options struct {
	// Rounds is the maximum number of releases of one election.
	Rounds int
	// Settle is how long another node must lead before an election counts as moved.
	Settle time.Duration
	// Wait bounds the time without a leader, and without an observation of the result
	// of an action.
	Wait time.Duration
	// Destroy allows destroying the session after the last round.
	Destroy bool
	// Watch continues until the context ends, and releases elections that return.
	Watch bool
	// OnResult receives every change. It is called by Run, one call at a time.
	OnResult func(Result)
	// Admit returns an election that a drained node won and that is not in the plan,
	// for the plan of Watch; nil to ignore it. It may read from Consul.
	Admit func(ctx context.Context, s *election.Snapshot, e *election.Election) *Item
}

// Parallel is the maximum number of elections that are being moved, and of writes, at a
// time.
const Parallel = 8
