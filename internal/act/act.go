// Package act defines plans, effects and results of actions, and carries out a drain: it releases each election until a session on
// another node leads, and reports the result.
//
// The package does no I/O. Its callers pass facts and observations, and an [Operator] that writes.
package act

import (
	"context"
	"time"

	"electop/election"
	"electop/election/insight"
)

// Status is the state of one election during a drain.
type Status string

// The states of an election. A final state (see [Status.Final]) changes only if the leader changes.
const (
	Waiting Status = "waiting" // the drain has not acted on the election yet
	Moving  Status = "moving"
	Moved   Status = "moved"   // a session on another node has led for the time Settle
	Stayed  Status = "stayed"  // a session on a drained node leads after the last round
	Vacant  Status = "vacant"  // no candidate acquired the key within the time Wait
	Failed  Status = "failed"  // a release failed, or its result was not observed
	Skipped Status = "skipped" // excluded from the drain
)

// Final reports whether the drain acts on the election again only if the leader changes.
func (s Status) Final() bool { return s != Waiting && s != Moving }

// Result is the state of one election. Its strings are safe to print.
type Result struct {
	Item   *Item
	Status Status
	// Rounds is the number of releases. Destroyed is set if the drain destroyed the session after them.
	Rounds    int
	Destroyed bool
	// Leader is the current leader, or zero if there is none. Here is set if the leader's session is on a drained node.
	Leader insight.Holder
	Here   bool
	// Pausing is set during the pause before the next release.
	Pausing bool
	// Since is when the current state (this leader, or no leader) began. It is zero if it began before the drain.
	Since time.Time
	// Vacancy is the total time without a leader since the first release. VacancyKnown is set if all of this time was
	// observed.
	Vacancy      time.Duration
	VacancyKnown bool
	// Failure is the kind of the failure if the status is Failed, or if it is Skipped for a reason that counts as a
	// failure. Otherwise it is empty.
	Failure insight.OutcomeKind
	// Reason is one line that says why the election did not move. It may be empty.
	Reason string
}

// Operator carries out an action on exactly one hold, or does nothing. An interruption of the drain does not cancel
// ctx, because the result of a write would then be unknown.
type Operator interface {
	Release(ctx context.Context, t election.Target) insight.Outcome
	Destroy(ctx context.Context, t election.Target) insight.Outcome
}

// Options configure a drain.
type Options struct {
	// Rounds is the maximum number of releases of one election.
	Rounds int
	// Settle is how long a session on another node must lead before an election counts as moved.
	Settle time.Duration
	// Wait is how long an election may have no leader before its status becomes Vacant.
	Wait time.Duration
	// Destroy allows destroying the session after the last round.
	Destroy bool
}

// Defaults returns the default options.
func Defaults() Options { return Options{Rounds: 20, Settle: 5 * time.Second, Wait: 15 * time.Second} }

// Running is a drain in progress.
type Running interface {
	// Next waits for changes since the last call and returns them. more is false at the end of the drain. The results
	// are then final, except for elections whose drain was interrupted.
	Next() (changes []Result, more bool)
	// Unverified returns why it is not verified that no session on the node leads an election, as one line that is safe to
	// print, or "" if it is verified. Call it only after the last change.
	Unverified() string
	// Stop ends the drain after the writes in progress. It does not block.
	Stop()
}

// Parallel is the maximum number of elections that move at the same time, and of concurrent writes.
const Parallel = 8
