package history

import (
	"encoding/json"
	"time"

	"electop/election"
)

// stateTerms is the length of the period before a state whose terms the state contains. It suffices for
// [election.Election.Changes].
const stateTerms = time.Hour

// State contains the known state of all elections at a given time.
type State struct {
	At time.Time `json:"at"`
	// Observed is set if an observer was running at that time. LastObserved is the latest observed time up to At, or zero
	// if there is none.
	Observed     bool      `json:"observed"`
	LastObserved time.Time `json:"last_observed,omitzero"`
	// Elections are sorted by [election.Compare]. They contain the terms of [stateTerms] and at least the latest two
	// terms. A history contains no values, and Session is nil if the session was not read before a checkpoint.
	// Pair.ModifyIndex may be lower than the current index.
	Elections []*election.Election `json:"elections"`
}

// MarshalJSON encodes the elections in the form of [election.Election.Record].
func (s State) MarshalJSON() ([]byte, error) {
	type state State
	j := struct {
		state
		Elections []any `json:"elections"`
	}{state(s), make([]any, len(s.Elections))}
	for i, e := range s.Elections {
		j.Elections[i] = e.Record(s.At)
	}
	return json.Marshal(j)
}
