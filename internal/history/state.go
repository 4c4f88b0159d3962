package history

import (
	"time"

	"electop/election"
)

// StateQuery selects the time of a state.
type StateQuery struct {
	At time.Time
	// Window is the length of the period before At. The elections contain the terms of this period. 0 means an hour,
	// which is sufficient for [election.Election.Changes].
	Window time.Duration
}

// State contains the known state of all elections at a given time.
type State struct {
	At time.Time `json:"at"`
	// Observed is set if an observer was running at that time. LastObserved is the latest observed time up to At, or zero
	// if there is none.
	Observed     bool      `json:"observed"`
	LastObserved time.Time `json:"last_observed,omitzero"`
	// Elections are sorted by [election.Compare]. They contain the terms of the window and at least the latest two
	// terms. A history contains neither values nor sessions, so Pair.Value and Session are empty. Pair.ModifyIndex may
	// be lower than the current index.
	Elections []*election.Election `json:"elections"`
}
