package sessions

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

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

// row is one session and its known keys.
type row struct {
	ses *election.Session
	// datacenter is the name of the session's datacenter.
	datacenter string
	state      state
	// holds contains the elections that the session leads, then the semaphores in which it holds a slot.
	holds []*election.Election
	waits *election.Election // in whose queue the session is; nil if it is unknown
	alike int                // number of similar orphans, including this one
	// failure is evidence that the leader with this session has failed, or nil if there is none.
	failure *insight.Failure
	// seen is when the session was first listed, or when its oldest term began if that is earlier.
	seen time.Time
	// created is set if seen is the time of creation.
	created bool
}

// content is what the rows are built from, and what was computed from it.
type content struct {
	rows      []*row // one for each session
	sessions  *election.SessionList
	elections []*election.Election
	// holding and orphans are the numbers of sessions in these states.
	holding, orphans int
	// name, node and hold are the maximum widths of these columns, in cells. datacenter is the width of the datacenter
	// column, or 0 if there is only one datacenter.
	name, node, hold, datacenter int
}

// build returns a row for each session of a snapshot.
func build(snap *election.Snapshot) content {
	c := content{sessions: snap.SessionList, elections: snap.Elections}
	if c.sessions == nil {
		return c
	}
	holds, waits, programs := scene.Led(snap.Elections), map[string]*election.Election{}, map[insight.Program]int{}
	for _, e := range snap.Elections {
		for _, w := range e.Pair.Queue {
			waits[w.Session] = e
		}
		if sem := election.ReadSemaphore(e, nil); sem != nil && isSlot(e) {
			for _, h := range sem.Holders {
				holds[h.Session] = append(holds[h.Session], e)
			}
		}
	}
	for _, s := range c.sessions.Sessions {
		first := c.sessions.FirstSeen[s.ID]
		r := &row{ses: s, datacenter: snap.In(s.Datacenter).Datacenter, state: holding, holds: holds[s.ID], waits: waits[s.ID], seen: first.At, created: first.Created}
		for i := 0; i < len(r.holds) && !r.created; i++ {
			r.seen = scene.Earlier(r.seen, r.holds[i].Since)
		}
		if len(r.holds) == 0 {
			r.state = idle
			if s.TTL == 0 && s.Name != "" { // sessions with a TTL expire and cannot become orphans
				programs[insight.ProgramOf(s)]++
			}
		}
		c.rows = append(c.rows, r)
	}
	candidates := sync.OnceValue(func() func(*election.Session) bool { return mayWait(c.elections) })
	for _, r := range c.rows {
		n := programs[insight.ProgramOf(r.ses)]
		switch {
		case r.state == holding:
			c.holding++
		case r.ses.TTL == 0 && n >= insight.ManyOrphans && !candidates()(r.ses):
			r.state, r.alike = orphan, n
			c.orphans++
		}
		c.name, c.node = max(c.name, kit.Width(scene.Clean(r.ses.Name))), max(c.node, kit.Width(scene.Clean(r.ses.Node)))
		c.hold = max(c.hold, kit.Width(holdsText(r).Text))
	}
	for _, part := range snap.Parts {
		c.datacenter = max(c.datacenter, 2, kit.Width(scene.Clean(part.Datacenter)))
	}
	return c
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

// matchWord reports whether a session matches a word of a filter without its not.
func matchWord(w *query.Word, r *row) bool {
	holds := func(of func(*election.Election) bool) bool { return slices.ContainsFunc(r.holds, of) }
	switch w.Field {
	case "state":
		return strings.HasPrefix([...]string{"orphan", "idle", "holding"}[r.state], w.Value)
	case "node":
		return w.In(r.ses.Node)
	case "dc":
		return w.Is(r.datacenter)
	case "session":
		return strings.HasPrefix(r.ses.ID, w.Value) || w.In(r.ses.Name)
	case "key":
		return holds(func(e *election.Election) bool { return w.In(e.Key()) })
	case "election":
		return holds(func(e *election.Election) bool { return w.Names(e.Name, e.Key()) })
	}
	return w.In(r.ses.Name) || w.In(r.ses.Node) || w.In(r.ses.ID) || holds(func(e *election.Election) bool { return w.In(e.Name) })
}

func (r *row) sign(sym *kit.Symbols) kit.Span {
	switch {
	case r.failure != nil:
		return kit.Bad.Span(sym.Critical)
	case r.state == holding:
		return kit.Led.Span(sym.Led)
	case r.state == orphan:
		return kit.Delay.Span(sym.Warning)
	default:
		return kit.Quiet.Span(sym.Dot)
	}
}

// holdsText names the elections and semaphores of a session.
func holdsText(r *row) kit.Span {
	switch r.state {
	case orphan:
		return kit.Delay.Span("orphan? " + strconv.Itoa(r.alike) + " alike")
	case idle:
		if r.waits != nil {
			return kit.Quiet.Span("waits for " + sanitize.Text(r.waits.Name))
		}
		return kit.Quiet.Span("no watched keys")
	default:
	}
	names := make([]string, len(r.holds))
	for i, e := range r.holds {
		if names[i] = sanitize.Text(e.Name); isSlot(e) {
			names[i] = "a slot of " + names[i]
		}
	}
	return kit.Text.Span(election.NameList(names, 3))
}

// isSlot reports whether the sessions of an election hold slots of a semaphore, not its lock.
func isSlot(e *election.Election) bool { return e.IsSemaphore() && !e.Pair.Held() }

// age returns the age of the session. It is a lower bound unless electop observed the creation.
func (r *row) age(s *scene.Scene) string {
	return s.AtLeast(election.BriefDuration(s.AsOf.Sub(r.seen)), r.created)
}

// mayWait returns a function that reports whether a session may be a candidate: it led an election, its name or a check
// resembles that of a leader's session, or its name contains the name of an election. Such a session is not an orphan.
func mayWait(es []*election.Election) func(*election.Session) bool {
	known, names := make(map[string]bool, 3*len(es)), make(map[string]bool, len(es))
	for _, e := range es {
		names[e.Name] = true
		for i := range e.Terms {
			known[e.Terms[i].Session] = true
		}
		for _, s := range []*election.Session{e.Session, e.LastSession} {
			if s != nil {
				for _, look := range looksOf(s) {
					known[look] = true
				}
			}
		}
	}
	return func(s *election.Session) bool {
		for _, look := range append(looksOf(s), s.ID) {
			if known[look] {
				return true
			}
		}
		for word := range strings.FieldsFuncSeq(s.Name, func(r rune) bool { return unicode.IsSpace(r) || r == ':' || r == '/' }) {
			for i := 3; i <= len(word); i++ { // shorter names are ambiguous
				if (i == len(word) || strings.IndexByte("-_.", word[i]) >= 0) && names[word[:i]] {
					return true
				}
			}
		}
		return false
	}
}

// looksOf returns what a session's name and service checks have in common with those of other instances of its program.
func looksOf(s *election.Session) (looks []string) {
	for i, text := range append([]string{s.Name}, s.ServiceChecks...) {
		if text != "" {
			looks = append(looks, []string{"name ", "check "}[min(i, 1)]+cmp.Or(insight.Shape(text, s.Node), text))
		}
	}
	return looks
}
