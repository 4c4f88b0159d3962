package tracker

import (
	"slices"
	"time"

	"electop/election"
)

// hides reports whether the response omits a key that the token has no permission to read.
func (r *rangeRead) hides(e *election.Election) bool {
	_, hidden := slices.BinarySearch(r.Hidden, e.Key())
	return hidden
}

// foldHidden marks an election as unreadable and keeps its last state.
func (t *Tracker) foldHidden(e *election.Election, r *rangeRead) *election.Election {
	if e.Unreadable {
		return e
	}
	c := t.changeOf(e, r)
	c.Unreadable = true
	c.happened(election.Unreadable)
	return c.Election
}

// unreadableSince returns the time at which the election became unreadable.
func unreadableSince(e *election.Election) time.Time {
	for i := len(e.Events) - 1; i >= 0; i-- {
		if e.Events[i].Type == election.Unreadable {
			return e.Events[i].Time
		}
	}
	return time.Time{}
}
