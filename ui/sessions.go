package ui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"electop/election"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// sessionsView is the third view: every session of the datacenter. Rows are
// known by the session's id, so the cursor stays on its session.
type sessionsView struct {
	order  []*sessionRow // filtered and sorted
	cursor string
	index  int
	offset int
	marks  map[string]bool
	filter scene.Filter
	sort   sessionSorting
	wide   bool
	// open shows the session under the cursor in full, from line top on.
	open bool
	top  int
	// rows are all sessions, made from list, board and the scan that ended at
	// scanned.
	rows    []sessionRow
	list    *election.SessionList
	board   **election.Election
	scan    storeScan
	scanned time.Time
	tally   sessionTally
	// name, node and hold are how wide these columns are at most.
	name, node, hold int
}

func newSessionsView() *sessionsView { return &sessionsView{marks: map[string]bool{}} }

// sessionTally counts the sessions by how they stand.
type sessionTally struct{ all, holding, orphans int }

// sessionStanding is what a session is good for, as far as the board tells.
type sessionStanding uint8

const (
	sessionOrphan  sessionStanding = iota // probably left behind by a program
	sessionIdle                           // no key of it is known; it may wait
	sessionHolding                        // holds a known key
)

func (s sessionStanding) word() string { return [...]string{"orphan", "idle", "holding"}[s] }

// sessionRow is one session with what it holds among the watched elections.
type sessionRow struct {
	ses    *election.Session
	stands sessionStanding
	holds  []*election.Election
	// slots are the semaphores in which it holds a slot.
	slots []*election.Election
	// others are the keys outside the patterns that a scan found; scanned says
	// that one covered the session, partly that it may have missed keys.
	others          []string
	scanned, partly bool
	alike           int // sessions that look left behind, this one too
	seen            time.Time
	// created says that its creation was observed: before seen it did not exist.
	created bool
}

// manyAlike is from how many idle sessions of one name, node and checks on they
// look left behind: one or two may be candidates that wait. It is the number
// from which election's advice speaks of it.
const manyAlike = 3

// kin are sessions that one program on one node makes again and again.
type kin struct{ name, node, checks string }

func kinOf(s *election.Session) kin {
	return kin{s.Name, s.Node, strings.Join(s.Checks(), "\x00")}
}

// refresh makes the rows anew when the sessions or the elections changed, and
// the order in any case.
func (v *sessionsView) refresh(snap *election.Snapshot) {
	var board **election.Election
	if len(snap.Elections) > 0 {
		board = &snap.Elections[0]
	}
	if v.list != snap.SessionList || v.board != board || !v.scanned.Equal(v.scan.result.at) {
		v.list, v.board, v.scanned = snap.SessionList, board, v.scan.result.at
		v.build(snap)
	}
	v.order = v.order[:0]
	for i := range v.rows {
		if r := &v.rows[i]; v.filter.Empty() || matchSession(v.filter, r) {
			v.order = append(v.order, r)
		}
	}
	sortSessions(v.order, v.sort)
	v.relocate()
}

// measure finds out how wide the content is.
func (v *sessionsView) measure() {
	v.name, v.node, v.hold = 0, 0, 0
	for i := range v.rows {
		r := &v.rows[i]
		v.name = max(v.name, term.Width(scene.Clean(r.ses.Name)))
		v.node = max(v.node, term.Width(scene.Clean(r.ses.Node)))
		if r.stands != sessionIdle {
			v.hold = max(v.hold, term.Width(r.holdsText().Text))
		}
	}
}

// build makes the rows.
func (v *sessionsView) build(snap *election.Snapshot) {
	v.rows, v.tally = nil, sessionTally{}
	if v.list == nil {
		return
	}
	holds, slots := heldBy(snap.Elections)
	idle := map[kin]int{}
	v.rows = make([]sessionRow, 0, len(v.list.Sessions))
	for _, s := range v.list.Sessions {
		r := sessionRow{ses: s, stands: sessionHolding, holds: holds[s.ID], slots: slots[s.ID]}
		r.remember(v.list.FirstSeen[s.ID])
		v.addScanned(&r, snap)
		if len(r.holds)+len(r.slots)+len(r.others) == 0 {
			r.stands = sessionIdle
			if s.TTL == 0 && s.Name != "" { // one with a TTL ends by itself
				idle[kinOf(s)]++
			}
		}
		v.rows = append(v.rows, r)
	}
	v.count(idle, snap.Elections)
	v.measure()
	for id := range v.marks {
		if !slices.ContainsFunc(v.list.Sessions, func(s *election.Session) bool { return s.ID == id }) {
			delete(v.marks, id)
		}
	}
}

// remember takes over when the session was first seen. It is at least as old as the
// terms that it leads.
func (r *sessionRow) remember(first election.Seen) {
	r.seen, r.created = first.At, first.Created
	for i := 0; i < len(r.holds) && !r.created; i++ {
		r.seen = scene.Earlier(r.seen, r.holds[i].Since)
	}
}

// addScanned adds what the latest scan found beside the watched keys, which the
// board has newer.
func (v *sessionsView) addScanned(r *sessionRow, snap *election.Snapshot) {
	r.scanned, r.partly = v.scan.result.of[r.ses.ID], v.scan.result.partial
	for _, p := range v.scan.result.keys[r.ses.ID] {
		if snap.Find(p.Key) == nil {
			r.others = append(r.others, p.Key)
		}
	}
}

// countMarks counts the marked sessions that the filter shows and hides.
func (v *sessionsView) countMarks() (visible, hidden int) {
	if len(v.marks) == 0 {
		return 0, 0
	}
	for _, r := range v.order {
		if v.marks[r.ses.ID] {
			visible++
		}
	}
	return visible, len(v.marks) - visible
}

// count finds the orphans and counts all. Who may wait for a watched election is
// asked only when there are suspects.
func (v *sessionsView) count(idle map[kin]int, es []*election.Election) {
	v.tally.all = len(v.rows)
	var waiting *waiters
	for i := range v.rows {
		r := &v.rows[i]
		if r.stands == sessionHolding {
			v.tally.holding++
			continue
		}
		if n := idle[kinOf(r.ses)]; n >= manyAlike && r.ses.TTL == 0 {
			if waiting == nil {
				waiting = newWaiters(es)
			}
			if waiting.mayWait(r.ses) {
				continue
			}
			r.stands, r.alike = sessionOrphan, n
			v.tally.orphans++
		}
	}
}

// heldBy tells which elections each session leads and in which semaphores it
// has a slot.
func heldBy(es []*election.Election) (holds, slots map[string][]*election.Election) {
	holds, slots = make(map[string][]*election.Election, len(es)), map[string][]*election.Election{}
	for _, e := range es {
		switch {
		case e.Exists && e.Pair.Held():
			holds[e.Pair.Session] = append(holds[e.Pair.Session], e)
		case e.IsSemaphore():
			sem := election.ReadSemaphore(e, nil)
			for i := 0; sem != nil && i < len(sem.Holders); i++ {
				id := sem.Holders[i].Session
				slots[id] = append(slots[id], e)
			}
		}
	}
	return holds, slots
}

// relocate finds the cursor's session in a new order; when it is gone, the one
// that took its place is selected.
func (v *sessionsView) relocate() {
	for i, r := range v.order {
		if r.ses.ID == v.cursor {
			v.index = i
			return
		}
	}
	v.open = false // what was open is gone
	v.moveTo(v.index)
}

func (v *sessionsView) moveTo(i int) {
	v.index = max(0, min(i, len(v.order)-1))
	v.cursor = ""
	if r := v.selected(); r != nil {
		v.cursor = r.ses.ID
	}
}

// selected is the session under the cursor, nil when there is none.
func (v *sessionsView) selected() *sessionRow {
	if v.index < 0 || v.index >= len(v.order) {
		return nil
	}
	return v.order[v.index]
}

func (v *sessionsView) scroll(rows int) {
	v.offset = min(v.offset, v.index)
	v.offset = max(v.offset, v.index-rows+1)
	v.offset = max(0, min(v.offset, len(v.order)-rows))
}

// sessionSorting is what the sessions are sorted by. Each key begins with the
// direction that shows the remarkable first.
type sessionSorting struct {
	key     int
	reverse bool
}

// sessionSorts are the words of the sort keys.
func sessionSorts() []string { return []string{"name", "node", "state", "holds", "age", "ttl"} }

func (s sessionSorting) word() string { return sessionSorts()[s.key] }

func (s sessionSorting) compare(a, b *sessionRow) int {
	switch s.word() {
	case "node":
		return strings.Compare(a.ses.Node, b.ses.Node)
	case "state":
		return cmp.Compare(a.stands, b.stands)
	case "holds":
		return cmp.Compare(b.known(), a.known())
	case "age":
		return a.seen.Compare(b.seen)
	case "ttl":
		return cmp.Compare(a.ses.TTL, b.ses.TTL)
	}
	return strings.Compare(a.ses.Name, b.ses.Name)
}

// sortSessions orders sessions; equal ones by name, node and id.
func sortSessions(rows []*sessionRow, s sessionSorting) {
	slices.SortFunc(rows, func(a, b *sessionRow) int {
		c := s.compare(a, b)
		if s.reverse {
			c = -c
		}
		return cmp.Or(c, strings.Compare(a.ses.Name, b.ses.Name), strings.Compare(a.ses.Node, b.ses.Node), strings.Compare(a.ses.ID, b.ses.ID))
	})
}

// known counts what the session holds, as far as that is known.
func (r *sessionRow) known() int { return len(r.holds) + len(r.slots) + len(r.others) }

// matchSession reports whether every word matches the session.
func matchSession(f scene.Filter, r *sessionRow) bool {
	for _, w := range f.Words {
		if matchOneSession(w, r) == w.Not {
			return false
		}
	}
	return true
}

func matchOneSession(w scene.FilterWord, r *sessionRow) bool {
	held := func(text func(*election.Election) string) bool {
		match := func(e *election.Election) bool { return scene.ContainsFold(text(e), w.Value) }
		return slices.ContainsFunc(r.holds, match) || slices.ContainsFunc(r.slots, match)
	}
	other := slices.ContainsFunc(r.others, func(key string) bool { return scene.ContainsFold(key, w.Value) })
	name := func(e *election.Election) string { return e.Name }
	switch w.Field {
	case "state":
		return strings.HasPrefix(r.stands.word(), w.Value)
	case "node":
		return scene.ContainsFold(r.ses.Node, w.Value)
	case "session":
		return strings.HasPrefix(r.ses.ID, w.Value) || scene.ContainsFold(r.ses.Name, w.Value)
	case "key":
		return held((*election.Election).Key) || other
	case "leader", "type":
		return false
	}
	return scene.ContainsFold(r.ses.Name, w.Value) || scene.ContainsFold(r.ses.Node, w.Value) || scene.ContainsFold(r.ses.ID, w.Value) || held(name) || other
}
