package history

import (
	"time"

	"electop/election"
)

// Summary sums up the terms and vacancies of one election or of several.
type Summary struct {
	Election, Key, Datacenter string
	// Terms counts the terms that overlap the range, Missed those that passed
	// without being observed, as LockIndex tells.
	Terms  int
	Missed uint64
	// Mean and Longest are of whole terms, of those that were not observed from
	// end to end the part that was.
	Mean, Longest time.Duration
	// Observed is for how long the election was observed, Led for how long of that
	// it had a leader. For several elections both are sums.
	Observed, Led time.Duration
	// Vacancies counts those with an observed beginning and end; the others say how
	// long they were.
	Vacancies  int
	VacancyP50 time.Duration
	VacancyP95 time.Duration
	VacancyMax time.Duration
	Causes     map[election.Cause]int
}

// Availability is the share of the observed time with a leader; !ok if nothing was observed.
func (s *Summary) Availability() (share float64, ok bool) {
	if s.Observed <= 0 {
		return 0, false
	}
	return float64(s.Led) / float64(s.Observed), true
}

// Stats are the summaries of the elections of a range of time, by key.
type Stats struct {
	Range
	// Total sums up all elections.
	Total     Summary
	Elections []Summary
	// Observed is for how long anything was observed, LongestGap the longest time
	// between two periods of observation.
	Observed   time.Duration
	LongestGap time.Duration
}
