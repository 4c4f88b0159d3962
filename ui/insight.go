package ui

import (
	"slices"
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

// insightCache keeps the insight into the election that was looked at last, and
// the board that it rests on. Elections and surroundings are immutable. All other
// elections matter little, so that many changes among them do not cost an
// inference each, and a cursor that moves needs no other board.
type insightCache struct {
	of     *election.Election
	around *election.Surroundings
	at     time.Time
	in     *assessment

	since    time.Time // when it was first asked
	board    *insight.Board
	all      []*election.Election
	sessions []*election.Session
	boardAt  time.Time
}

// How long advice holds in any case, for that about a flapping election ends by
// itself; and how long a board does while other elections or sessions change:
// with many of them it is much work to put them in order.
const (
	adviceAge        = 10 * time.Second
	boardPause       = 2 * time.Second
	boardPauseAtEach = 100 * time.Microsecond
)

// firstPatience is how long the first insight waits for surroundings, which come a
// moment after the first board: that one need not wait for a look at all others.
const firstPatience = time.Second

// early is what an election alone tells.
func (c *insightCache) early(e *election.Election, asOf time.Time) (in *assessment, ok bool) {
	if c.since.IsZero() {
		c.since = asOf
	}
	if age := asOf.Sub(c.since); c.board != nil || age < 0 || age >= firstPatience {
		return nil, false
	}
	return &assessment{semaphore: election.ReadSemaphore(e, nil), software: insight.DetectSoftware(e, nil)}, true
}

func (c *insightCache) look(e *election.Election, around *election.Surroundings, all []*election.Election, asOf time.Time) *assessment {
	if around != nil && around.Key != e.Key() {
		around = nil
	}
	other := c.arrange(around, all, asOf)
	age := asOf.Sub(c.at)
	switch {
	case other || c.in == nil || c.of != e || c.around != around:
		c.in = &assessment{
			around: around, candidates: c.board.Candidates(e, around), semaphore: election.ReadSemaphore(e, around),
			software: insight.DetectSoftware(e, around), advice: c.board.Advise(e, around, asOf),
		}
	case age < 0 || age >= adviceAge:
		in := *c.in
		in.advice = c.board.Advise(e, around, asOf)
		c.in = &in
	default:
		return c.in
	}
	c.of, c.around, c.at = e, around, asOf
	return c.in
}

// arrange makes the board anew if it is another one and the last is old enough,
// and reports that it did. Surroundings of any election have all sessions.
func (c *insightCache) arrange(around *election.Surroundings, all []*election.Election, asOf time.Time) bool {
	sessions := c.sessions
	if around != nil {
		sessions = around.Sessions
	}
	age := asOf.Sub(c.boardAt)
	pause := boardPause + time.Duration(len(all))*boardPauseAtEach
	if c.board != nil && age >= 0 && age < pause && (len(c.sessions) > 0 || len(sessions) == 0) {
		return false
	}
	c.boardAt = asOf
	if c.board != nil && sameSlice(c.all, all) && sameSessions(c.sessions, sessions) {
		return false
	}
	c.board, c.all, c.sessions = insight.NewBoard(all, sessions), all, sessions
	return true
}

// sameSlice reports slices of the same memory: what a snapshot shows is copied
// before it is changed.
func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// sameSessions reports lists of the same sessions, whose settings never change.
func sameSessions(a, b []*election.Session) bool {
	return sameSlice(a, b) || slices.EqualFunc(a, b, func(x, y *election.Session) bool { return x.ID == y.ID })
}

// insight looks into an election of the shown snapshot.
func (s *scene) insight(e *election.Election) *assessment {
	around := s.around(e)
	if around == nil && s.studies {
		if in, ok := s.insights.early(e, s.asOf); ok {
			return in
		}
	}
	return s.insights.look(e, around, s.snap.Elections, s.asOf)
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
