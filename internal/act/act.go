// Package act defines the plans and results of actions, and carries out a drain: it releases each election until a session on
// another node leads, and reports the outcome.
//
// The package does no I/O. Its callers pass facts and observations, and an [Operator] that writes.
package act

import (
	"context"
	"time"

	"electop/election"
)

// Operator carries out a release or a destroy on exactly one hold, or does nothing. A release uses only the target of d,
// and keeps the value, the flags and the session. A destroy ends all holds of the session. An interruption of a drain does
// not cancel ctx, because the result of a write would then be unknown.
type Operator interface {
	Act(ctx context.Context, kind election.ActionKind, d election.Destroy) Outcome
}

// Options configure a drain.
type Options struct {
	// Rounds is the maximum number of releases of one election.
	Rounds int
	// Settle is how long a session on another node must lead before an election counts as moved.
	Settle time.Duration
	// Wait is how long an election may have no leader before it counts as vacant.
	Wait time.Duration
	// Destroy allows destroying the session after the last round.
	Destroy bool
}

// Defaults returns the default options.
func Defaults() Options { return Options{Rounds: 20, Settle: 5 * time.Second, Wait: 15 * time.Second} }

// Running is a drain in progress.
type Running struct {
	// Next waits for a short time and returns the changes since the last call. more is false at the end of the drain.
	// The outcomes are then final, except for elections whose drain was interrupted. unverified then says why it is not
	// verified that no session on the node leads an election, as one line that is safe to print, or "" if it is verified.
	Next func() (changes []Outcome, unverified string, more bool)
	// Stop ends the drain after the writes in progress. It does not block.
	Stop func()
}
