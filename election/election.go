package election

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Election contains the known data of one election. It is immutable: each change creates a new value. The JSON tags are
// those of the fields that only its record contains (see [Election.Record]).
type Election struct {
	Name       string `json:"-"`
	Datacenter string `json:"-"`
	Store      Store  `json:"store,omitzero"`
	// Pair is the key as last read. If Exists is false, the key was deleted and Pair is its last state.
	Pair Pair `json:"-"`
	// Leader is the label of the leader (see [LeaderLabel]), or empty if there is no leader.
	Leader string `json:"-"`
	// Session is the holder's session, or nil if there is no leader or the session has not been read.
	Session *Session `json:"-"`
	// LastSession is the session of the latest term that ended, or nil if no end was observed or the session was not
	// read.
	LastSession *Session `json:"last_session,omitempty"`
	// Term is the LockIndex of the current or latest term. If a client wrote the key without the lock, Term is the
	// LockIndex before that write, or 0 if that LockIndex was not read.
	Term uint64 `json:"-"`
	// Since is the time at which the current term was first observed. If SinceKnown is false, the term may have begun
	// earlier.
	Since time.Time `json:"-"`
	// VacantSince is the time at which the key was first observed without a holder, or zero while there is a leader. If
	// VacantSinceKnown is false, the vacancy may have begun earlier.
	VacantSince time.Time `json:"-"`
	// LockDelayUntil is the estimated end of the lock-delay, or zero if no lock-delay is known.
	LockDelayUntil time.Time `json:"-"`
	// RecordedUntil is the time of the last observation in the history. It is zero once the key has been read from
	// Consul.
	RecordedUntil time.Time `json:"recorded_until,omitzero"`

	// Adjacent booleans take less memory.

	SinceKnown       bool `json:"-"`
	VacantSinceKnown bool `json:"vacant_since_known"`
	Exists           bool `json:"exists"`
	// Unreadable is set if the token lost the permission to read the key. The other fields are then stale.
	Unreadable bool `json:"-"`
	// LockDelayDoubtful is set if it is uncertain whether a lock-delay follows: the last holder may have released the
	// key just before its session ended.
	LockDelayDoubtful bool `json:"lock_delay_doubtful,omitempty"`
	// Candidateless is set if the key has no leader and no candidate was seen. Any change to the key
	// clears it.
	Candidateless bool `json:"candidateless,omitempty"`
	// Unsearched is set if the key was found without a leader and the search for its candidates is pending.
	Unsearched bool `json:"unsearched,omitempty"`
	// Terms are the latest observed terms, oldest first, including the current one.
	Terms []Term `json:"terms"`
	// Events are the latest events of this election, oldest first.
	Events []Event `json:"events,omitempty"`
}

// Key returns the KV key of the election.
func (e *Election) Key() string { return e.Pair.Key }

// Held reports whether a session holds the key.
func (e *Election) Held() bool { return e.Exists && e.Pair.Held() }

// Recorded reports whether the election is known only from the history.
func (e *Election) Recorded() bool { return !e.RecordedUntil.IsZero() }

// Overwritten reports whether a client wrote the held key without the lock: LockIndex is 0 although a session holds
// the key.
func (e *Election) Overwritten() bool {
	return e.Held() && e.Pair.LockIndex == 0
}

// LastTerm returns the latest term that ended, or nil if no end was observed.
func (e *Election) LastTerm() *Term {
	for i := range slices.Backward(e.Terms) {
		if e.Terms[i].Over() {
			return &e.Terms[i]
		}
	}
	return nil
}

// MissedTerms returns the number of unobserved terms after the latest that ended and before the current one, according to
// LockIndex.
func (e *Election) MissedTerms() uint64 {
	last, next := e.LastTerm(), Term{CreateIndex: e.Pair.CreateIndex, Number: e.Pair.LockIndex}
	if last == nil {
		return 0
	}
	if !e.Pair.Held() {
		next.Number++
	}
	return last.MissedUntil(&next)
}

// Node returns the node of the leader, or of the last leader if there is no leader. It returns "" if the node is
// unknown.
func (e *Election) Node() string {
	if e.Session != nil {
		return e.Session.Node
	}
	if n := len(e.Terms); n > 0 && e.Pair.Held() {
		return e.Terms[n-1].Node
	}
	if last := e.LastTerm(); last != nil && e.Leader == "" {
		return last.Node
	}
	return ""
}

// Changes counts the terms that are known to have begun within window before now, except those that an operator's
// action caused. If the beginning of a term was not observed, its earliest possible beginning counts.
func (e *Election) Changes(now time.Time, window time.Duration) (n int) {
	for i := range e.Terms {
		began := e.Terms[i].NotBefore
		if e.Terms[i].StartKnown {
			began = e.Terms[i].Start
		}
		if !began.IsZero() && now.Sub(began) <= window && (i == 0 || !e.Terms[i-1].Cause.ByOperator()) {
			n++
		}
	}
	return n
}

// JSON is the JSON form of an election. Flags are a string because JSON numbers lose precision above 53 bits.
type JSON struct {
	Election    string  `json:"election"`
	Key         string  `json:"key"`
	Datacenter  string  `json:"datacenter"`
	State       State   `json:"state"`
	Unreadable  bool    `json:"unreadable,omitempty"`
	Holders     *int    `json:"holders,omitempty"`
	Limit       *int    `json:"limit,omitempty"`
	Leader      string  `json:"leader,omitempty"`
	Value       *string `json:"value,omitempty"`
	ValueBase64 []byte  `json:"value_base64,omitempty"`
	Flags       uint64  `json:"flags,string"`
	Term        uint64  `json:"term"`
	CreateIndex uint64  `json:"create_index"`
	ModifyIndex uint64  `json:"modify_index"`
	Changes     int     `json:"changes_per_hour"`
	Since       stamp   `json:"since,omitzero"`
	SinceKnown  *bool   `json:"since_known,omitempty"`
	HeldMS      *int64  `json:"held_ms,omitempty"`
	VacantSince stamp   `json:"vacant_since,omitzero"`
	VacancyMS   *int64  `json:"vacancy_ms,omitempty"`
	*Outage
	LastLeader     string   `json:"last_leader,omitempty"`
	LockDelayUntil stamp    `json:"lock_delay_until,omitzero"`
	Session        *Session `json:"session,omitempty"`
}

type plainElection Election

// recordJSON adds the fields that restore an election. Its times are exact.
type recordJSON struct {
	JSON
	plainElection
	Holder    string `json:"holder,omitempty"`
	LockIndex uint64 `json:"lock_index"`
}

// Record returns the value whose JSON form contains the complete election, for [Election.UnmarshalJSON]: the form of
// [Election.JSON] with additional fields.
func (e *Election) Record(now time.Time) any {
	l := e.JSON(now)
	l.Since, l.SinceKnown, l.VacantSince, l.LockDelayUntil = stamp{e.Since}, &e.SinceKnown, stamp{e.VacantSince}, stamp{e.LockDelayUntil}
	if e.Session != nil {
		l.Session = e.Session
	}
	if e.Pair.Value == nil {
		l.Value = nil
	}
	return recordJSON{l, plainElection(*e), e.Pair.Session, e.Pair.LockIndex}
}

// UnmarshalJSON decodes the JSON form of [Election.Record].
func (e *Election) UnmarshalJSON(text []byte) error {
	var j recordJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	*e = Election(j.plainElection)
	l := &j.JSON
	e.Name, e.Datacenter, e.Leader, e.Session, e.Term, e.Unreadable = l.Election, l.Datacenter, l.Leader, l.Session, l.Term, l.Unreadable
	e.Since, e.VacantSince, e.LockDelayUntil, e.SinceKnown = l.Since.Time, l.VacantSince.Time, l.LockDelayUntil.Time, l.SinceKnown != nil && *l.SinceKnown
	e.Pair = Pair{Key: l.Key, Value: l.ValueBase64, Flags: l.Flags, Session: j.Holder, LockIndex: j.LockIndex, CreateIndex: l.CreateIndex, ModifyIndex: l.ModifyIndex}
	if l.Value != nil {
		e.Pair.Value = []byte(*l.Value)
	}
	if e.Session != nil && !e.Session.wasRead() {
		e.Session = nil
	}
	return nil
}

// JSON returns the form in `electop list -o json`.
func (e *Election) JSON(now time.Time) JSON {
	j := JSON{
		Election: e.Name, Key: e.Key(), Datacenter: e.Datacenter, State: e.State(now), Leader: e.Leader,
		Flags: e.Pair.Flags, Term: e.Term, CreateIndex: e.Pair.CreateIndex,
		ModifyIndex: cmp.Or(e.Pair.ModRevision, e.Pair.ModifyIndex), Unreadable: e.Unreadable, Changes: e.Changes(now, time.Hour),
	}
	switch {
	case e.Pair.Blocked():
	case utf8.Valid(e.Pair.Value):
		j.Value = new(string(e.Pair.Value))
	default:
		j.ValueBase64 = e.Pair.Value
	}
	switch j.State {
	case OfSemaphore:
		if slots, ok := e.Pair.Slots(); ok {
			j.Holders, j.Limit = new(len(slots.Holders)), &slots.Limit
		}
		return j
	case Vacant, InLockDelay, Idle:
	case Led:
		j.Since, j.SinceKnown = stamp{e.Since.Truncate(time.Millisecond)}, &e.SinceKnown
		if e.SinceKnown {
			_, j.HeldMS = durationJSON(now.Sub(e.Since))
		}
		j.Session = cmp.Or(e.Session, &Session{ID: e.Pair.Session})
		return j
	}
	if j.Outage = e.Outage(now); e.VacantSinceKnown {
		j.VacantSince = stamp{e.VacantSince.Truncate(time.Millisecond)}
		_, j.VacancyMS = durationJSON(now.Sub(e.VacantSince))
	}
	if last := e.LastTerm(); last != nil {
		j.LastLeader = last.Leader
	}
	if j.State == InLockDelay {
		j.LockDelayUntil = stamp{e.LockDelayUntil.Truncate(time.Millisecond)}
	}
	return j
}

// Store describes the kind of store that contains the elections. The zero value describes Consul.
type Store struct {
	// Name is the name of the store's software; see [Store.String].
	Name string `json:"name"`
	// Revisions is set if an observer sees every change of a key, and the number of a term is the revision of the store
	// at which its key was created.
	Revisions bool `json:"revisions"`
	// Leases is set if a session is a lease, which has a TTL, but no name, node, checks or lock-delay.
	Leases bool `json:"leases"`
	// StepsDown is set if a leader steps down when its key is deleted.
	StepsDown bool `json:"steps_down,omitempty"`
}

// String returns the name of the store's software. It is safe to print, because a recorded name may be any text.
func (s Store) String() string { return Label(cmp.Or(s.Name, "Consul")) }

// Addressable reports whether a request can address the key. Consul replaces invalid UTF-8 in its responses with
// U+FFFD, so a request for the returned key finds no key or a different key.
func Addressable(key string) bool {
	return utf8.ValidString(key) && !strings.ContainsRune(key, utf8.RuneError)
}

// ID identifies an election by its datacenter and key. An ID without a datacenter identifies the first matching election
// of any datacenter. ID is a separate type, so that no plain key is used as an ID: the same key can exist in several
// datacenters.
type ID string

// ID identifies the election.
func (e *Election) ID() ID { return newID(e.Datacenter, e.Key()) }

// ElectionID returns the [Election.ID] of the event's election. It is empty if the event has no election.
func (e Event) ElectionID() ID { return newID(e.Datacenter, e.Key) }

// KeyID returns the ID of the first election with this key, in any datacenter.
func KeyID(key string) ID { return ID(datacenterMark + key) }

func newID(datacenter, key string) ID {
	if key == "" {
		return ""
	}
	return ID(datacenter + datacenterMark + key)
}

// datacenterMark separates the datacenter from the key. The name of a datacenter contains no NUL.
const datacenterMark = "\x00"

// Compare orders elections by key, then by datacenter, as in [Snapshot.Elections].
func Compare(a, b *Election) int {
	return cmp.Or(strings.Compare(a.Key(), b.Key()), strings.Compare(a.Datacenter, b.Datacenter))
}

// Pairs returns copies of pairs for [KeysRead.Pairs].
func Pairs(all ...Pair) []*Pair {
	return Map(all, func(p Pair) *Pair { return &p })
}

// ComparePairs orders pairs by key, as in [KeysRead.Pairs].
func ComparePairs(a, b *Pair) int { return strings.Compare(a.Key, b.Key) }
