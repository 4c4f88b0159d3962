package history

import (
	"time"

	"electop/election"
)

// StateQuery selects the moment of a state.
type StateQuery struct {
	At time.Time
	// Window is the time before At whose terms the elections contain. 0 means an hour, the time that
	// [election.Election.Changes] covers.
	Window time.Duration
}

// State contains the known state of all elections at a moment.
type State struct {
	At time.Time
	// Observed reports whether an observer was running at the moment. LastObserved is the latest observed time up to
	// At, zero if there is none.
	Observed     bool
	LastObserved time.Time
	// Elections are in the order of [election.Compare], with the terms of the window and the latest two. A history
	// contains no values and sessions, so Pair.Value and Session are empty. Pair.ModifyIndex is an index that the key
	// has reached.
	Elections []*election.Election
}
