package sessions

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/election/query"
	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
)

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
	marked  bool
}

// build returns a row for each session of a snapshot.
func build(snap *election.Snapshot, scan scanResult) (c content) {
	c.sessions, c.elections, c.scanned = snap.SessionList, snap.Elections, scan
	if c.sessions == nil {
		return c
	}
	holds, slots := scene.Led(snap.Elections), slotsOf(snap.Elections)
	programs := map[insight.Program]int{}
	c.rows = make([]row, 0, len(c.sessions.Sessions))
	for _, s := range c.sessions.Sessions {
		r := row{ses: s, datacenter: snap.In(s.Datacenter).Datacenter, state: holding, holds: holds[s.ID], slots: slots[s.ID]}
		r.setSeen(c.sessions.FirstSeen[s.ID])
		r.scanned, r.partly = scan.of[s.ID], scan.partial
		for _, p := range scan.keys[s.ID] {
			if snap.In(s.Datacenter).Find(election.KeyID(p.Key)) == nil { // the snapshot has newer data about watched keys
				r.others = append(r.others, p.Key)
			}
		}
		if r.known() == 0 {
			r.state = idle
			if s.TTL == 0 && s.Name != "" { // sessions with a TTL expire and cannot become orphans
				programs[insight.ProgramOf(s)]++
			}
		}
		c.rows = append(c.rows, r)
	}
	c.count(programs)
	for _, part := range snap.Parts {
		c.datacenter = max(c.datacenter, 2, kit.Width(scene.Clean(part.Datacenter)))
	}
	return c
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

// count finds the orphans, counts the rows by state and computes the widths.
func (c *content) count(programs map[insight.Program]int) {
	var waiting *waiters
	for i := range c.rows {
		r := &c.rows[i]
		if n := programs[insight.ProgramOf(r.ses)]; r.state == idle && n >= insight.ManyOrphans && r.ses.TTL == 0 {
			if waiting == nil {
				waiting = newWaiters(c.elections)
			}
			if !waiting.mayWait(r.ses) {
				r.state, r.alike = orphan, n
				c.orphans++
			}
		}
		c.name = max(c.name, kit.Width(scene.Clean(r.ses.Name)))
		c.node = max(c.node, kit.Width(scene.Clean(r.ses.Node)))
		if r.state == holding {
			c.holding++
		}
		if r.state != idle {
			c.hold = max(c.hold, kit.Width(r.holdsText().Text))
		}
	}
}

// failedLeaders maps the sessions of failed leaders to the evidence of the failure.
func failedLeaders(snap *election.Snapshot) map[string]*insight.Failure {
	failed := map[string]*insight.Failure{}
	for _, part := range snap.Datacenters() {
		for _, e := range part.Elections {
			if f := insight.FailureOf(e, part.Checks); f.Current() {
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

func (r *row) sign(sym *kit.Symbols) kit.Span {
	switch {
	case r.failure != nil:
		return kit.Span{kit.Bad, sym.Critical}
	case r.state == holding:
		return kit.Span{kit.Led, sym.Led}
	case r.state == orphan:
		return kit.Span{kit.Delay, sym.Warning}
	default:
		return kit.Span{kit.Quiet, sym.Idle}
	}
}

func (r *row) nothing() string {
	switch {
	case !r.scanned:
		return "no watched keys"
	case r.partly:
		return "no readable keys"
	}
	return "no keys"
}

// holdsText names the watched elections of a session and counts all keys that a scan found.
func (r *row) holdsText() kit.Span {
	switch r.state {
	case orphan:
		return kit.Span{kit.Delay, "orphan? " + strconv.Itoa(r.alike) + " alike"}
	case idle:
		return kit.Span{kit.Quiet, r.nothing()}
	default:
	}
	names := make([]string, 0, 4)
	for _, e := range r.holds[:min(len(r.holds), 3)] {
		names = append(names, sanitize.Text(e.Name))
	}
	for _, e := range r.slots[:min(len(r.slots), 3)] {
		names = append(names, "a slot of "+sanitize.Text(e.Name))
	}
	text := strings.Join(names, ", ")
	if more := len(r.holds) + len(r.slots) - len(names); more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	if !r.scanned {
		return kit.Span{kit.Text, text}
	}
	count := kit.Plural(len(r.holds)+len(r.others), "key")
	switch {
	case len(r.others) == 0 && len(r.holds) == 0:
		return kit.Span{kit.Text, text}
	case text == "":
		return kit.Span{kit.Text, count + ", none watched"}
	case len(r.others) > 0:
		text += ", " + strconv.Itoa(len(r.others)) + " unwatched"
	}
	return kit.Span{kit.Text, count + ": " + text}
}

// age returns the age of the session. It is a lower bound unless electop observed the creation.
func (r *row) age(sym *kit.Symbols, s *scene.Scene) string {
	return kit.AtLeast(sym, kit.Duration(s.AsOf.Sub(r.seen)), r.created)
}
