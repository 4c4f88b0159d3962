package history

import (
	"context"
	"errors"
	"time"

	"electop/election"
)

// ErrNoElection says that no election of the history has the name.
var ErrNoElection = errors.New("no such election in the history")

// Source is a history that can be read: a file, or that of a recorder elsewhere. Its
// methods may be called at the same time.
type Source interface {
	// Events gives a page of events, newest first.
	Events(ctx context.Context, q EventQuery) (EventPage, error)
	// Terms gives a page of terms, the latest beginning first.
	Terms(ctx context.Context, q TermQuery) (TermPage, error)
	// Stats sums up terms and vacancies.
	Stats(ctx context.Context, f Filter) (Stats, error)
	// State is what was known of all elections at a moment.
	State(ctx context.Context, q StateQuery) (State, error)
	// Observations and Actions are listed oldest first.
	Observations(ctx context.Context, r Range) ([]Observation, error)
	Actions(ctx context.Context, r Range) ([]Action, error)
	Close() error
}

// Range is a range of time; the zero time is no limit.
type Range struct{ Since, Until time.Time }

// Filter chooses elections and a range of time.
type Filter struct {
	Range
	// Names are names or keys of elections; none means all.
	Names []string
}

// Cursor is a place between two items of a list. It stays valid while items are
// added and deleted. Empty is the newest end.
type Cursor string

// EventQuery chooses a page of events.
type EventQuery struct {
	Filter
	// Types and Causes limit the events to these; none means all.
	Types  []election.EventType
	Causes []election.Cause
	// Before selects the events that are older than the cursor, After those that are
	// newer and next to it.
	Before, After Cursor
	// Limit is the most to give; 0 means 100.
	Limit int
}

// EventPage is a part of the events, newest first.
type EventPage struct {
	Events []election.Event
	// Older and Newer are where the pages on both sides begin. Newer is set even
	// if there is none yet: it selects what is added later.
	Older, Newer Cursor
	// More says that there are more events in the direction of the query.
	More bool
}

// TermQuery chooses a page of terms that overlap a range of time.
type TermQuery struct {
	Filter
	Causes []election.Cause
	Before Cursor
	// Limit is the most to give; 0 means 100.
	Limit int
}

// TermPage is a part of the terms, the latest beginning first.
type TermPage struct {
	Terms []Term
	Older Cursor
	More  bool
}

// Term is a term with its election.
type Term struct {
	election.Term
	Election   string
	Key        string
	Datacenter string
	// By is user@host of the operator that ended it with electop.
	By string
	// Vacancy is how long no session held the key after it, where both ends of
	// that were observed.
	Vacancy      time.Duration
	VacancyKnown bool
	// LockDelayUntil estimates until when Consul rejected acquires after it.
	LockDelayUntil time.Time
}
