package ui

import (
	"context"
	"time"

	"electop/election"
)

// Options are what the dashboard is told when it starts.
type Options struct {
	// Snapshots delivers what is known of the elections. The newest wins: a
	// slow screen passes over older ones. A closed channel ends the updates.
	Snapshots <-chan *election.Snapshot
	// Operator carries out release and destroy. When it is nil, or ReadOnly is
	// set, r and x say why they do nothing.
	Operator Operator
	ReadOnly bool
	// Address is where Consul is asked; it is shown in the header and the
	// window's title. It must not hold a token.
	Address string
	// Title is the window's title, "electop · Address" when empty.
	Title string
	// Patterns tell which keys are watched, for the header and for the screen
	// that is shown when nothing matches.
	Patterns []string
	// ASCII draws with ASCII characters only.
	ASCII bool
	// Demo, when not empty, marks the dashboard as a demonstration and says in
	// one line what happens in it.
	Demo string
	// WatchChecks is called with the sorted nodes whose health checks are worth
	// watching (the selected election's and those of the visible rows) whenever
	// that set changes. It runs on the event loop and must return at once.
	WatchChecks func(nodes []string)
	// Now is the clock, time.Now when nil.
	Now func() time.Time
}

// Operator carries out what was confirmed in a dialog, on exactly the hold that
// the target names or not at all. Errors are one line.
type Operator interface {
	// Release unlocks the key; value and flags are kept, the session lives on.
	Release(ctx context.Context, t election.Target) error
	// DestroySession ends the session and every hold of it.
	DestroySession(ctx context.Context, t election.Target) error
}
