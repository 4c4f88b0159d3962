package election

import (
	"encoding/json"
	"time"
)

// EventType says what happened to an election, or to the link to Consul.
type EventType string

// The types of events. A semaphore has no leader and therefore no terms: [Entered]
// and [Left] tell of its holders instead. In its initial state each holder has
// entered; one [Left] without a session says that it has none.
const (
	Elected            EventType = "elected"     // a term began
	Vacated            EventType = "vacated"     // a term ended
	Updated            EventType = "updated"     // the holder changed the value
	Overwritten        EventType = "overwritten" // a client wrote the key without the lock
	Deleted            EventType = "deleted"     // the key is gone
	Missed             EventType = "missed"      // terms that were not observed
	Explained          EventType = "explained"   // why a term ended
	Unreadable         EventType = "unreadable"  // the token lost the permission to read the key
	Readable           EventType = "readable"    // the token regained it
	Entered            EventType = "entered"     // a session took a slot of a semaphore
	Left               EventType = "left"        // a session no longer has one
	ConnectionLost     EventType = "connection_lost"
	ConnectionRestored EventType = "connection_restored"
)

// Cause says why a term ended.
type Cause string

// The causes. Consul does not tell an expired TTL from a session that was
// destroyed, hence [SessionExpiredOrDestroyed].
const (
	Released                  Cause = "released"
	CheckCritical             Cause = "check_critical"
	CheckGone                 Cause = "check_gone"
	NodeGone                  Cause = "node_gone"
	SessionDestroyed          Cause = "session_destroyed"
	SessionExpiredOrDestroyed Cause = "session_expired_or_destroyed"
	KeyDeleted                Cause = "key_deleted"
	OperatorRelease           Cause = "operator_release"
	OperatorDestroy           Cause = "operator_destroy"
	Unknown                   Cause = "unknown"
)

// Event is something that happened to an election, with the observer's clock.
// Which fields are set depends on the type; zero means that it does not apply.
type Event struct {
	Time       time.Time
	Type       EventType
	Election   string
	Key        string
	Datacenter string
	// Term and CreateIndex name the term that began, ended or is explained.
	Term        uint64
	CreateIndex uint64
	// ModifyIndex is that of the key in the latest read that shows what the event
	// is about: of [Vacated], [Explained] and [Deleted] the last one before the end.
	// It identifies the event among those of several observers. JSON omits it.
	ModifyIndex uint64
	// Leader is the label of whoever leads, led or is explained; for [Entered] and
	// [Left] the name of the holder's session, empty if that was not read.
	Leader  string
	Session string
	Node    string
	// Vacancy is how long nobody led before this term; VacancyKnown says
	// whether both ends of it were seen.
	Vacancy time.Duration
	// Held is how long the ended term lasted; HeldKnown is false when only its
	// end was seen and Held is the least it can have been.
	Held time.Duration
	// SeenUntil is set when the term ended while no observer watched: it ended at
	// some moment between then and Time. JSON omits it.
	SeenUntil time.Time

	// The booleans stand side by side because they take less room so.

	VacancyKnown, HeldKnown bool
	// Initial marks the state in which an election was found.
	Initial bool
	// Guess says that Cause is one, see [Explanation].
	Guess bool
	// Gap says that the key was not observed all the time before: the change
	// happened at some moment before Time. JSON omits it.
	Gap bool
	// Restored says that no write led to this state: Consul's data was lost or
	// restored, so that indexes may repeat. JSON omits it.
	Restored bool

	// Cause and Evidence belong to [Explained].
	Cause    Cause
	Evidence string
	// LockDelayUntil estimates when Consul accepts a new holder.
	LockDelayUntil time.Time
	// Count is the number of missed terms, or of the elections that became
	// unreadable or readable at once. Then Key is empty, and all elections whose
	// keys begin with Prefix are meant.
	Count  uint64
	Prefix string
	// Holders and Limit are what a semaphore's key says after the change.
	Holders, Limit int
	// Error is why the connection was lost.
	Error string
}

type eventJSON struct {
	Time           string    `json:"time"`
	Type           EventType `json:"type"`
	Election       string    `json:"election,omitempty"`
	Key            string    `json:"key,omitempty"`
	Datacenter     string    `json:"datacenter,omitempty"`
	Initial        bool      `json:"initial,omitempty"`
	Term           *uint64   `json:"term,omitempty"`
	CreateIndex    uint64    `json:"create_index,omitempty"`
	Leader         string    `json:"leader,omitempty"`
	Session        string    `json:"session,omitempty"`
	Name           string    `json:"name,omitempty"`
	Node           string    `json:"node,omitempty"`
	Vacancy        string    `json:"vacancy,omitempty"`
	Held           string    `json:"held,omitempty"`
	HeldKnown      *bool     `json:"held_known,omitempty"`
	Holders        *int      `json:"holders,omitempty"`
	Limit          int       `json:"limit,omitempty"`
	Cause          Cause     `json:"cause,omitempty"`
	Evidence       string    `json:"evidence,omitempty"`
	Guess          bool      `json:"guess,omitempty"`
	LockDelayUntil string    `json:"lock_delay_until,omitempty"`
	Count          uint64    `json:"count,omitempty"`
	Prefix         *string   `json:"prefix,omitempty"`
	Error          string    `json:"error,omitempty"`
}

// timeFormat is RFC 3339 in UTC with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z"

// FormatTime writes a time as all of electop's JSON does: RFC 3339 with
// milliseconds, in UTC; empty for the zero time.
func FormatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(timeFormat)
}

// FormatDuration writes a duration as Go prints it, in whole milliseconds.
func FormatDuration(d time.Duration) string { return d.Round(time.Millisecond).String() }

// MarshalJSON writes the event as `electop watch -o json` does.
func (e Event) MarshalJSON() ([]byte, error) {
	j := eventJSON{
		Time: FormatTime(e.Time), Type: e.Type, Election: e.Election, Key: e.Key, Datacenter: e.Datacenter,
		Initial: e.Initial, CreateIndex: e.CreateIndex, Leader: e.Leader, Session: e.Session, Node: e.Node,
		Cause: e.Cause, Evidence: e.Evidence, Guess: e.Guess, LockDelayUntil: FormatTime(e.LockDelayUntil),
		Count: e.Count, Error: e.Error,
	}
	if e.Key != "" {
		j.Term = &e.Term
	}
	if e.VacancyKnown {
		j.Vacancy = FormatDuration(e.Vacancy)
	}
	switch {
	case e.Type == Vacated && !e.Initial:
		j.Held, j.HeldKnown = FormatDuration(e.Held), &e.HeldKnown
	case e.OfSlot():
		j.Leader, j.Name, j.Term = "", e.Leader, nil
		j.Holders, j.Limit = &e.Holders, e.Limit
	case e.Key == "" && (e.Type == Unreadable || e.Type == Readable):
		j.Prefix = &e.Prefix
	}
	return json.Marshal(j)
}

// ElectionID is the [Election.ID] of the event's election, empty if it has none.
func (e Event) ElectionID() string { return electionID(e.Key, e.CreateIndex, !Addressable(e.Key)) }

// OfSlot reports an event about a holder of a semaphore.
func (e Event) OfSlot() bool { return e.Type == Entered || e.Type == Left }

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Event) UnmarshalJSON(text []byte) error {
	var j eventJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	*e = Event{
		Type: j.Type, Election: j.Election, Key: j.Key, Datacenter: j.Datacenter, Initial: j.Initial,
		CreateIndex: j.CreateIndex, Leader: j.Leader, Session: j.Session, Node: j.Node,
		Cause: j.Cause, Evidence: j.Evidence, Guess: j.Guess, Count: j.Count, Limit: j.Limit, Error: j.Error,
		VacancyKnown: j.Vacancy != "", HeldKnown: j.HeldKnown != nil && *j.HeldKnown,
	}
	if j.Term != nil {
		e.Term = *j.Term
	}
	if j.Holders != nil {
		e.Leader, e.Holders = j.Name, *j.Holders
	}
	if j.Prefix != nil {
		e.Prefix = *j.Prefix
	}
	return e.parseTimes(j)
}

func (e *Event) parseTimes(j eventJSON) error {
	for _, f := range []struct {
		text string
		into *time.Time
	}{{j.Time, &e.Time}, {j.LockDelayUntil, &e.LockDelayUntil}} {
		if f.text == "" {
			continue
		}
		t, err := time.Parse(time.RFC3339Nano, f.text)
		if err != nil {
			return err
		}
		*f.into = t
	}
	for _, f := range []struct {
		text string
		into *time.Duration
	}{{j.Vacancy, &e.Vacancy}, {j.Held, &e.Held}} {
		if f.text == "" {
			continue
		}
		d, err := time.ParseDuration(f.text)
		if err != nil {
			return err
		}
		*f.into = d
	}
	return nil
}
