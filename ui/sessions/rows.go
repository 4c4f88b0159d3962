package sessions

import (
	"maps"
	"slices"
	"strings"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/election/query"
	"electop/ui/kit"
	"electop/ui/scene"
)

// tally counts the sessions by state.
type tally struct{ all, holding, orphans int }

// state is the state of a session, inferred from its known keys.
type state uint8

const (
	orphan  state = iota // probably not removed by the program that created it
	idle                 // holds no known key; may be a candidate
	holding              // holds a known key
)

func (s state) word() string { return [...]string{"orphan", "idle", "holding"}[s] }

// row is one session and its known keys.
type row struct {
	ses *election.Session
	// datacenter is the name of the session's datacenter.
	datacenter string
	state      state
	holds      []*election.Election
	// slots contains the semaphores in which the session holds a slot.
	slots []*election.Election
	// others contains the unwatched keys that a scan found. scanned is set if the scan covered the session. partly is
	// set if the scan may have missed keys.
	others          []string
	scanned, partly bool
	alike           int // number of similar orphans, including this one
	// failure is evidence that the leader with this session has failed, or nil if there is none.
	failure *insight.Failure
	seen    time.Time
	// created is set if seen is the time of creation.
	created bool
}

// measure computes the maximum column widths.
func (v *Model) measure() {
	v.name, v.node, v.hold, v.datacenter = 0, 0, 0, 0
	for i := range v.rows {
		r := &v.rows[i]
		v.name = max(v.name, kit.Width(scene.Clean(r.ses.Name)))
		v.node = max(v.node, kit.Width(scene.Clean(r.ses.Node)))
		if r.state != idle {
			v.hold = max(v.hold, kit.Width(r.holdsText().Text))
		}
	}
}

func (v *Model) build(snap *election.Snapshot) {
	v.rows, v.tally = nil, tally{}
	if v.list == nil {
		return
	}
	holds, slots := scene.Led(snap.Elections), slotsOf(snap.Elections)
	programs := map[insight.Program]int{}
	v.rows = make([]row, 0, len(v.list.Sessions))
	for _, s := range v.list.Sessions {
		r := row{ses: s, datacenter: snap.In(s.Datacenter).Datacenter, state: holding, holds: holds[s.ID], slots: slots[s.ID]}
		r.setSeen(v.list.FirstSeen[s.ID])
		v.addScanned(&r, snap)
		if len(r.holds)+len(r.slots)+len(r.others) == 0 {
			r.state = idle
			if s.TTL == 0 && s.Name != "" { // sessions with a TTL expire and cannot become orphans
				programs[insight.ProgramOf(s)]++
			}
		}
		v.rows = append(v.rows, r)
	}
	v.count(programs, snap.Elections)
	v.measure()
	for _, part := range snap.Parts {
		v.datacenter = max(v.datacenter, 2, kit.Width(scene.Clean(part.Datacenter)))
	}
	v.marks = maps.Clone(v.marks)
	maps.DeleteFunc(v.marks, func(id string, _ bool) bool {
		return !slices.ContainsFunc(v.list.Sessions, func(s *election.Session) bool { return s.ID == id })
	})
}

// setSeen sets the earliest known time of the session: when it was first listed, or when its oldest term began if
// that is earlier.
func (r *row) setSeen(first election.Seen) {
	r.seen, r.created = first.At, first.Created
	for i := 0; i < len(r.holds) && !r.created; i++ {
		if since := r.holds[i].Since; r.seen.IsZero() || !since.IsZero() && since.Before(r.seen) {
			r.seen = since
		}
	}
}

// addScanned adds the keys of the latest scan. It omits watched keys, because the snapshot has newer data about them.
func (v *Model) addScanned(r *row, snap *election.Snapshot) {
	r.scanned, r.partly = v.scan.result.of[r.ses.ID], v.scan.result.partial
	own := snap.In(r.ses.Datacenter)
	for _, p := range v.scan.result.keys[r.ses.ID] {
		if own.Find(election.KeyID(p.Key)) == nil {
			r.others = append(r.others, p.Key)
		}
	}
}

// count finds the orphans and counts the rows by state.
func (v *Model) count(programs map[insight.Program]int, es []*election.Election) {
	v.tally.all = len(v.rows)
	var waiting *waiters
	for i := range v.rows {
		r := &v.rows[i]
		if r.state == holding {
			v.tally.holding++
			continue
		}
		if n := programs[insight.ProgramOf(r.ses)]; n >= insight.ManyOrphans && r.ses.TTL == 0 {
			if waiting == nil {
				waiting = newWaiters(es)
			}
			if waiting.mayWait(r.ses) {
				continue
			}
			r.state, r.alike = orphan, n
			v.tally.orphans++
		}
	}
}

// failedLeaders maps the sessions of failed leaders to the evidence of the failure.
func failedLeaders(snap *election.Snapshot) map[string]*insight.Failure {
	failed := map[string]*insight.Failure{}
	for _, part := range snap.Datacenters() {
		nodes := insight.NewFailedNodes(part.Checks)
		for _, e := range part.Elections {
			if f := nodes.Of(e); f.Current() {
				failed[e.Session.ID] = f
			}
		}
	}
	return failed
}

// slotsOf maps each session to the semaphores in which it holds a slot.
func slotsOf(es []*election.Election) map[string][]*election.Election {
	slots := map[string][]*election.Election{}
	for _, e := range es {
		if e.Exists && e.Pair.Held() || !e.IsSemaphore() {
			continue
		}
		sem := election.ReadSemaphore(e, nil)
		for i := 0; sem != nil && i < len(sem.Holders); i++ {
			id := sem.Holders[i].Session
			slots[id] = append(slots[id], e)
		}
	}
	return slots
}

// known returns the number of known keys of the session.
func (r *row) known() int { return len(r.holds) + len(r.slots) + len(r.others) }

// match reports whether a session matches every word of a filter.
func match(f query.Filter, r *row) bool {
	for i := range f.Words {
		if w := &f.Words[i]; matchWord(w, r) == w.Not {
			return false
		}
	}
	return true
}

func matchWord(w *query.Word, r *row) bool {
	held := func(text func(*election.Election) string) bool {
		match := func(e *election.Election) bool { return w.In(text(e)) }
		return slices.ContainsFunc(r.holds, match) || slices.ContainsFunc(r.slots, match)
	}
	other := slices.ContainsFunc(r.others, func(key string) bool { return w.In(key) })
	name := func(e *election.Election) string { return e.Name }
	switch w.Field {
	case "state":
		return strings.HasPrefix(r.state.word(), w.Value)
	case "node":
		return w.In(r.ses.Node)
	case "dc":
		return w.Is(r.datacenter)
	case "session":
		return strings.HasPrefix(r.ses.ID, w.Value) || w.In(r.ses.Name)
	case "key":
		return held((*election.Election).Key) || other
	case "election":
		match := func(e *election.Election) bool { return w.Names(e.Name, e.Key()) }
		return slices.ContainsFunc(r.holds, match) || slices.ContainsFunc(r.slots, match)
	}
	return w.In(r.ses.Name) || w.In(r.ses.Node) || w.In(r.ses.ID) || held(name) || other
}
