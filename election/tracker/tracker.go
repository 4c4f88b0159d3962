package tracker

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"electop/election"
)

// recentEvents is the maximum number of events in a snapshot.
const recentEvents = 1000

// Options configure a [Tracker].
type Options struct {
	Patterns election.Patterns
	Store    election.Store
	// Searches is set if the observer sends [election.CandidatesRead] once every key has been read.
	Searches bool
	// Recall is how long the tracker withholds its events while it waits for an [election.HistoryRead]; 0 if it does not wait.
	Recall time.Duration
	// ExplainWithin replaces the time from a vacated event to its explained event.
	ExplainWithin time.Duration
}

// Tracker derives snapshots and events from observations. It is not safe for concurrent use, but its snapshots are.
type Tracker struct {
	Options

	datacenter string
	elections  []*election.Election // in the order of [election.Compare]
	lent       bool                 // set while a snapshot may share the slice
	newest     uint64               // the highest Raft index of any key read
	settled    settledIndex
	pruned     time.Time
	sessions   map[string]*election.Session
	incomplete map[string]struct{} // keys of elections without the leader's session, at most maxIncomplete
	checks     map[string]election.NodeChecks

	surroundings *election.Surroundings
	sessionList  *election.SessionList
	// listed is the Raft index of the latest list of sessions, or 0 if the list was not watched without interruption.
	listed uint64

	covered  election.RangeSet
	filtered []election.Range

	links map[string]election.LinkLost
	conn  election.Connection
	// seenUntil is when all data was last current before the latest failure of the connection or of a source of keys.
	seenUntil time.Time
	stop      *stop     // the latest gap, or nil once every range has been read after the gap
	jumped    time.Time // end of the latest gap, with the monotonic clock reading
	pending   map[election.TermID]*pendingEnd
	ends      []*pendingEnd // terms whose cause is not known yet, oldest first
	actions   []ownAction

	recorded []*election.Election // those of the history that match a pattern; nil once every key has been read
	parts    []election.RecordedPart
	waiting  *waiting // nil if the tracker does not wait for the history
	recent   []election.Event
	out      []election.Event // events of the current observation
	kept     int              // the number of them whose array elections may keep: one that was outgrown would remain
}

// New returns a tracker without observations.
func New(o Options) *Tracker {
	o.ExplainWithin = cmp.Or(o.ExplainWithin, ExplainWithin)
	t := &Tracker{
		Options: o, sessions: map[string]*election.Session{}, incomplete: map[string]struct{}{}, checks: map[string]election.NodeChecks{},
		links: map[string]election.LinkLost{}, pending: map[election.TermID]*pendingEnd{},
		conn: election.Connection{State: election.Connecting},
	}
	if o.Recall > 0 {
		o.Recall = 0
		t.waiting = &waiting{recalled: New(o)}
	}
	return t
}

// Observe processes one observation and returns the resulting events in order. The caller must not modify them.
func (t *Tracker) Observe(o election.Observation) []election.Event {
	if t.waiting != nil {
		return t.observeWaiting(o)
	}
	at := t.apply(o)
	t.explainOverdue(at)
	return t.finish(at)
}

// apply processes one observation and returns its time.
func (t *Tracker) apply(o election.Observation) (at time.Time) {
	t.out, t.kept = nil, 0
	switch o := o.(type) {
	case election.KeysRead:
		at = o.At
		t.keysRead(o)
	case election.SessionsRead:
		at = o.At
		t.sessionsRead(o)
	case election.ChecksRead:
		at = o.At
		t.checksRead(o)
	case election.Unwatched:
		at = o.At
		t.unwatched(o.Node, wall(at))
	case election.LinkLost:
		at = o.At
		t.linkLost(o)
	case election.LinkUp:
		at = o.At
		t.linkUp(o)
	case election.OperatorAction:
		at = o.At
		t.operatorAction(o)
	case election.TermEvidence:
		at = o.At
		if p := t.pending[o.Event.TermID()]; p != nil {
			p.evidence = &o.Outcome
			t.explainIfKnown(p, wall(at))
		}
	case election.DatacenterRead:
		at, t.datacenter = o.At, o.Datacenter
		t.addRecorded()
	case election.HistoryRead:
		at = o.At
		t.historyRead(o)
	case election.PatternsSet:
		at = o.At
		t.setPatterns(o.Patterns)
	case election.CandidatesRead:
		at = o.At
		t.candidatesRead(o)
	case election.Surroundings:
		at, t.surroundings = o.At, &o
	case election.SessionListRead:
		at = o.At
		t.sessionListRead(o)
	case election.Gap:
		at = o.At
		t.stopped(o)
	case election.Clock:
		at = o.At
	}
	return wall(at)
}

// finish ends an observation and returns its events.
func (t *Tracker) finish(at time.Time) []election.Event {
	t.prune(at)
	t.recent = appendBounded(t.recent, t.out, recentEvents)
	return t.out
}

// Snapshot returns the known state at the given time.
func (t *Tracker) Snapshot(at time.Time) *election.Snapshot {
	t.lent = true
	var recordedUntil time.Time
	if t.recorded != nil {
		for _, e := range t.elections {
			recordedUntil = election.Later(e.RecordedUntil, recordedUntil)
		}
	}
	return &election.Snapshot{
		At: wall(at), Datacenter: t.datacenter, Store: t.Store, Elections: t.elections[:len(t.elections):len(t.elections)],
		Events: tail(t.recent, recentEvents), Loaded: t.Loaded(), Connection: t.conn, RecordedUntil: recordedUntil,
		Filtered: len(t.filtered) > 0, Checks: t.checks,
		Surroundings: t.surroundings, SessionList: t.sessionList,
	}
}

// Loaded reports whether every key that the patterns can match has been read.
func (t *Tracker) Loaded() bool {
	return !slices.ContainsFunc(t.Patterns, func(p election.Pattern) bool { return !p.Excludes() && !t.covered.Covers(p.Range()) })
}

// emit appends an event to the result of the current observation.
func (t *Tracker) emit(e election.Event) {
	e.Datacenter = t.datacenter
	t.out = append(t.out, e)
}

// rangeRead is a KeysRead observation with the highest Raft index that was read at least foundWithin before it.
type rangeRead struct {
	election.KeysRead
	newest uint64
}

// keysRead compares a range with the known elections, key by key.
func (t *Tracker) keysRead(o election.KeysRead) {
	t.filtered = slices.DeleteFunc(t.filtered, o.Range.Overlaps)
	if o.Filtered && len(t.filtered) < maxFiltered {
		t.filtered = append(t.filtered, o.Range)
	}
	lo := t.search(o.Range.From)
	hi := len(t.elections)
	if o.Range.To != "" {
		hi = t.search(o.Range.To)
	}
	asked := cmp.Or(o.Asked, o.At)
	o.At = wall(o.At)
	known := t.elections[lo:hi]
	if merged := t.merge(known, &rangeRead{KeysRead: o, newest: t.settled.at(o.At, t.newest)}); !slices.Equal(merged, known) {
		t.elections = slices.Replace(t.own(), lo, hi, merged...)
	}
	t.covered.Add(o.Range)
	if len(t.recorded) > 0 && t.Loaded() {
		t.recorded = nil
	}
	t.readAfterStop(o.Range, asked)
	t.pruneSessions()
}

func (t *Tracker) search(key string) int {
	return sort.Search(len(t.elections), func(i int) bool { return t.elections[i].Key() >= key })
}

// Find returns the election with this key, or nil if there is none.
func (t *Tracker) Find(key string) *election.Election {
	if i := t.search(key); i < len(t.elections) && t.elections[i].Key() == key {
		return t.elections[i]
	}
	return nil
}

// merge compares the known elections of a range with the pairs read, both sorted, and returns the resulting elections.
func (t *Tracker) merge(known []*election.Election, r *rangeRead) []*election.Election {
	merged := make([]*election.Election, 0, max(len(known), len(r.Pairs)))
	add := func(e *election.Election) {
		if e == nil {
			return
		}
		if merged = append(merged, e); e.Session == nil && e.Pair.Held() {
			t.noteIncomplete(e)
		}
	}
	i, news := 0, len(r.Pairs)-len(known)
	for _, e := range known {
		if e.Recorded() {
			news++
		}
	}
	t.out = slices.Grow(t.out, max(0, news))
	t.kept = cap(t.out)
	for _, p := range r.Pairs {
		for ; i < len(known) && known[i].Pair.Key < p.Key; i++ {
			add(t.foldAbsent(known[i], r))
		}
		if i < len(known) && known[i].Pair.Key == p.Key {
			add(t.foldPresent(known[i], p, r))
			i++
		} else if name, ok := t.Patterns.Match(p.Key); ok {
			add(t.foldNew(name, p, r))
		}
	}
	for ; i < len(known); i++ {
		add(t.foldAbsent(known[i], r))
	}
	return merged
}

// own returns the elections in a slice that no snapshot shares.
func (t *Tracker) own() []*election.Election {
	if t.lent {
		t.elections, t.lent = slices.Clone(t.elections), false
	}
	return t.elections
}

// replace replaces each election with the result of changed.
func (t *Tracker) replace(changed func(*election.Election) *election.Election) {
	all := slices.Clone(t.elections)
	for i, e := range all {
		all[i] = changed(e)
	}
	if !slices.Equal(all, t.elections) {
		t.elections = all
	}
}
