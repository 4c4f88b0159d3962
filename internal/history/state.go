package history

import (
	"time"

	"electop/election"
)

// StateQuery selects the moment of a state.
type StateQuery struct {
	At time.Time
	// Window is the time before At whose terms the elections contain; 0 means an hour, which
	// [election.Election.Changes] needs.
	Window time.Duration
}

// State is the known state of all elections at a moment.
type State struct {
	At time.Time
	// Observed reports whether an observer was watching then. LastObserved is the latest observed moment up to At,
	// zero if there is none.
	Observed     bool
	LastObserved time.Time
	// Elections are in the order of [election.Compare]. A history has no values and sessions: Pair.Value and Session
	// are empty, the node of a leader is that of its term. Pair.ModifyIndex is an index that the key has reached. The
	// terms are those of the window and the latest two.
	Elections []*election.Election
}
