package election

import (
	"encoding/json"
	"time"
	"unicode/utf8"
)

// State is what an election is in at one moment.
type State string

// The states.
const (
	Led         State = "led"
	Vacant      State = "vacant"
	InLockDelay State = "lock_delay" // vacant, and Consul refuses new holders
	// OfSemaphore is the state of a key that has holders and no leader.
	OfSemaphore State = "semaphore"
)

// Election is everything known of one election at one moment. It is immutable:
// a change gives a new one.
type Election struct {
	Name       string
	Datacenter string
	// Pair is the key as last read. When Exists is false it is what was read
	// before the key was deleted.
	Pair Pair
	// Leader is the label of whoever holds the key (see [LeaderLabel]), empty
	// when nobody does.
	Leader string
	// Session is the holder's session, nil while nobody leads or the session
	// could not be read.
	Session *Session
	// LastSession is the session of the latest term that ended, nil when none was
	// seen or the session could not be read.
	LastSession *Session
	// Term is the number of the current term, or of the latest one: LockIndex, or
	// what it was before a client wrote the key without the lock. While the key is
	// held, 0 is unknown: it was never read before such a write.
	Term uint64
	// Since is when the current term was first seen; SinceKnown is false when
	// it may have begun earlier.
	Since time.Time
	// VacantSince is when the key was first seen without a holder, zero while
	// somebody leads; VacantSinceKnown is false when it may have been earlier.
	VacantSince time.Time
	// LockDelayUntil estimates when Consul accepts a new holder; zero when no
	// lock-delay is known of.
	LockDelayUntil time.Time

	// The booleans stand side by side because they take less room so.

	SinceKnown, VacantSinceKnown bool
	Exists                       bool
	// Unreadable is set when the key vanished from the answers because the
	// token may no longer read it: what is shown is old.
	Unreadable bool
	// Unaddressable is set when the key cannot be asked for (see [Addressable]):
	// no action on it is possible, and other keys may look the same.
	Unaddressable bool
	// LockDelayDoubtful is set when it is not known whether a lock-delay follows
	// at all: the last holder may have released the key just before its session
	// ended.
	LockDelayDoubtful bool
	// Terms are the latest terms that were seen, oldest first, the current one
	// last.
	Terms []Term
	// Events are the latest events of this election, oldest first.
	Events []Event
}

// Key is the KV key of the election.
func (e *Election) Key() string { return e.Pair.Key }

// State is what the election is in at the moment now.
func (e *Election) State(now time.Time) State {
	switch {
	case e.Exists && e.Pair.Held():
		return Led
	case e.Exists && e.Pair.OfSemaphore():
		return OfSemaphore
	case now.Before(e.LockDelayUntil):
		return InLockDelay
	}
	return Vacant
}

// Overwritten reports that somebody wrote the key without the lock while it is
// held: LockIndex is 0 under a session.
func (e *Election) Overwritten() bool {
	return e.Exists && e.Pair.Held() && e.Pair.LockIndex == 0
}

// LastTerm is the latest term that ended, nil when none was seen.
func (e *Election) LastTerm() *Term {
	for i := len(e.Terms) - 1; i >= 0; i-- {
		if e.Terms[i].Over() {
			return &e.Terms[i]
		}
	}
	return nil
}

// Changes counts the terms that began in the window before now.
func (e *Election) Changes(now time.Time, window time.Duration) int {
	n := 0
	for _, t := range e.Terms {
		if t.StartKnown && now.Sub(t.Start) <= window {
			n++
		}
	}
	return n
}

// Target names what an operator acts on: one hold of one key, as it was shown.
func (e *Election) Target() Target {
	t := Target{
		Election: e.Name, Key: e.Key(), Session: e.Pair.Session, ModifyIndex: e.Pair.ModifyIndex,
		Leader: e.Leader, Term: e.Term, CreateIndex: e.Pair.CreateIndex, LockIndex: e.Pair.LockIndex,
	}
	if e.Session != nil {
		t.Node, t.Behavior, t.LockDelay = e.Session.Node, e.Session.Behavior, e.Session.EnforcedLockDelay()
	}
	return t
}

// SameHold reports whether a key is still held as the target has it. A holder
// that writes another value goes on holding it. A target without a CreateIndex
// names the hold by its session alone.
func (t Target) SameHold(p Pair) bool {
	return p.Key == t.Key && p.Session == t.Session &&
		(t.CreateIndex == 0 || p.CreateIndex == t.CreateIndex && p.LockIndex == t.LockIndex)
}

// Target binds an operator's action to what was seen when it was chosen: it is
// carried out on exactly this hold or not at all.
type Target struct {
	Election    string
	Key         string
	Session     string
	ModifyIndex uint64
	// CreateIndex and LockIndex tell the term as Consul counts it: a hold of
	// the same session with other ones is another hold.
	CreateIndex, LockIndex uint64
	Term                   uint64
	// Leader, Node, Behavior and LockDelay describe the hold to people; Node
	// and Behavior are empty when the session was not read.
	Leader    string
	Node      string
	Behavior  string
	LockDelay time.Duration
}

type electionJSON struct {
	Election       string  `json:"election"`
	Key            string  `json:"key"`
	Datacenter     string  `json:"datacenter"`
	State          State   `json:"state"`
	Unreadable     bool    `json:"unreadable,omitempty"`
	Unaddressable  bool    `json:"unaddressable,omitempty"`
	Holders        *int    `json:"holders,omitempty"`
	Limit          *int    `json:"limit,omitempty"`
	Leader         string  `json:"leader,omitempty"`
	Value          *string `json:"value,omitempty"`
	ValueBase64    []byte  `json:"value_base64,omitempty"`
	Flags          string  `json:"flags"`
	Term           uint64  `json:"term"`
	CreateIndex    uint64  `json:"create_index"`
	ModifyIndex    uint64  `json:"modify_index"`
	Since          string  `json:"since,omitempty"`
	SinceKnown     *bool   `json:"since_known,omitempty"`
	VacantSince    string  `json:"vacant_since,omitempty"`
	LastLeader     string  `json:"last_leader,omitempty"`
	LockDelayUntil string  `json:"lock_delay_until,omitempty"`
	Session        any     `json:"session,omitempty"`
}

// JSON writes the election as an element of `electop list -o json`. Flags are a
// string because they need all 64 bits.
func (e *Election) JSON(now time.Time) ([]byte, error) {
	return json.Marshal(e.toJSON(now))
}

func (e *Election) toJSON(now time.Time) electionJSON {
	j := electionJSON{
		Election: e.Name, Key: e.Key(), Datacenter: e.Datacenter, State: e.State(now), Leader: e.Leader,
		Flags: formatUint(e.Pair.Flags), Term: e.Term, CreateIndex: e.Pair.CreateIndex,
		ModifyIndex: e.Pair.ModifyIndex, Unreadable: e.Unreadable, Unaddressable: e.Unaddressable,
	}
	if utf8.Valid(e.Pair.Value) {
		text := string(e.Pair.Value)
		j.Value = &text
	} else {
		j.ValueBase64 = e.Pair.Value
	}
	switch j.State {
	case OfSemaphore:
		if slots, ok := e.Pair.Slots(); ok {
			holders := len(slots.Holders)
			j.Holders, j.Limit = &holders, &slots.Limit
		}
		return j
	case Vacant, InLockDelay:
	case Led:
		j.Since, j.SinceKnown = FormatTime(e.Since), &e.SinceKnown
		j.Session = e.sessionForJSON()
		return j
	}
	if e.VacantSinceKnown {
		j.VacantSince = FormatTime(e.VacantSince)
	}
	if last := e.LastTerm(); last != nil {
		j.LastLeader = last.Leader
	}
	if j.State == InLockDelay {
		j.LockDelayUntil = FormatTime(e.LockDelayUntil)
	}
	return j
}

// sessionForJSON names the session by its id alone where it could not be read:
// settings that are not known must not look like none.
func (e *Election) sessionForJSON() any {
	if e.Session == nil {
		return struct {
			ID string `json:"id"`
		}{e.Pair.Session}
	}
	return e.Session
}

// Rights are what the token may do to one hold, as far as Consul tells.
type Rights struct {
	// Known is false when Consul did not say (ACLs are off, or the endpoint
	// does not answer): then everything is tried.
	Known bool
	// Release needs write on the key, Destroy on the session's node.
	Release, Destroy bool
	// ReleaseRule and DestroyRule are the ACL rules that are missing, empty
	// when nothing is.
	ReleaseRule, DestroyRule string
}
