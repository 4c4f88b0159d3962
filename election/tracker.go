package election

import (
	"slices"
	"sort"
	"time"
)

// defaultRecentEvents is how many events a snapshot carries.
const defaultRecentEvents = 1000

// Options set up a [Tracker].
type Options struct {
	Patterns Patterns
	// RecentEvents is how many events a snapshot carries, 1000 if 0.
	RecentEvents int
}

// Tracker folds observations into snapshots and events. Its methods must not be
// called at the same time; the snapshots that it hands out may be read by any.
type Tracker struct {
	patterns Patterns
	recentN  int

	datacenter string
	elections  []*Election         // in the order of [Compare]
	lent       bool                // elections is part of a snapshot and must not be written
	peaks      map[string]furthest // by [Election.ID]
	newest     uint64              // the latest Raft index of a key that was read
	settled    settledIndex
	gone       int // how many of them no longer exist
	unreadable int // how many may not be read
	keep       int // how many terms and events each of them keeps
	pruned     time.Time
	sessions   map[string]*Session
	unread     map[string]int // how many elections each session holds that was not read
	checks     map[string]NodeChecks
	checksLent bool

	surroundings *Surroundings
	sessionList  *SessionList
	seen         map[string]Seen // sessions, by their ids
	// listed is the Raft index of the latest list of sessions, 0 when they are
	// not watched without interruption since.
	listed uint64

	covered  rangeSet
	filtered map[Range]struct{}

	links map[string]LinkLost
	conn  Connection
	// seenUntil is until when everything was observed before the latest loss of
	// the link or of a part.
	seenUntil time.Time
	stop      *stop // the latest gap, until every range was read after it
	pending   map[termID]*pendingEnd
	ends      []*pendingEnd // the same, oldest first
	actions   []ownAction

	recent []Event
	out    []Event // events of the observation being folded
	// firstTerms are those that it found.
	firstTerms []Term
}

// NewTracker makes a tracker that has seen nothing yet.
func NewTracker(o Options) *Tracker {
	if o.RecentEvents == 0 {
		o.RecentEvents = defaultRecentEvents
	}
	return &Tracker{
		patterns: o.Patterns, recentN: o.RecentEvents,
		sessions: map[string]*Session{}, unread: map[string]int{}, checks: map[string]NodeChecks{},
		seen: map[string]Seen{}, filtered: map[Range]struct{}{}, links: map[string]LinkLost{},
		pending: map[termID]*pendingEnd{}, keep: keptPerElection, peaks: map[string]furthest{},
		conn: Connection{State: Connecting},
	}
}

// Observe folds one observation and gives the events that follow from it, in
// order. They must not be changed.
func (t *Tracker) Observe(o Observation) []Event {
	t.out, t.firstTerms = nil, nil
	at := wall(o.observed())
	t.expireActions(at)
	switch o := o.(type) {
	case KeysRead:
		t.keysRead(o)
	case SessionsRead:
		t.sessionsRead(o)
	case ChecksRead:
		t.checksRead(o)
	case ChecksUnwatched:
		t.checksUnwatched(o.Node, at)
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
		t.surroundingsRead(o.Surroundings, at)
	case SessionListRead:
		t.sessionListRead(o)
	case SessionListUnwatched:
		t.sessionListUnwatched(at)
	case Gap:
		t.stopped(o)
	case ClockSet:
		t.clockSet(o)
	}
	t.explainOverdue(at)
	t.prune(at)
	t.recent = appendBounded(t.recent, t.out, t.recentN)
	return t.out
}

// Snapshot is everything known at the moment at.
func (t *Tracker) Snapshot(at time.Time) *Snapshot {
	t.lent, t.checksLent = true, true
	return &Snapshot{
		At: wall(at), Datacenter: t.datacenter, Elections: t.elections[:len(t.elections):len(t.elections)],
		Events: tail(t.recent, t.recentN), Loaded: t.Loaded(), Connection: t.conn,
		Filtered: len(t.filtered) > 0, Checks: t.checks,
		Surroundings: t.surroundings, SessionList: t.sessionList,
	}
}

// Loaded reports whether every key that the patterns can match was asked for.
func (t *Tracker) Loaded() bool {
	return !slices.ContainsFunc(t.patterns, func(p Pattern) bool { return !t.covered.covers(p.watched()) })
}

// emit tells an event and gives it as it is told: the first one of an election
// need not be kept twice.
func (t *Tracker) emit(e Event) []Event {
	e.Datacenter = t.datacenter
	t.out = append(t.out, e)
	return t.out[len(t.out)-1 : len(t.out) : len(t.out)]
}

// firstTerm is a list of one term. Those of a first read stand side by side: ten
// thousand of them are one piece of memory.
func (t *Tracker) firstTerm(term Term) []Term {
	t.firstTerms = append(t.firstTerms, term)
	n := len(t.firstTerms)
	return t.firstTerms[n-1 : n : n]
}

// rangeRead is a read of a range on its way into the tracker.
type rangeRead struct {
	KeysRead
	// known are the elections of the range before.
	known []*Election
	// lost and regained say that an event for all of them tells that they are
	// unreadable now, or readable again.
	lost, regained bool
	// newest is the latest Raft index of a key in reads that are older than
	// foundWithin.
	newest uint64
}

// keysRead compares a range with what is known of it, key by key.
func (t *Tracker) keysRead(o KeysRead) {
	t.noteFiltered(o)
	lo := t.search(o.Range.From)
	hi := len(t.elections)
	if o.Range.To != "" {
		hi = t.search(o.Range.To)
	}
	if !slices.IsSorted(o.Hidden) {
		o.Hidden = slices.Sorted(slices.Values(o.Hidden))
	}
	asked := o.Asked
	if asked.IsZero() {
		asked = o.At
	}
	o.At = wall(o.At)
	r := rangeRead{KeysRead: o, known: t.elections[lo:hi], newest: t.settled.at(o.At, t.newest)}
	t.announce(&r)
	if merged, changed := t.merge(&r); changed {
		t.replace(lo, hi, merged)
	}
	t.covered.add(o.Range)
	t.readAfterStop(o.Range, asked)
	t.pruneSessions()
}

func (t *Tracker) search(key string) int {
	return sort.Search(len(t.elections), func(i int) bool { return t.elections[i].Key() >= key })
}

// merge walks the known elections of a range and the pairs just read side by
// side and gives the elections that are known afterwards, unless they are the
// same ones.
func (t *Tracker) merge(r *rangeRead) (merged []*Election, changed bool) {
	known, pairs := r.known, r.Pairs
	if found := len(pairs) - len(known); found > 0 {
		// On a first read each has one.
		t.out, t.firstTerms = slices.Grow(t.out, found), slices.Grow(t.firstTerms, found)
	}
	m := merging{known: known, room: max(len(known), len(pairs))}
	i := 0
	for n := range pairs {
		p := &pairs[n]
		found := false
		for ; i < len(known); i++ {
			if found = sameKey(known[i], p); found || !precedes(known[i], p) {
				break
			}
			m.add(t.foldAbsent(known[i], r))
		}
		if found {
			m.add(t.foldPresent(known[i], p, r))
			i++
		} else if name, ok := t.patterns.Match(p.Key); ok {
			m.add(t.foldNew(name, p, r))
		}
	}
	for ; i < len(known); i++ {
		m.add(t.foldAbsent(known[i], r))
	}
	return m.result()
}

// merging is a list of elections that begins like the one known before, as most
// reads leave all as it was, and the others nearly all.
type merging struct {
	known  []*Election
	same   int         // how many of known it begins with
	merged []*Election // all of it, from the first difference on
	room   int         // how many there may be
}

func (m *merging) add(e *Election) {
	if m.merged == nil {
		if m.same < len(m.known) && m.known[m.same] == e {
			m.same++
			return
		}
		m.merged = append(make([]*Election, 0, m.room), m.known[:m.same]...)
	}
	m.merged = append(m.merged, e)
}

func (m *merging) result() (merged []*Election, changed bool) {
	if m.merged == nil {
		return m.known[:m.same], m.same < len(m.known)
	}
	return m.merged, true
}

// replace puts the merged elections where the old ones stood, without touching
// a slice that a snapshot shows.
func (t *Tracker) replace(lo, hi int, merged []*Election) {
	if !t.lent {
		t.elections = slices.Replace(t.elections, lo, hi, merged...)
		return
	}
	t.elections, t.lent = slices.Concat(t.elections[:lo], merged, t.elections[hi:]), false
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
	if o.Filtered && len(t.filtered) < maxFiltered {
		t.filtered[o.Range] = struct{}{}
	}
}

func (t *Tracker) sessionsRead(o SessionsRead) {
	if len(t.sessions) == 0 {
		t.sessions = make(map[string]*Session, len(o.Sessions)) // all at once, mostly
	}
	fresh, held := false, false
	for _, s := range o.Sessions {
		if t.sessions[s.ID] != nil {
			continue
		}
		t.sessions[s.ID], fresh = s, true
		if t.unread[s.ID] > 0 {
			delete(t.unread, s.ID)
			held = true
		}
	}
	// Sessions are mostly read before the keys that they hold.
	if held {
		if len(t.unread) == 0 {
			t.unread = map[string]int{} // a map never gives its room back
		}
		for i, e := range t.elections {
			if e.Exists && e.Session == nil && e.Pair.Held() && t.sessions[e.Pair.Session] != nil {
				t.set(i, withSession(e, t.sessions[e.Pair.Session]))
			}
		}
	}
	if !fresh {
		return
	}
	if t.surroundings != nil || t.sessionList != nil { // otherwise no list shows ages
		t.noteSeen(wall(o.At), o.Sessions)
		t.pruneSeen()
	}
	for _, p := range t.pending {
		if p.loss.Session == nil {
			p.loss.Session = t.sessions[p.event.Session]
		}
	}
}

// unreadLost says that an election is no longer held by a session that was not
// read.
func (t *Tracker) unreadLost(session string) {
	if t.unread[session]--; t.unread[session] <= 0 {
		delete(t.unread, session)
	}
}

// withSession completes an election with the session that holds it.
func withSession(e *Election, s *Session) *Election {
	n := *e
	n.Session = s
	if e.Leader == sessionLabel(s.ID, nil) { // otherwise the value names the leader
		n.Leader = LeaderLabel(n.Pair, s)
	}
	if last := len(n.Terms) - 1; last >= 0 && n.Terms[last].Session == s.ID {
		n.Terms = slices.Clone(n.Terms)
		n.Terms[last].Node, n.Terms[last].Leader = s.Node, n.Leader
	}
	return &n
}

// appendBounded appends to a list of which only the last limit elements matter.
// Elements that were handed out are never written again.
func appendBounded[T any](list, items []T, limit int) []T {
	if len(list)+len(items) <= 2*limit {
		return append(list, items...)
	}
	items = items[max(0, len(items)-limit):]
	return append(append(make([]T, 0, 2*limit), tail(list, limit-len(items))...), items...)
}

// appendKept appends to what is kept of one election, limit elements at most. Room
// that is left is shared with the elections before it, which read no further than
// their own length; there is little of it, as thousands of elections have some.
func appendKept[T any](list []T, item T, limit int) []T {
	list = list[max(0, len(list)-limit+1):]
	if len(list) == cap(list) {
		list = append(make([]T, 0, len(list)+len(list)/4+1), list...)
	}
	return append(list, item)
}

func tail[T any](list []T, n int) []T {
	list = list[max(0, len(list)-n):]
	return list[:len(list):len(list)]
}
