package history

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/gob"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"time"

	"electop/election"
)

// Board is the state of all elections of one datacenter at a moment. A history stores it in checkpoints and applies the
// later events to it.
type Board struct {
	snapshot  *election.Snapshot
	elections map[string]*election.Election // by key; the others are those of the snapshot
}

// NewBoard returns the board of a complete snapshot of one datacenter, and of recorded elections that its observer does
// not watch.
func NewBoard(s *election.Snapshot, unwatched ...*election.Election) *Board {
	b := &Board{s, map[string]*election.Election{}}
	for _, e := range unwatched {
		b.elections[e.Key()] = e
	}
	return b
}

// find returns an election, which the caller may modify, or nil.
func (b *Board) find(key string) *election.Election {
	if e := b.snapshot.Find(election.KeyID(key)); e != nil && b.elections[key] == nil {
		b.elections[key] = stored(e, b.snapshot.At)
	}
	return b.elections[key]
}

// all is a sequence of all elections. It copies those of the snapshot one by one, to save memory.
func (b *Board) all(yield func(*election.Election) bool) {
	for _, e := range b.snapshot.Elections {
		if b.elections[e.Key()] == nil && !yield(stored(e, b.snapshot.At)) {
			return
		}
	}
	maps.Values(b.elections)(yield)
}

// stored returns a copy of an election without what a history does not store: values, except those of semaphores.
func stored(e *election.Election, at time.Time) *election.Election {
	kept := *e
	first := max(0, len(e.Terms)-2) // at least two terms
	for first > 0 && e.Terms[first-1].End.After(at.Add(-stateTerms)) {
		first--
	}
	kept.Terms = slices.Clone(e.Terms[first:])
	for i := range kept.Terms {
		t := &kept.Terms[i]
		t.Start, t.NotBefore, t.End, t.SeenUntil = t.Start.UTC(), t.NotBefore.UTC(), t.End.UTC(), t.SeenUntil.UTC()
	}
	kept.Events = nil
	if ev := e.Latest(election.Deleted); !e.Exists && ev != nil {
		kept.Events = []election.Event{*ev}
	}
	if !kept.Pair.OfSemaphore() {
		kept.Pair.Value, kept.Pair.Flags = nil, 0
	}
	if !e.Exists { // a later event may show that the key exists again, without a holder
		kept.Pair.Session = ""
	}
	kept.Candidateless, kept.Unsearched, kept.Pair.Queue, kept.Pair.ModRevision = false, false, nil, 0 // no event tells who joins a queue
	return &kept
}

// Encode returns the compressed, stored form of the board. A change of a field of [election.Election] needs a new version of
// the file (package sqlite): a decoder ignores fields that it does not know.
func (b *Board) Encode() ([]byte, error) {
	var text bytes.Buffer
	z, err := flate.NewWriter(&text, flate.BestSpeed)
	encoder := gob.NewEncoder(z)
	for e := range b.all { // gob buffers each value
		err = errors.Join(err, encoder.Encode(e))
	}
	err = errors.Join(err, z.Close())
	return text.Bytes(), err
}

// DecodeBoard decodes the result of [Board.Encode].
func DecodeBoard(text []byte) (*Board, error) {
	b, decoder := NewBoard(&election.Snapshot{}), gob.NewDecoder(flate.NewReader(bytes.NewReader(text)))
	for {
		var e election.Election
		if err := decoder.Decode(&e); errors.Is(err, io.EOF) {
			return b, nil
		} else if err != nil {
			return nil, err
		}
		b.elections[e.Key()], b.snapshot.Store = &e, e.Store
	}
}

// Elections returns the elections that a live board showed at a moment, in the order of [election.Compare].
func (b *Board) Elections(at time.Time) []*election.Election {
	return election.Kept(slices.SortedFunc(b.all, election.Compare), at)
}

// Apply applies an event to the board. An event whose effect the board already contains changes nothing.
func (b *Board) Apply(ev *election.Event) {
	if ev.Initial || ev.Key == "" {
		return
	}
	e := b.find(ev.Key)
	if e == nil {
		if ev.Type == election.Explained {
			return
		}
		e = &election.Election{
			Name: ev.Election, Datacenter: ev.Datacenter, Store: b.snapshot.Store, Pair: election.Pair{Key: ev.Key},
			VacantSince: ev.Time, VacantSinceKnown: !ev.Gap, Exists: ev.Type != election.Deleted,
		}
		b.elections[ev.Key] = e
	}
	switch ev.Type {
	case election.Explained:
		Explain(e, ev)
		return
	case election.Unreadable, election.Readable:
		e.Unreadable = ev.Type == election.Unreadable
		return
	case election.Vacated:
		vacate(e, ev)
		return
	case election.Entered, election.Left:
		changeSlot(e, ev)
		return
	default:
	}
	known := termOf(e, ev)
	past := ev.ModifyIndex < e.Pair.ModifyIndex && (ev.Type != election.Deleted || !e.Exists || ev.CreateIndex != e.Pair.CreateIndex) || ev.ModifyIndex == e.Pair.ModifyIndex && (!e.Exists || ev.Type == election.Overwritten && !e.Pair.Held()) ||
		ev.Type == election.Elected && known != nil && (ev.ModifyIndex == e.Pair.ModifyIndex || !known.Over())
	if past && !ev.Restored {
		return // the board contains this or a later state
	}
	e.Pair.ModifyIndex, e.Pair.CreateIndex = ev.ModifyIndex, ev.CreateIndex
	switch ev.Type {
	case election.Elected:
		elect(e, ev)
	case election.Updated:
		relabel(e, ev)
	case election.Overwritten:
		if e.Pair.LockIndex = 0; !e.Pair.Held() && ev.Term != e.Term {
			e.Pair.LockIndex = ev.Term
		}
		e.Exists, e.Term = true, ev.Term
		relabel(e, ev)
	case election.Missed:
		e.Exists, e.Term, e.Pair.LockIndex = true, ev.Term, ev.Term
		if !e.Pair.Held() { // the vacancy began after the missed terms
			setVacant(e, ev)
		}
	case election.Deleted:
		remove(e, ev)
	default:
	}
}

// Adds applies an event that another observer reported, and reports whether the board did not contain its effect. It
// subtracts the terms that the board contains from missed terms. held is set if a session holds the key after these terms.
func (b *Board) Adds(ev *election.Event, held bool) bool {
	var before election.Election
	if e := b.find(ev.Key); e != nil {
		before = *e
	}
	if ev.Type == election.Missed && ev.CreateIndex == before.Pair.CreateIndex {
		last := ev.Term // of the missed terms
		if held {
			last--
		}
		if last <= before.Pair.LockIndex {
			return false
		}
		ev.Count = min(ev.Count, last-before.Pair.LockIndex)
	}
	b.Apply(ev)
	e := b.elections[ev.Key]
	return !e.Pair.Identical(&before.Pair) || e.Exists != before.Exists || e.Unreadable != before.Unreadable || len(e.Terms) != len(before.Terms)
}

// openTerm returns the current term, or nil if there is none.
func openTerm(e *election.Election) *election.Term {
	if n := len(e.Terms); n > 0 && !e.Terms[n-1].Over() {
		return &e.Terms[n-1]
	}
	return nil
}

// termOf returns the latest term of an event, or nil. A write without the lock sets the number of the current term to 0.
func termOf(e *election.Election, ev *election.Event) *election.Term {
	for i := range slices.Backward(e.Terms) {
		if t := &e.Terms[i]; t.Session == ev.Session && t.CreateIndex == ev.CreateIndex && (t.Number == ev.Term || ev.Term == 0) {
			return t
		}
	}
	return nil
}

// begin adds the term of an event. If the events of the end of the previous term were dropped, it ends that term.
func begin(e *election.Election, ev *election.Event, t election.Term) {
	if open := openTerm(e); open != nil {
		open.End, open.SeenUntil = election.Later(open.Start, t.Start), open.Start
	}
	t.Number, t.CreateIndex, t.Session, t.Leader, t.Node = ev.Term, ev.CreateIndex, ev.Session, ev.Leader, ev.Node
	e.Terms = append(e.Terms, t)
}

func elect(e *election.Election, ev *election.Event) {
	begin(e, ev, election.Term{Start: ev.Time, StartKnown: !ev.Gap, NotBefore: ev.SeenUntil})
	setVacant(e, ev) // until now
	e.Exists, e.Leader, e.Session, e.Term = true, ev.Leader, nil, ev.Term
	e.Since, e.SinceKnown = ev.Time, !ev.Gap
	e.VacantSince, e.VacantSinceKnown = time.Time{}, false
	e.Pair.Session, e.Pair.LockIndex, e.Pair.Flags, e.Pair.Value = ev.Session, max(ev.Term, 1), 0, nil // the next event sets it to 0
}

func vacate(e *election.Election, ev *election.Event) {
	t := openTerm(e)
	switch {
	case t != nil && t.Session == ev.Session && t.CreateIndex == ev.CreateIndex && (t.Number == ev.Term || ev.ModifyIndex >= e.Pair.ModifyIndex):
	case !ev.Restored && ev.ModifyIndex < e.Pair.ModifyIndex, ev.Session == "", termOf(e, ev) != nil:
		return
	default: // the event of its beginning was dropped
		begin(e, ev, election.Term{Start: ev.Time.Add(-ev.Held), StartKnown: ev.HeldKnown})
		t = openTerm(e)
	}
	relabel(e, ev)
	t.End, t.SeenUntil = ev.Time, ev.SeenUntil
	e.LastSession, e.Session = e.Session, nil
	e.Leader, e.Pair.Session, e.Term, e.Pair.CreateIndex = "", "", ev.Term, ev.CreateIndex
	setVacant(e, ev)
}

// setVacant begins a vacancy whose lock-delay is not known.
func setVacant(e *election.Election, ev *election.Event) {
	e.Since, e.SinceKnown = time.Time{}, false
	e.VacantSince, e.VacantSinceKnown = ev.Time, !ev.Gap
	e.LockDelayUntil, e.LockDelayDoubtful = time.Time{}, false
}

// relabel stores the leader's label and node, which may have been read after the key.
func relabel(e *election.Election, ev *election.Event) {
	if t := openTerm(e); t != nil && ev.Session == t.Session {
		t.Leader, t.Node = cmp.Or(ev.Leader, t.Leader), cmp.Or(ev.Node, t.Node)
		e.Leader = t.Leader
	}
}

// Explain applies the explanation of a term's end to its election.
func Explain(e *election.Election, ev *election.Event) {
	t := termOf(e, ev)
	if t == nil || t.Cause.ByOperator() && !ev.Cause.ByOperator() { // an operator's own action is certain
		return
	}
	t.Cause, t.Evidence, t.Guess, t.By, t.AliveUntil = ev.Cause, ev.Evidence, ev.Guess, ev.By, ev.AliveUntil
	if t == e.LastTerm() && !e.Held() {
		e.LockDelayUntil = ev.LockDelayUntil
		e.LockDelayDoubtful = !ev.LockDelayUntil.IsZero() && (ev.Guess || ev.Cause == election.Unknown || ev.Gap || !t.SeenUntil.IsZero())
	}
}

func remove(e *election.Election, ev *election.Event) {
	if t := openTerm(e); t != nil {
		t.End, t.SeenUntil = ev.Time, t.Start
	}
	if e.Pair.Held() || e.Pair.OfSemaphore() || e.VacantSince.IsZero() {
		setVacant(e, ev)
	}
	e.Exists, e.Unreadable, e.Leader, e.Session, e.Pair.Session = false, false, "", nil, ""
	e.Events = []election.Event{*ev}
}

func changeSlot(e *election.Election, ev *election.Event) {
	var value struct { // of the key of a semaphore
		Limit   int
		Holders map[string]bool
	}
	if e.Pair.OfSemaphore() {
		json.Unmarshal(e.Pair.Value, &value) //nolint:errcheck,gosec // an invalid value has no holders
	}
	entered := ev.Type == election.Entered
	if !ev.Restored && ev.ModifyIndex < e.Pair.ModifyIndex || value.Holders[ev.Session] == entered {
		return
	}
	if value.Limit = ev.Limit; !entered {
		delete(value.Holders, ev.Session)
	} else if value.Holders == nil {
		value.Holders = map[string]bool{ev.Session: true}
	} else {
		value.Holders[ev.Session] = true
	}
	e.Pair.ModifyIndex, e.Pair.CreateIndex, e.Exists = ev.ModifyIndex, ev.CreateIndex, true
	if setVacant(e, ev); ev.Limit == 0 { // the key no longer belongs to a semaphore
		e.Pair.Flags, e.Pair.Value = 0, nil
		return
	}
	text, _ := json.Marshal(value) // a map of strings always has a JSON form
	e.VacantSince, e.VacantSinceKnown = time.Time{}, false
	e.Pair.Flags, e.Pair.Value = election.SemaphoreFlag, text
}
