package election

import (
	"slices"
	"sort"
	"time"
)

const (
	// defaultRecentEvents is how many events a snapshot carries.
	defaultRecentEvents = 1000
	// keptPerElection bounds the terms and the events kept of one election.
	keptPerElection = 64
	// keepDeleted is how long an election whose key is gone stays known.
	keepDeleted = 24 * time.Hour
)

// Options set up a [Tracker].
type Options struct {
	Patterns Patterns
	// RecentEvents is how many events a snapshot carries, 1000 if 0.
	RecentEvents int
}

// Tracker folds observations into snapshots and events. It belongs to one
// goroutine; the snapshots that it hands out may be read by any.
type Tracker struct {
	patterns Patterns
	recentN  int

	datacenter string
	elections  []*Election // sorted by key
	lent       bool        // elections is part of a snapshot and must not be written
	sessions   map[string]*Session
	checks     map[string]NodeChecks
	checksLent bool

	surroundings *Surroundings
	sessionList  *SessionList

	covered  rangeSet
	filtered map[Range]struct{}

	links map[string]LinkLost
	conn  Connection
	// seenUntil is the last contact before the latest loss of the link.
	seenUntil time.Time
	pending   map[termID]*pendingEnd
	ends      []*pendingEnd // the same, oldest first
	actions   []OperatorAction

	recent []Event
	out    []Event // events of the observation being folded
}

// NewTracker makes a tracker that has seen nothing yet.
func NewTracker(o Options) *Tracker {
	if o.RecentEvents == 0 {
		o.RecentEvents = defaultRecentEvents
	}
	return &Tracker{
		patterns: o.Patterns, recentN: o.RecentEvents,
		sessions: map[string]*Session{}, checks: map[string]NodeChecks{},
		filtered: map[Range]struct{}{}, links: map[string]LinkLost{},
		pending: map[termID]*pendingEnd{},
		conn:    Connection{State: Connecting},
	}
}

// Observe folds one observation and gives the events that follow from it, in
// order. The slice is the caller's.
func (t *Tracker) Observe(o Observation) []Event {
	t.out = nil
	switch o := o.(type) {
	case KeysRead:
		t.keysRead(o)
	case SessionsRead:
		t.sessionsRead(o)
	case ChecksRead:
		t.checksRead(o)
	case LinkLost:
		t.linkLost(o)
	case LinkUp:
		t.linkUp(o)
	case OperatorAction:
		t.operatorAction(o)
	case TermEvidence:
		t.termEvidence(o)
	case DatacenterRead:
		t.datacenter = o.Datacenter
	case SurroundingsRead:
		t.surroundings = &o.Surroundings
	case SessionListRead:
		t.sessionListRead(o)
	}
	t.explainOverdue(o.observed())
	return t.out
}

// Snapshot is everything known at the moment at.
func (t *Tracker) Snapshot(at time.Time) *Snapshot {
	t.lent, t.checksLent = true, true
	return &Snapshot{
		At: at, Datacenter: t.datacenter, Elections: t.elections[:len(t.elections):len(t.elections)],
		Events: tail(t.recent, t.recentN), Loaded: t.Loaded(), Connection: t.conn,
		Filtered: len(t.filtered) > 0, Checks: t.checks,
		Surroundings: t.surroundings, SessionList: t.sessionList,
	}
}

// Loaded reports whether every key that the patterns can match was asked for.
func (t *Tracker) Loaded() bool {
	for _, p := range t.patterns {
		r := PrefixRange(p.prefix)
		if p.exact {
			r = KeyRange(p.text)
		}
		if !t.covered.covers(r) {
			return false
		}
	}
	return true
}

func (t *Tracker) emit(e Event) {
	e.Datacenter = t.datacenter
	t.out = append(t.out, e)
	t.recent = appendBounded(t.recent, e, t.recentN)
}

// keysRead compares a range with what is known of it, key by key.
func (t *Tracker) keysRead(o KeysRead) {
	t.noteFiltered(o)
	lo := t.search(o.Range.From)
	hi := len(t.elections)
	if o.Range.To != "" {
		hi = t.search(o.Range.To)
	}
	merged := t.merge(t.elections[lo:hi], o)
	t.replace(lo, hi, merged)
	t.covered.add(o.Range)
	t.pruneSessions()
}

func (t *Tracker) search(key string) int {
	return sort.Search(len(t.elections), func(i int) bool { return t.elections[i].Key() >= key })
}

// merge walks the known elections of a range and the pairs just read side by
// side and gives the elections that are known afterwards.
func (t *Tracker) merge(known []*Election, o KeysRead) []*Election {
	merged := make([]*Election, 0, max(len(known), len(o.Pairs)))
	i := 0
	for _, p := range o.Pairs {
		for ; i < len(known) && known[i].Key() < p.Key; i++ {
			merged = t.keepAbsent(merged, known[i], o)
		}
		if i < len(known) && known[i].Key() == p.Key {
			merged = append(merged, t.foldPresent(known[i], p, o))
			i++
		} else if name, ok := t.patterns.Match(p.Key); ok {
			merged = append(merged, t.foldNew(name, p, o))
		}
	}
	for ; i < len(known); i++ {
		merged = t.keepAbsent(merged, known[i], o)
	}
	return merged
}

func (t *Tracker) keepAbsent(merged []*Election, e *Election, o KeysRead) []*Election {
	if !e.Exists && o.At.Sub(e.VacantSince) > keepDeleted {
		return merged
	}
	return append(merged, t.foldAbsent(e, o))
}

// replace puts the merged elections where the old ones stood, without touching
// a slice that a snapshot shows.
func (t *Tracker) replace(lo, hi int, merged []*Election) {
	if slices.Equal(t.elections[lo:hi], merged) {
		return
	}
	switch {
	case len(merged) != hi-lo:
		all := make([]*Election, 0, len(t.elections)+len(merged)-(hi-lo))
		all = append(all, t.elections[:lo]...)
		all = append(all, merged...)
		t.elections = append(all, t.elections[hi:]...)
	case t.lent:
		t.elections = slices.Clone(t.elections)
		fallthrough
	default:
		copy(t.elections[lo:hi], merged)
	}
	t.lent = false
}

// set replaces one election whose key is known.
func (t *Tracker) set(i int, e *Election) {
	if t.lent {
		t.elections, t.lent = slices.Clone(t.elections), false
	}
	t.elections[i] = e
}

func (t *Tracker) noteFiltered(o KeysRead) {
	for r := range t.filtered {
		if r.overlaps(o.Range) {
			delete(t.filtered, r)
		}
	}
	if o.Filtered {
		t.filtered[o.Range] = struct{}{}
	}
}

// pruneSessions forgets sessions that hold nothing, once all holders are known.
func (t *Tracker) pruneSessions() {
	if len(t.sessions) <= 2*len(t.elections)+64 || !t.Loaded() {
		return
	}
	held := make(map[string]*Session, len(t.elections))
	for _, e := range t.elections {
		if s := t.sessions[e.Pair.Session]; s != nil {
			held[s.ID] = s
		}
	}
	t.sessions = held
}

func (t *Tracker) sessionsRead(o SessionsRead) {
	fresh := make(map[string]*Session, len(o.Sessions))
	for _, s := range o.Sessions {
		if t.sessions[s.ID] == nil {
			t.sessions[s.ID], fresh[s.ID] = s, s
		}
	}
	if len(fresh) == 0 {
		return
	}
	for i, e := range t.elections {
		if s := fresh[e.Pair.Session]; s != nil && e.Exists {
			t.set(i, withSession(e, s))
		}
	}
	for _, p := range t.pending {
		if p.session == nil {
			p.session = fresh[p.event.Session]
		}
	}
}

// withSession completes an election with the session that holds it.
func withSession(e *Election, s *Session) *Election {
	n := *e
	n.Session = s
	n.Leader = LeaderLabel(n.Pair, s)
	if last := len(n.Terms) - 1; last >= 0 && n.Terms[last].Session == s.ID {
		n.Terms = slices.Clone(n.Terms)
		n.Terms[last].Node, n.Terms[last].Leader = s.Node, n.Leader
	}
	return &n
}

func (t *Tracker) checksRead(o ChecksRead) {
	if t.checksLent {
		copied := make(map[string]NodeChecks, len(t.checks)+1)
		for node, c := range t.checks {
			copied[node] = c
		}
		t.checks, t.checksLent = copied, false
	}
	read := NodeChecks{At: o.At, Checks: o.Checks, Partial: o.Partial, Err: o.Err}
	if o.Err != "" {
		read.Checks = t.checks[o.Node].Checks
	}
	t.checks[o.Node] = read
}

// appendBounded appends to a list of which only the last limit elements matter.
// Elements that were handed out are never written again.
func appendBounded[T any](list []T, item T, limit int) []T {
	if len(list) >= 2*limit {
		list = append(make([]T, 0, 2*limit), list[len(list)-limit+1:]...)
	}
	return append(list, item)
}

func tail[T any](list []T, n int) []T {
	list = list[max(0, len(list)-n):]
	return list[:len(list):len(list)]
}
