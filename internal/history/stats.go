package history

import (
	"encoding/json"
	"math"

	"electop/election"
)

// Summary contains statistics of the terms and vacancies of one or more elections.
type Summary struct {
	Election   string `json:"election,omitempty"`
	Key        string `json:"key,omitempty"`
	Datacenter string `json:"datacenter,omitempty"`
	// Terms is the number of terms that overlap the range. Missed is the number of terms that were not observed,
	// according to LockIndex.
	Terms  int    `json:"terms"`
	Missed uint64 `json:"missed"`
	// Mean and Longest are durations of terms. If only a part of a term was observed, only this part counts.
	Mean    Seconds `json:"mean_seconds"`
	Longest Seconds `json:"longest_seconds"`
	// Observed is how long the election was observed. Led is how much of this time it had a leader. For several
	// elections, both are sums.
	Observed Seconds `json:"observed_seconds"`
	Led      Seconds `json:"led_seconds"`
	// Vacancies is the number of vacancies with an observed start and end. VacancyP50, VacancyP95 and VacancyMax are
	// the 50th percentile, the 95th percentile and the maximum of their durations.
	Vacancies  int     `json:"vacancies"`
	VacancyP50 Seconds `json:"vacancy_p50_seconds"`
	VacancyP95 Seconds `json:"vacancy_p95_seconds"`
	VacancyMax Seconds `json:"vacancy_max_seconds"`
	// Unmeasured is the number of the other vacancies: their start or end was not observed.
	Unmeasured int `json:"vacancies_unmeasured"`
	// Causes counts the causes of the terms that ended.
	Causes map[election.Cause]int `json:"causes"`
	// AvailabilityMin and AvailabilityMax are the least and the greatest possible share of the time with a leader that
	// works, from the first observation of the election: after its last sign of life, it may have ended; and whether there
	// was one during a gap in observation is unknown, unless one term lasted for the whole gap. They are nil if no time was
	// observed.
	AvailabilityMin *float64 `json:"availability_min,omitempty"`
	AvailabilityMax *float64 `json:"availability_max,omitempty"`
}

// Stats contains the summaries of the elections in a time range, sorted by key.
type Stats struct {
	Range
	// Total is the summary of all elections.
	Total     Summary   `json:"total"`
	Elections []Summary `json:"elections"`
	// Observed is how long at least one election was observed. LongestGap is the longest time between two periods of
	// observation.
	Observed   Seconds `json:"observed_seconds"`
	LongestGap Seconds `json:"longest_gap_seconds"`
}

// Seconds is a number of nanoseconds whose JSON form is in seconds. A sum over many elections exceeds [time.Duration].
type Seconds float64

// MarshalJSON encodes the duration as a number of seconds.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return json.Marshal(float64(s) / 1e9)
}

// UnmarshalJSON decodes a number of seconds.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	var f float64
	err := json.Unmarshal(text, &f)
	*s = Seconds(math.Round(f * 1e9))
	return err
}
