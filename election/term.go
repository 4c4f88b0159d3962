package election

import (
	"fmt"
	"strings"
	"time"
)

// Term is one uninterrupted hold of one key by one session.
type Term struct {
	// Number is the key's LockIndex when the term was first observed; see [TermText]. It is unique within CreateIndex. 0 means that a
	// client wrote the key without the lock before observation started.
	Number      uint64 `json:"term"`
	CreateIndex uint64 `json:"create_index"`
	Session     string `json:"session"`
	// Leader is the leader's label. Node is the leader's node, or empty if the session was not read.
	Leader string `json:"leader"`
	Node   string `json:"node,omitempty"`
	// Start is the time at which the term was first observed. If StartKnown is false, the term may have begun earlier.
	Start      time.Time `json:"from"`
	StartKnown bool      `json:"from_known"`
	// NotBefore is set if the beginning was not observed although the previous state of the key is known: the term began
	// between NotBefore and Start.
	NotBefore time.Time `json:"not_before,omitzero"`
	// Guess is set if the evidence does not prove Cause.
	Guess bool `json:"guess,omitempty"`
	// End is the time at which the end was observed, or zero while the term lasts.
	End time.Time `json:"to,omitzero"`
	// SeenUntil is set if the term ended while the key was not observed. The term then ended between SeenUntil and
	// End.
	SeenUntil time.Time `json:"seen_until,omitzero"`
	// Cause and Evidence explain the end of the term. They are empty until the cause is known.
	Cause    Cause  `json:"cause,omitempty"`
	Evidence string `json:"evidence,omitempty"`
	// AliveUntil is the last certain sign of life of the leader (see [Term.LastSign]). It is zero until the cause is known.
	AliveUntil time.Time `json:"alive_until,omitzero"`
	// By is the operator who ended the term with electop, as user@host.
	By string `json:"by,omitempty"`
}

// TermText names a term: "term 118", or "rev 20517" if its number is the revision that created its key. LockIndex can
// equal CreateIndex in Consul, but the ID of a session is then a UUID.
func TermText(number, createIndex uint64, session string) string {
	switch {
	case number == 0: // a client wrote the key without the lock before electop first read it
		return "term unknown"
	case number == createIndex && !strings.Contains(session, "-"):
		return fmt.Sprintf("rev %d", number)
	}
	return fmt.Sprintf("term %d", number)
}

// Over reports whether the term has ended.
func (t Term) Over() bool { return !t.End.IsZero() }

// Held returns how long the term lasted, or has lasted until now. It returns a lower bound if HeldKnown is false.
func (t Term) Held(now time.Time) time.Duration {
	if t.Over() {
		now = t.LastSeen()
	}
	return max(0, now.Sub(t.Start))
}

// LastSeen returns the time at which an ended term ended or, if that was not observed, was last observed.
func (t Term) LastSeen() time.Time {
	if t.SeenUntil.IsZero() {
		return t.End
	}
	return t.SeenUntil
}

// HeldKnown reports whether the beginning and the end of the term were observed.
func (t Term) HeldKnown() bool { return t.StartKnown && t.SeenUntil.IsZero() }

// MissedUntil returns the number of unobserved terms between an ended and a later observed term, according to their
// numbers. It is 0 if the numbers are revisions.
func (t Term) MissedUntil(next *Term) uint64 {
	before := t.Number
	if next.CreateIndex != t.CreateIndex {
		before = 0
	}
	if next.Number <= before+1 || before == 0 && next.CreateIndex == t.CreateIndex || next.Number == next.CreateIndex {
		return 0
	}
	return next.Number - before - 1
}

// From describes when the term began, in the time zone of now. at formats a known time.
func (t Term) From(now time.Time, at func(time.Time) string) string {
	switch {
	case t.StartKnown:
		return at(t.Start)
	case !t.NotBefore.IsZero():
		return Between(t.NotBefore, t.Start, now)
	}
	return "before " + at(t.Start)
}

// To describes when the term ended, in the time zone of now. at formats a known time.
func (t Term) To(now time.Time, at func(time.Time) string) string {
	if t.SeenUntil.IsZero() {
		return at(t.End)
	}
	return Between(t.SeenUntil, t.End, now)
}

// Between describes a time that is known only to lie between two times: "between 01:44:36 and 01:45:53", or "before
// 01:45:53" if from is not earlier or unknown. It formats them in the time zone of now, with the date unless both are on
// the day of now.
func Between(from, to, now time.Time) string {
	unknown := from.IsZero() || !from.Before(to)
	if unknown {
		from = to
	}
	from, to = from.In(now.Location()), to.In(now.Location())
	clock, day := time.TimeOnly, now.Format(time.DateOnly)
	if to.Sub(from) < time.Second {
		clock = "15:04:05.000"
	}
	first, second := clock, clock
	if a, b := from.Format(time.DateOnly), to.Format(time.DateOnly); a != day || b != day {
		first = "Jan 02 " + clock
		if from.Year() != now.Year() {
			first = "2006-01-02 " + clock
		}
		if a != b {
			second = first
		}
	}
	if unknown {
		return "before " + to.Format(first)
	}
	return "between " + from.Format(first) + " and " + to.Format(second)
}
