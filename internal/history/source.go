// Package history defines the queries and results of the history of elections: pages of events and terms, statistics,
// states, periods of observation and operators' actions. A [Source] executes queries; package sqlite implements it.
// The package is pure: it does no I/O, and time is a parameter. Times are those of the observer's clock.
package history

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"time"

	"electop/election"
)

// ErrNoElection reports that the history contains no election with any of these names.
var ErrNoElection = errors.New("no such election in the history")

// ErrCursor reports that a cursor is invalid.
var ErrCursor = errors.New("history: invalid cursor")

// ErrCluster reports that a history belongs to another cluster.
var ErrCluster = errors.New("this history belongs to another cluster; select another one with --history")

// ErrLarge reports that a result is too large.
var ErrLarge = errors.New("too many entries; select a shorter time range")

// Election identifies an election in the history.
type Election struct {
	Name string `json:"election"`
	Key  string `json:"key"`
}

// Source is a readable history: a file or a remote recorder. Its methods are safe for concurrent use.
type Source interface {
	// Events returns a page of events.
	Events(ctx context.Context, q EventQuery) (EventPage, error)
	// Terms returns a page of terms.
	Terms(ctx context.Context, q TermQuery) (TermPage, error)
	// Stats returns statistics of terms and vacancies.
	Stats(ctx context.Context, f Filter) (Stats, error)
	// State returns the state of all elections at a given time.
	State(ctx context.Context, at time.Time) (State, error)
	// Observations and Actions return all items in a range, oldest first.
	Observations(ctx context.Context, r Range) ([]Observation, error)
	Actions(ctx context.Context, r Range) ([]Action, error)
	// Elections returns the elections, sorted by key.
	Elections(ctx context.Context) ([]Election, error)
	Close() error
}

// Range is a time range. A zero time means no limit.
type Range struct {
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// Filter selects elections and a time range.
type Filter struct {
	Range
	// Names are the names or keys of elections. An empty list selects all elections.
	Names []string
	// Datacenters selects elections by datacenter. An empty list selects all elections.
	Datacenters []string
}

// Cursor is a position in a list, and the order of the items after it. It remains valid when items are added or deleted.
// The empty cursor selects the newest items, newest first.
type Cursor string

// Oldest selects the oldest items, oldest first.
const Oldest Cursor = "n0.0"

// EventQuery selects a page of events.
type EventQuery struct {
	Filter
	// Types and Causes select events. An empty list selects all events.
	Types  []election.EventType
	Causes []election.Cause
	// Page is the cursor of the page.
	Page Cursor
	// Limit is the maximum number of events; 0 means 100.
	Limit int
}

// TermQuery selects a page of terms that overlap a time range, in the order of their beginnings. Types are ignored.
type TermQuery = EventQuery

// Page is one page of a list.
type Page[T any] struct {
	Items []T
	// Next is the cursor of the next page. More is set if that page has items. Otherwise, unless the newest items came first,
	// Next selects the items that are stored later.
	Next Cursor
	More bool
}

// EventPage is one page of events.
type EventPage = Page[election.Event]

// TermPage is one page of terms.
type TermPage = Page[Term]

// Term is a term with its election.
type Term struct {
	Election   string `json:"election"`
	Key        string `json:"key"`
	Datacenter string `json:"datacenter"`
	election.Term
	// Lasted is the observed duration of a term that has ended. It is a lower bound if StartKnown is false or SeenUntil is
	// set.
	Lasted *Seconds `json:"held_seconds,omitempty"`
	// Vacancy is how long no session held the key after the term, or nil if its start or its end was not observed.
	Vacancy *Seconds `json:"vacancy_seconds,omitempty"`
	// Next is the beginning of the next term, not before NextNotBefore: they are equal if it was observed. NextNotBefore is
	// zero if terms were missed in between, or nothing was observed.
	Next          time.Time `json:"next_from,omitzero"`
	NextNotBefore time.Time `json:"next_not_before,omitzero"`
	// LockDelayUntil is the estimated end of the lock-delay after the term.
	LockDelayUntil time.Time `json:"lock_delay_until,omitzero"`
}

// After returns the outage after the term, or nil if no term followed or nothing is known about it.
func (t *Term) After() *election.Outage {
	if t.Next.IsZero() || t.NextNotBefore.IsZero() && t.AliveUntil.IsZero() {
		return nil
	}
	return t.Outage(&election.Term{Start: t.Next, NotBefore: t.NextNotBefore})
}

// MarshalJSON adds the outage after the term.
func (t Term) MarshalJSON() ([]byte, error) {
	type plain Term
	return json.Marshal(struct {
		plain
		*election.Outage
	}{plain(t), t.After()})
}

// Results of an action.
const (
	ResultDone        = "done"
	ResultFailed      = "failed"
	ResultUnconfirmed = "unconfirmed" // the write may have been applied
)

// Action is an action that an operator performed with electop.
type Action struct {
	Time time.Time `json:"time"`
	// By is the operator, as user@host.
	By         string              `json:"by"`
	Kind       election.ActionKind `json:"action"`
	Datacenter string              `json:"datacenter"`
	// Key is empty for a destroy, which ends every hold of the session.
	Key string `json:"key,omitempty"`
	// Session is empty for an action on a key that no session holds.
	Session     string `json:"session"`
	CreateIndex uint64 `json:"create_index,omitempty"`
	Term        uint64 `json:"term,omitempty"`
	Leader      string `json:"leader,omitempty"`
	Node        string `json:"node,omitempty"`
	// Result is done, failed or unconfirmed. Detail is one line about the result.
	Result string `json:"result"`
	Detail string `json:"detail,omitempty"`
}

// Valid reports whether an action from another process names what it did, where, and with which result.
func (a *Action) Valid() bool {
	result := a.Result == ResultDone || a.Result == ResultFailed || a.Result == ResultUnconfirmed
	return result && a.CreateIndex|a.Term < 1<<63 && (a.Kind == election.ActionRelease || a.Kind == election.ActionDestroy) && a.Session != "" && a.By != "" && a.Datacenter != ""
}

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
	// Known also contains the elections that only earlier observers watched, as they left them. A recorder does not
	// send these.
	Known []*election.Election `json:"-"`
}

// MarshalJSON encodes the elections in the form of [election.Election.Record].
func (s State) MarshalJSON() ([]byte, error) {
	type state State
	return json.Marshal(struct {
		state
		Elections []any `json:"elections"`
	}{state(s), election.Map(s.Elections, func(e *election.Election) any { return e.Record(s.At) })})
}

// Summary contains statistics of the terms and vacancies of one or more elections.
type Summary struct {
	Election   string `json:"election,omitempty"`
	Key        string `json:"key,omitempty"`
	Datacenter string `json:"datacenter,omitempty"`
	// FirstSeen is when the key was first seen in the range.
	FirstSeen time.Time `json:"first_seen,omitzero"`
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
	// observed, and the least also if a last sign of life is unknown.
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
