package scene

import (
	"strings"
	"time"

	"electop/election/insight"
	"electop/ui/internal/term"

	"electop/election"
)

// NobodyNext says why no candidate can be named.
func NobodyNext(s *Scene, in *Assessment) string {
	switch {
	case in.Around != nil:
		return insight.NoCandidate(in.Around)
	case !s.Studies:
		return "candidates are not read"
	case s.Stale:
		return "not known: Consul is unreachable"
	}
	return "being read"
}

// shownNext is how many likely candidates are named in one line.
const shownNext = 5

// NextSpans name who is likely to lead next, or say why nobody is named.
func NextSpans(s *Scene, in *Assessment) []term.Span {
	if len(in.Candidates) == 0 {
		r := term.Text
		if len(in.Around.Unread()) > 0 {
			r = term.Delay
		}
		return []term.Span{{r, NobodyNext(s, in)}}
	}
	text := term.NameList(NextNames(in.Candidates), shownNext)
	if in.Candidates[0].Weak {
		return []term.Span{{term.Quiet, "perhaps "}, {term.Text, text}}
	}
	return []term.Span{{term.Text, text}}
}

// NextNames names candidates with their nodes, and with their sessions where
// several would look the same.
func NextNames(all []insight.Candidate) []string {
	type looks struct{ name, node string }
	of := func(c insight.Candidate) looks { return looks{CandidateName(c), Clean(c.Session.Node)} }
	alike := make(map[looks]int, len(all))
	for _, c := range all {
		alike[of(c)]++
	}
	names := make([]string, 0, len(all))
	for _, c := range all {
		l := of(c)
		beside := l.node
		if alike[l] > 1 {
			beside = strings.TrimPrefix(l.node+", "+election.ShortID(c.Session.ID), ", ")
		}
		if beside != "" {
			l.name += " (" + beside + ")"
		}
		names = append(names, l.name)
	}
	return names
}

// CandidateName is a candidate's name without its node, which stands beside it.
func CandidateName(c insight.Candidate) string {
	name := Clean(c.Name)
	if short, found := strings.CutSuffix(name, " on "+Clean(c.Session.Node)); found && short != "" {
		return short
	}
	return name
}

// Assessment is what is inferred of one election from all that is known: who may
// be next, what is risky about it.
type Assessment struct {
	// Around are its surroundings, nil while they were not read.
	Around     *election.Surroundings
	Candidates []insight.Candidate
	Semaphore  *election.Semaphore
	Advice     []insight.Advice
}

// Likely is how many likely candidates are known of, -1 when that there is none
// is not known.
func (in *Assessment) Likely() int { return insight.Likely(in.Candidates, in.Around) }

// InsightCache keeps the insight into the election that was looked at last: a
// frame needs it several times, and each costs 2 ms among 1,000 elections.
// Elections and surroundings are immutable.
type InsightCache struct {
	of     *election.Election
	around *election.Surroundings
	all    []*election.Election
	at     time.Time
	In     *Assessment
	// sessions are all sessions, as the surroundings of any election list them.
	sessions []*election.Session
}

// insightAge is how long an insight holds while other elections change, adviceAge
// how long in any case: advice about a flapping election ends by itself.
const (
	InsightAge = 3 * time.Second
	AdviceAge  = time.Minute
)

// Look infers anew what it does not keep.
func (c *InsightCache) Look(e *election.Election, around *election.Surroundings, all []*election.Election, asOf time.Time) *Assessment {
	if around != nil && around.Key != e.Key() {
		around = nil
	}
	if c.In != nil && c.of == e && c.around == around && c.holds(all, asOf) {
		return c.In
	}
	if around != nil {
		c.sessions = around.Sessions
	}
	board := insight.NewBoard(all, c.sessions)
	c.In = &Assessment{
		Around: around, Candidates: board.Candidates(e, around), Semaphore: election.ReadSemaphore(e, around),
		Advice: board.Advise(e, around, asOf),
	}
	c.of, c.around, c.all, c.at = e, around, all, asOf
	return c.In
}

func (c *InsightCache) holds(all []*election.Election, asOf time.Time) bool {
	age := asOf.Sub(c.at)
	return age >= 0 && (age < InsightAge || age < AdviceAge && SameSlice(c.all, all))
}

// SameSlice reports slices of the same memory: what a snapshot shows is copied
// before it is changed.
func SameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
