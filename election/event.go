package election

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"electop/election/sanitize"
)

// EventType is the type of an event of an election or of the connection to Consul.
type EventType string

// The types of events. A semaphore has no terms: [Entered] and [Left] report its holders. Its initial state is one
// [Entered] per holder, or one [Left] without a session if there is no holder.
const (
	Elected            EventType = "elected"     // a term began
	Vacated            EventType = "vacated"     // a term ended
	Updated            EventType = "updated"     // the holder changed the value
	Overwritten        EventType = "overwritten" // a client wrote the key without the lock
	Deleted            EventType = "deleted"     // the key was deleted
	Missed             EventType = "missed"      // terms began and ended without being observed
	Explained          EventType = "explained"   // the cause of an ended term is known
	Unreadable         EventType = "unreadable"  // the token lost the permission to read the key
	Readable           EventType = "readable"    // the token regained the permission to read the key
	Entered            EventType = "entered"     // a session acquired a slot of a semaphore
	Left               EventType = "left"        // a session released or lost its slot of a semaphore
	ConnectionLost     EventType = "connection_lost"
	ConnectionRestored EventType = "connection_restored"
)

// ReplacedFlags tells that a write without the lock has replaced the flags. It returns "" if they are equal.
func ReplacedFlags(from, to uint64) string {
	if from == to {
		return ""
	}
	return fmt.Sprintf("flags %d → %d", from, to)
}

// EventTypes lists all types.
func EventTypes() []EventType {
	return []EventType{
		Elected, Vacated, Updated, Overwritten, Deleted, Missed, Explained, Unreadable, Readable, Entered, Left,
		ConnectionLost, ConnectionRestored,
	}
}

// Causes lists all causes.
func Causes() []Cause {
	return []Cause{
		Released, CheckCritical, CheckGone, NodeGone, SessionDestroyed, SessionExpired, SessionExpiredOrDestroyed, KeyDeleted,
		OperatorRelease, OperatorDestroy, Unknown,
	}
}

// Cause is the reason why a term ended.
type Cause string

// The causes. [SessionExpiredOrDestroyed] is one cause because Consul does not distinguish an expired TTL from a
// destroyed session.
const (
	Released                  Cause = "released"
	CheckCritical             Cause = "check_critical"
	CheckGone                 Cause = "check_gone"
	NodeGone                  Cause = "node_gone"
	SessionDestroyed          Cause = "session_destroyed"
	SessionExpired            Cause = "session_expired"
	SessionExpiredOrDestroyed Cause = "session_expired_or_destroyed"
	KeyDeleted                Cause = "key_deleted"
	OperatorRelease           Cause = "operator_release"
	OperatorDestroy           Cause = "operator_destroy"
	Unknown                   Cause = "unknown"
)

// Text names the cause. guess is set if the evidence does not prove it.
func (c Cause) Text(guess bool) string {
	name := string(cmp.Or(c, Unknown))
	if guess {
		return "probably " + name
	}
	return name
}

// ByOperator reports whether electop ended the term.
func (c Cause) ByOperator() bool { return c == OperatorRelease || c == OperatorDestroy }

// EndsSession reports whether the cause implies that the session ended.
func (c Cause) EndsSession() bool {
	return slices.Contains([]Cause{
		CheckCritical, CheckGone, NodeGone, SessionDestroyed, SessionExpired, SessionExpiredOrDestroyed, OperatorDestroy,
	}, c)
}

// Event is a change in an election or in the connection to Consul. Time is a reading of the observer's clock. The type
// determines which fields are set; a zero field does not apply.
type Event struct {
	Time       time.Time `json:"-"`
	Type       EventType `json:"type"`
	Election   string    `json:"election,omitempty"`
	Key        string    `json:"key,omitempty"`
	Datacenter string    `json:"datacenter,omitempty"`
	// Term and CreateIndex identify the term that began, ended or is explained.
	Term        uint64 `json:"-"`
	CreateIndex uint64 `json:"create_index,omitempty"`
	// ModifyIndex is the key's ModifyIndex in the read that shows the change. For [Vacated], [Explained] and [Deleted],
	// it is that of the last read before the term ended or the key was deleted. If terms are revisions, it is the revision
	// of the change. All observers report the same index for an event.
	ModifyIndex uint64 `json:"modify_index,omitempty"`
	// Leader is the label of the current or former leader. For [Entered] and [Left] it is the name of the holder's
	// session, or empty if the session was not read.
	Leader  string `json:"leader,omitempty"`
	Session string `json:"session,omitempty"`
	Node    string `json:"node,omitempty"`
	// Vacancy is the time without a leader before this term. VacancyKnown is set if the beginning and the end of the
	// vacancy were observed.
	Vacancy time.Duration `json:"-"`
	// Held is the duration of the ended term. If HeldKnown is false, the beginning or the end of the term was not
	// observed, and Held is a lower bound.
	Held time.Duration `json:"-"`
	// SeenUntil is set if the change happened while the key was not observed, between SeenUntil and Time.
	SeenUntil time.Time `json:"-"`

	// AliveUntil is the last certain sign of life of the leader whose term is explained, or of the leader before this term.
	AliveUntil time.Time `json:"-"`

	// Adjacent booleans take less memory.

	VacancyKnown, HeldKnown bool `json:"-"`
	// Initial is set if the event reports the state at the first read.
	Initial bool `json:"initial,omitempty"`
	// Guess is set if the evidence does not prove Cause.
	Guess bool `json:"guess,omitempty"`
	// Gap is set if observation of the key was interrupted before this event: the change happened at an unknown time
	// before Time.
	Gap bool `json:"gap,omitempty"`
	// Restored is set if the change results from a restored snapshot or from data loss in Consul, not from a write.
	// Indexes may then repeat.
	Restored bool `json:"restored,omitempty"`

	// Cause and Evidence are set for [Explained]. The Evidence of [Overwritten] is "" or a text of [ReplacedFlags].
	Cause    Cause  `json:"cause,omitempty"`
	Evidence string `json:"evidence,omitempty"`
	// By is the operator who ended the term with electop, as user@host.
	By string `json:"by,omitempty"`
	// LockDelayUntil is the estimated end of the lock-delay.
	LockDelayUntil time.Time `json:"-"`
	// Count is the number of missed terms.
	Count uint64 `json:"count,omitempty"`
	// Holders and Limit are the numbers of a semaphore's holders and slots after the change.
	Holders, Limit int `json:"-"`
	// Error is the reason why the connection was lost.
	Error string `json:"error,omitempty"`
}

type plainEvent Event

// eventJSON contains the fields of an event whose JSON form depends on its type, or is not the default form.
type eventJSON struct {
	Time stamp `json:"time"`
	plainEvent
	Term           *uint64 `json:"term,omitempty"`
	Name           string  `json:"name,omitempty"`
	Vacancy        string  `json:"vacancy,omitempty"`
	VacancyMS      *int64  `json:"vacancy_ms,omitempty"`
	Held           string  `json:"held,omitempty"`
	HeldMS         *int64  `json:"held_ms,omitempty"`
	HeldKnown      *bool   `json:"held_known,omitempty"`
	Holders        *int    `json:"holders,omitempty"`
	Limit          int     `json:"limit,omitempty"`
	SeenUntil      stamp   `json:"seen_until,omitzero"`
	LockDelayUntil stamp   `json:"lock_delay_until,omitzero"`
	AliveUntil     stamp   `json:"alive_until,omitzero"`
	*Outage
}

// timeFormat is RFC 3339 in UTC with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z"

// MarshalJSON encodes the event as `electop watch -o json` prints it.
func (e Event) MarshalJSON() ([]byte, error) {
	j := eventJSON{
		plainEvent: plainEvent(e), Time: stamp{e.Time}, SeenUntil: stamp{e.SeenUntil}, LockDelayUntil: stamp{e.LockDelayUntil},
		AliveUntil: stamp{e.AliveUntil},
	}
	if e.Key != "" {
		j.Term = &e.Term
	}
	if e.VacancyKnown {
		j.Vacancy, j.VacancyMS = durationJSON(e.Vacancy)
		j.Outage = e.outage()
	}
	switch {
	case e.Type == Vacated && !e.Initial:
		j.Held, j.HeldMS = durationJSON(e.Held)
		j.HeldKnown = &e.HeldKnown
	case e.OfSlot():
		j.Leader, j.Name, j.Term = "", e.Leader, nil
		j.Holders, j.Limit = &e.Holders, e.Limit
	}
	return json.Marshal(j)
}

// outage returns the outage that a term ended.
func (e *Event) outage() *Outage { return NewOutage(e.AliveUntil, e.Time.Add(-e.Vacancy), e.Time) }

// TermID identifies a term.
type TermID struct {
	Datacenter, Key, Session string
	Term, CreateIndex        uint64
}

// TermID identifies the term of the event.
func (e *Event) TermID() TermID {
	return TermID{e.Datacenter, e.Key, e.Session, e.Term, e.CreateIndex}
}

// OfSlot reports whether the event is about a slot of a semaphore.
func (e Event) OfSlot() bool { return e.Type == Entered || e.Type == Left }

// UnmarshalJSON decodes the output of MarshalJSON.
func (e *Event) UnmarshalJSON(text []byte) error {
	var j eventJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	*e = Event(j.plainEvent)
	e.Time, e.SeenUntil, e.LockDelayUntil, e.AliveUntil = j.Time.Time, j.SeenUntil.Time, j.LockDelayUntil.Time, j.AliveUntil.Time
	e.Limit, e.VacancyKnown, e.HeldKnown = j.Limit, j.Vacancy != "", j.HeldKnown != nil && *j.HeldKnown
	if j.Term != nil {
		e.Term = *j.Term
	}
	if j.Holders != nil {
		e.Leader, e.Holders = j.Name, *j.Holders
	}
	return errors.Join(parseDuration(j.Vacancy, &e.Vacancy), parseDuration(j.Held, &e.Held))
}

// Summary describes the event in one line, without its time, election and type. The line is safe to print.
func (e Event) Summary() string { return strings.Join(e.Parts(e.Time.Local()), " · ") }

// Parts returns the parts of the summary: for most events the leader with its term first. now selects the format of
// times.
func (e Event) Parts(now time.Time) []string {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	add(e.who())
	if e.Type == Missed {
		add(Plural(e.Count, "term") + " not observed")
	}
	add(e.Between(now)) // before the rest, because a narrow list omits the last parts
	switch e.Type {
	case Elected:
		if e.VacancyKnown && e.Vacancy > 0 {
			text := AfterVacancy(e.Vacancy) + " without a leader"
			if !e.AliveUntil.IsZero() || e.Vacancy >= time.Second { // the cause of a short vacancy may not be known yet
				text += e.outage().Beside(nil)
			}
			add(text)
		}
	case Vacated:
		if e.HeldKnown {
			add("led for " + FormatDuration(e.Held))
		} else if e.Held > 0 {
			add("led for at least " + FormatDuration(e.Held))
		}
	case Overwritten:
		add("a client wrote the key without the lock")
		add(e.Evidence)
	case Deleted:
		add("the key was deleted")
	case Explained:
		parts = append(parts, e.explanation()...)
	case ConnectionLost:
		parts = append(parts, sanitize.Line(e.Error, EvidenceLength)) // even without an error
	case Unreadable:
		add("this token can no longer read the key")
	case Readable:
		add("this token can read the key again")
	case Entered, Left:
		add(fmt.Sprintf("%d of %s taken", e.Holders, Plural(max(0, e.Limit), "slot")))
	case Missed, Updated, ConnectionRestored:
	}
	if e.Initial {
		add("initial state")
	}
	return parts
}

// Between describes when the change happened if it was not observed, or returns "". See [Between].
func (e Event) Between(now time.Time) string {
	if e.SeenUntil.IsZero() && !e.Gap || e.Initial || e.Type == Explained {
		return ""
	}
	return Between(e.SeenUntil, e.Time, now)
}

// who returns the leader, its term and its node, or "no leader" for the initial event of an election without a
// leader, or the session that entered or left.
func (e Event) who() string {
	who := e.Leader + ", " + TermText(e.Term, e.CreateIndex, e.Session)
	switch {
	case e.OfSlot() && e.Session == "":
		return "no holder"
	case e.OfSlot():
		if who = "session " + ShortID(e.Session); e.Leader != "" {
			who = Label(e.Leader) + ", " + who
		}
	case e.Leader == "" && e.Type == Vacated:
		return "no leader"
	case e.Leader == "":
		return ""
	}
	if e.Node != "" && (e.OfSlot() || e.Type == Elected && !NamesNode(e.Leader, e.Node)) {
		who += ", " + Label(e.Node)
	}
	return who
}

func (e Event) explanation() []string {
	parts := []string{e.Cause.Text(e.Guess)}
	if e.Evidence != "" {
		parts = append(parts, sanitize.Line(e.Evidence, EvidenceLength))
	}
	if !e.LockDelayUntil.IsZero() {
		end := e.LockDelayUntil.Local().Format(time.TimeOnly)
		text := "lock-delay until about " + end
		if !e.SeenUntil.IsZero() { // the session ended earlier
			text = "lock-delay until " + end + " at the latest"
		}
		parts = append(parts, text)
	}
	return parts
}

// EvidenceLength is the maximum length of a check's output in an explanation, in runes.
const EvidenceLength = 200
