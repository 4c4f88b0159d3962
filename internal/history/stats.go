package history

import (
	"time"

	"electop/election"
)

// Summary contains statistics of the terms and vacancies of one or more elections.
type Summary struct {
	Election, Key, Datacenter string
	// Terms is the number of terms that overlap the range. Missed is the number of terms that were not observed,
	// according to LockIndex.
	Terms  int
	Missed uint64
	// Mean and Longest are durations of terms. If only a part of a term was observed, only this part counts.
	Mean, Longest time.Duration
	// Observed is how long the election was observed. Led is how much of this time it had a leader. For several
	// elections, both are sums.
	Observed, Led time.Duration
	// Vacancies is the number of vacancies with an observed start and end. VacancyP50, VacancyP95 and VacancyMax are
	// the 50th percentile, the 95th percentile and the maximum of their durations.
	Vacancies  int
	VacancyP50 time.Duration
	VacancyP95 time.Duration
	VacancyMax time.Duration
	Causes     map[election.Cause]int
}

// Availability returns the share of the observed time with a leader. ok is false if no time was observed.
func (s *Summary) Availability() (share float64, ok bool) {
	if s.Observed <= 0 {
		return 0, false
	}
	return float64(s.Led) / float64(s.Observed), true
}

// Stats contains the summaries of the elections in a time range, sorted by key.
type Stats struct {
	Range
	// Total is the summary of all elections.
	Total     Summary
	Elections []Summary
	// Observed is how long at least one election was observed. LongestGap is the longest time between two periods of
	// observation.
	Observed   time.Duration
	LongestGap time.Duration
}
