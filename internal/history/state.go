package history

import (
	"time"

	"electop/election"
)

// StateQuery selects the moment of a state.
type StateQuery struct {
	// At is the moment.
	At time.Time
	// Window is how far back the terms reach that the elections carry; 0 means an
	// hour, which [election.Election.Changes] needs.
	Window time.Duration
}

// State is what was known of all elections at a moment.
type State struct {
	At time.Time
	// Observed says that an observer was watching then; LastObserved is the latest
	// moment until At when one was, zero if there is none.
	Observed     bool
	LastObserved time.Time
	// Elections are in the order of [election.Compare]. The history does not know
	// values and sessions: Pair.Value and Session are empty, the node of a leader
	// is that of its term. The terms are those of the window and the latest two.
	Elections []*election.Election
}
