package history

import (
	"context"
	"errors"
	"strconv"
	"time"

	"electop/election"
)

// ErrNoElection reports that no election of the history has the name.
var ErrNoElection = errors.New("no such election in the history")

// ErrCursor reports that a cursor is invalid.
var ErrCursor = errors.New("history: invalid cursor")

// Election identifies an election of the history.
type Election struct{ Name, Key string }

// Source is a readable history: a file, or that of a remote recorder. Its methods are safe for concurrent use.
type Source interface {
	// Events returns a page of events, newest first.
	Events(ctx context.Context, q EventQuery) (EventPage, error)
	// Terms returns a page of terms, those that began last first.
	Terms(ctx context.Context, q TermQuery) (TermPage, error)
	// Stats returns statistics of terms and vacancies.
	Stats(ctx context.Context, f Filter) (Stats, error)
	// State returns the state of all elections at a moment.
	State(ctx context.Context, q StateQuery) (State, error)
	// Observations and Actions return lists, oldest first.
	Observations(ctx context.Context, r Range) ([]Observation, error)
	Actions(ctx context.Context, r Range) ([]Action, error)
	Close() error
}

// Range is a range of time; a zero time means no limit.
type Range struct{ Since, Until time.Time }

// Filter selects elections and a range of time.
type Filter struct {
	Range
	// Names are names or keys of elections; none means all.
	Names []string
}

// Cursor is a position between two items of a list. It stays valid while items are added and deleted. An empty cursor
// is the newest end.
type Cursor string

// CursorAt returns the cursor before the oldest event, or term, at or after a time.
func CursorAt(t time.Time) Cursor {
	if t.IsZero() {
		return "0.0"
	}
	return Cursor(strconv.FormatInt(t.UnixNano(), 10) + ".0")
}

// EventQuery selects a page of events.
type EventQuery struct {
	Filter
	// Types and Causes limit the events to these; none means all.
	Types  []election.EventType
	Causes []election.Cause
	// Before selects events older than the cursor, After events newer than it, the closest ones first.
	Before, After Cursor
	// Limit is the maximum number of events; 0 means 100.
	Limit int
}

// EventPage is a part of the events, newest first.
type EventPage struct {
	Events []election.Event
	// Older and Newer are the cursors of the adjacent pages. Newer is set even if there is no newer event yet: it
	// selects events that are added later.
	Older, Newer Cursor
	// More is set if there are more events in the direction of the query.
	More bool
}

// TermQuery selects a page of terms that overlap a range of time.
type TermQuery struct {
	Filter
	Causes []election.Cause
	// Before selects terms that began before the cursor, After those that began after it, the closest ones first.
	Before, After Cursor
	// Limit is the maximum number of terms; 0 means 100.
	Limit int
}

// TermPage is a part of the terms, those that began last first.
type TermPage struct {
	Terms []Term
	// Older and Newer are the cursors of the adjacent pages.
	Older, Newer Cursor
	// More is set if there are more terms in the direction of the query.
	More bool
}

// Term is a term with its election.
type Term struct {
	election.Term
	Election   string
	Key        string
	Datacenter string
	// By is user@host of the operator that ended the term with electop.
	By string
	// Vacancy is how long no session held the key after the term, if both its start and its end were observed.
	Vacancy      time.Duration
	VacancyKnown bool
	// LockDelayUntil is the estimated end of the lock-delay after the term.
	LockDelayUntil time.Time
}
