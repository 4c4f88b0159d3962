package ui

import (
	"time"

	"electop/election"
	"electop/election/insight"
)

// assessment is what is inferred of one election from all that is known: who may
// be next, whose software it is, what is risky about it.
type assessment struct {
	// around are its surroundings, nil while they were not read.
	around     *election.Surroundings
	candidates []insight.Candidate
	semaphore  *election.Semaphore
	software   *insight.Software
	advice     []insight.Advice
}

// unread tells what could not be read, in plain words.
func (in *assessment) unread() []string {
	if in.around == nil {
		return nil
	}
	var all []string
	for _, text := range []string{in.around.SiblingsErr, in.around.SessionsErr} {
		if text != "" {
			all = append(all, oneLine(text, 200))
		}
	}
	return all
}

// likely is how many likely candidates are known of, -1 when that there is none
// is not known.
func (in *assessment) likely() int {
	n := insight.Likely(in.candidates)
	if in.around == nil || n == 0 && (len(in.candidates) > 0 || len(in.unread()) > 0) {
		return -1
	}
	return n
}

// insightCache keeps the insight into the election that was looked at last: a
// frame needs it several times, and each costs 2 ms among 1,000 elections.
// Elections and surroundings are immutable.
type insightCache struct {
	of     *election.Election
	around *election.Surroundings
	all    []*election.Election
	at     time.Time
	in     *assessment
	// sessions are all sessions, as the surroundings of any election list them.
	sessions []*election.Session
}

// insightAge is how long an insight holds while other elections change, adviceAge
// how long in any case: advice about a flapping election ends by itself.
const (
	insightAge = 3 * time.Second
	adviceAge  = time.Minute
)

func (c *insightCache) look(e *election.Election, around *election.Surroundings, all []*election.Election, asOf time.Time) *assessment {
	if around != nil && around.Key != e.Key() {
		around = nil
	}
	if c.in != nil && c.of == e && c.around == around && c.holds(all, asOf) {
		return c.in
	}
	if around != nil {
		c.sessions = around.Sessions
	}
	board := insight.NewBoard(all, c.sessions)
	c.in = &assessment{
		around: around, candidates: board.Candidates(e, around), semaphore: election.ReadSemaphore(e, around),
		software: insight.DetectSoftware(e, around), advice: board.Advise(e, around, asOf),
	}
	c.of, c.around, c.all, c.at = e, around, all, asOf
	return c.in
}

func (c *insightCache) holds(all []*election.Election, asOf time.Time) bool {
	age := asOf.Sub(c.at)
	return age >= 0 && (age < insightAge || age < adviceAge && sameSlice(c.all, all))
}

// sameSlice reports slices of the same memory: what a snapshot shows is copied
// before it is changed.
func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// insight looks into an election of the shown snapshot.
func (s *scene) insight(e *election.Election) *assessment {
	return s.insights.look(e, s.around(e), s.snap.Elections, s.asOf)
}

// around are the surroundings of an election. A board that is paused has those
// of the election that was looked at then; of another one newer ones serve.
func (s *scene) around(e *election.Election) *election.Surroundings {
	for _, snap := range []*election.Snapshot{s.snap, s.live} {
		if snap.Surroundings != nil && snap.Surroundings.Key == e.Key() {
			return snap.Surroundings
		}
	}
	return nil
}
