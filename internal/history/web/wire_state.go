package web

import (
	"time"

	"electop/election"
	"electop/internal/history"
)

type stateJSON struct {
	At             string         `json:"at"`
	AtNS           int64          `json:"at_ns"`
	Observed       bool           `json:"observed"`
	LastObserved   string         `json:"last_observed,omitempty"`
	LastObservedNS int64          `json:"last_observed_ns,omitempty"`
	Elections      []pastElection `json:"elections"`
}

// pastElection uses the field names of `electop list -o json` for the fields that this command also prints.
type pastElection struct {
	Election          string         `json:"election"`
	Key               string         `json:"key"`
	Datacenter        string         `json:"datacenter"`
	State             election.State `json:"state"`
	Exists            bool           `json:"exists"`
	Unreadable        bool           `json:"unreadable,omitempty"`
	Unaddressable     bool           `json:"unaddressable,omitempty"`
	Leader            string         `json:"leader,omitempty"`
	Term              uint64         `json:"term"`
	CreateIndex       uint64         `json:"create_index"`
	ModifyIndex       uint64         `json:"modify_index"`
	LockIndex         uint64         `json:"lock_index"`
	SessionID         string         `json:"session_id,omitempty"`
	Value             []byte         `json:"value_base64,omitempty"`
	Flags             uint64         `json:"flags,string"`
	Since             string         `json:"since,omitempty"`
	SinceNS           int64          `json:"since_ns,omitempty"`
	SinceKnown        bool           `json:"since_known"`
	VacantSince       string         `json:"vacant_since,omitempty"`
	VacantSinceNS     int64          `json:"vacant_since_ns,omitempty"`
	VacantSinceKnown  bool           `json:"vacant_since_known"`
	LockDelayUntil    string         `json:"lock_delay_until,omitempty"`
	LockDelayUntilNS  int64          `json:"lock_delay_until_ns,omitempty"`
	LockDelayDoubtful bool           `json:"lock_delay_doubtful,omitempty"`
	Terms             []termFields   `json:"terms"`
}

func newStateJSON(s *history.State) stateJSON {
	j := stateJSON{
		At: election.FormatTime(s.At), AtNS: history.Nanos(s.At), Observed: s.Observed,
		LastObserved: election.FormatTime(s.LastObserved), LastObservedNS: history.Nanos(s.LastObserved),
		Elections: make([]pastElection, len(s.Elections)),
	}
	for i, e := range s.Elections {
		j.Elections[i] = newPastElection(e, s.At)
	}
	return j
}

func newPastElection(e *election.Election, at time.Time) pastElection {
	j := pastElection{
		Election: e.Name, Key: e.Key(), Datacenter: e.Datacenter, State: e.State(at), Exists: e.Exists, Unreadable: e.Unreadable,
		Unaddressable: e.Unaddressable, Leader: e.Leader, Term: e.Term, CreateIndex: e.Pair.CreateIndex, ModifyIndex: e.Pair.ModifyIndex,
		LockIndex: e.Pair.LockIndex, SessionID: e.Pair.Session, Value: e.Pair.Value, Flags: e.Pair.Flags,
		Since: election.FormatTime(e.Since), SinceNS: history.Nanos(e.Since), SinceKnown: e.SinceKnown,
		VacantSince: election.FormatTime(e.VacantSince), VacantSinceNS: history.Nanos(e.VacantSince), VacantSinceKnown: e.VacantSinceKnown,
		LockDelayUntil: election.FormatTime(e.LockDelayUntil), LockDelayUntilNS: history.Nanos(e.LockDelayUntil), LockDelayDoubtful: e.LockDelayDoubtful,
		Terms: make([]termFields, len(e.Terms)),
	}
	for i := range e.Terms {
		j.Terms[i] = newTermFields(&e.Terms[i])
	}
	return j
}

func (j *stateJSON) decode() history.State {
	s := history.State{At: history.Moment(j.AtNS), Observed: j.Observed, LastObserved: history.Moment(j.LastObservedNS)}
	for i := range j.Elections {
		s.Elections = append(s.Elections, j.Elections[i].decode())
	}
	return s
}

func (j *pastElection) decode() *election.Election {
	e := &election.Election{
		Name: j.Election, Datacenter: j.Datacenter, Leader: j.Leader, Term: j.Term,
		Pair: election.Pair{
			Key: j.Key, Value: j.Value, Flags: j.Flags, Session: j.SessionID,
			LockIndex: j.LockIndex, CreateIndex: j.CreateIndex, ModifyIndex: j.ModifyIndex,
		},
		Since: history.Moment(j.SinceNS), SinceKnown: j.SinceKnown, VacantSince: history.Moment(j.VacantSinceNS), VacantSinceKnown: j.VacantSinceKnown,
		LockDelayUntil: history.Moment(j.LockDelayUntilNS), LockDelayDoubtful: j.LockDelayDoubtful,
		Exists: j.Exists, Unreadable: j.Unreadable, Unaddressable: j.Unaddressable,
	}
	for i := range j.Terms {
		e.Terms = append(e.Terms, j.Terms[i].decode())
	}
	return e
}

type statsJSON struct {
	Since        string        `json:"since,omitempty"`
	SinceNS      int64         `json:"since_ns,omitempty"`
	Until        string        `json:"until,omitempty"`
	UntilNS      int64         `json:"until_ns,omitempty"`
	ObservedMS   int64         `json:"observed_ms"`
	ObservedNS   time.Duration `json:"observed_ns"`
	LongestGapMS int64         `json:"longest_gap_ms"`
	LongestGapNS time.Duration `json:"longest_gap_ns"`
	Elections    []summaryJSON `json:"elections"`
	Total        summaryJSON   `json:"total"`
}

// summaryJSON has the fields of `electop history --stats -o json`.
type summaryJSON struct {
	Election     string                 `json:"election,omitempty"`
	Key          string                 `json:"key,omitempty"`
	Datacenter   string                 `json:"datacenter,omitempty"`
	Terms        int                    `json:"terms"`
	Missed       uint64                 `json:"missed"`
	MeanMS       int64                  `json:"mean_ms"`
	MeanNS       time.Duration          `json:"mean_ns"`
	LongestMS    int64                  `json:"longest_ms"`
	LongestNS    time.Duration          `json:"longest_ns"`
	ObservedMS   int64                  `json:"observed_ms"`
	ObservedNS   time.Duration          `json:"observed_ns"`
	LedMS        int64                  `json:"led_ms"`
	LedNS        time.Duration          `json:"led_ns"`
	Availability *float64               `json:"availability,omitempty"`
	Vacancies    int                    `json:"vacancies"`
	P50MS        int64                  `json:"vacancy_p50_ms"`
	P50NS        time.Duration          `json:"vacancy_p50_ns"`
	P95MS        int64                  `json:"vacancy_p95_ms"`
	P95NS        time.Duration          `json:"vacancy_p95_ns"`
	MaxMS        int64                  `json:"vacancy_max_ms"`
	MaxNS        time.Duration          `json:"vacancy_max_ns"`
	Causes       map[election.Cause]int `json:"causes"`
}

func newStatsJSON(s *history.Stats) statsJSON {
	j := statsJSON{
		Since: election.FormatTime(s.Since), SinceNS: history.Nanos(s.Since), Until: election.FormatTime(s.Until), UntilNS: history.Nanos(s.Until),
		ObservedMS: s.Observed.Milliseconds(), ObservedNS: s.Observed, LongestGapMS: s.LongestGap.Milliseconds(), LongestGapNS: s.LongestGap,
		Elections: make([]summaryJSON, len(s.Elections)), Total: newSummaryJSON(&s.Total),
	}
	for i := range s.Elections {
		j.Elections[i] = newSummaryJSON(&s.Elections[i])
	}
	return j
}

func newSummaryJSON(s *history.Summary) summaryJSON {
	j := summaryJSON{
		Election: s.Election, Key: s.Key, Datacenter: s.Datacenter, Terms: s.Terms, Missed: s.Missed,
		MeanMS: s.Mean.Milliseconds(), MeanNS: s.Mean, LongestMS: s.Longest.Milliseconds(), LongestNS: s.Longest,
		ObservedMS: s.Observed.Milliseconds(), ObservedNS: s.Observed, LedMS: s.Led.Milliseconds(), LedNS: s.Led, Vacancies: s.Vacancies,
		P50MS: s.VacancyP50.Milliseconds(), P50NS: s.VacancyP50, P95MS: s.VacancyP95.Milliseconds(), P95NS: s.VacancyP95,
		MaxMS: s.VacancyMax.Milliseconds(), MaxNS: s.VacancyMax, Causes: s.Causes,
	}
	if share, ok := s.Availability(); ok {
		j.Availability = &share
	}
	return j
}

func (j *statsJSON) decode() history.Stats {
	s := history.Stats{
		Range:    history.Range{Since: history.Moment(j.SinceNS), Until: history.Moment(j.UntilNS)},
		Observed: j.ObservedNS, LongestGap: j.LongestGapNS, Total: j.Total.decode(),
	}
	for i := range j.Elections {
		s.Elections = append(s.Elections, j.Elections[i].decode())
	}
	return s
}

func (j *summaryJSON) decode() history.Summary {
	return history.Summary{
		Election: j.Election, Key: j.Key, Datacenter: j.Datacenter, Terms: j.Terms, Missed: j.Missed, Mean: j.MeanNS, Longest: j.LongestNS,
		Observed: j.ObservedNS, Led: j.LedNS, Vacancies: j.Vacancies, VacancyP50: j.P50NS, VacancyP95: j.P95NS, VacancyMax: j.MaxNS,
		Causes: j.Causes,
	}
}
