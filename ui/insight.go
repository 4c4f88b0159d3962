package ui

import (
	"time"

	"electop/election"
)

// insight is what is inferred of one election from all that is known: who may
// be next, whose software it is, what is risky about it.
type insight struct {
	// around are its surroundings, nil while they were not read.
	around     *election.Surroundings
	candidates []election.Candidate
	semaphore  *election.Semaphore
	software   *election.Software
	advice     []election.Advice
}

// newInsight infers. around may be nil or those of another election.
func newInsight(e *election.Election, around *election.Surroundings, all []*election.Election, asOf time.Time) *insight {
	if around != nil && around.Key != e.Key() {
		around = nil
	}
	return &insight{
		around: around, candidates: election.Candidates(e, around, all), semaphore: election.ReadSemaphore(e, around),
		software: election.DetectSoftware(e, around), advice: election.Advise(e, around, all, asOf),
	}
}

// unread tells what could not be read, in plain words.
func (in *insight) unread() []string {
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
func (in *insight) likely() int {
	n := election.Likely(in.candidates)
	if in.around == nil || n == 0 && (len(in.candidates) > 0 || len(in.unread()) > 0) {
		return -1
	}
	return n
}

// insightCache keeps the insight into the election that was looked at last.
// Elections and surroundings are immutable. All other elections matter little,
// so that many changes among them do not cost an inference each.
type insightCache struct {
	of     *election.Election
	around *election.Surroundings
	board  **election.Election // where all stand, and how many: another board
	size   int
	at     time.Time
	in     *insight
}

// How long an insight holds while only other elections change, and in any case:
// advice about a flapping election ends by itself.
const (
	insightPause = 2 * time.Second
	insightAge   = 10 * time.Second
)

func (c *insightCache) look(e *election.Election, around *election.Surroundings, all []*election.Election, asOf time.Time) *insight {
	var first **election.Election
	if len(all) > 0 {
		first = &all[0]
	}
	age := asOf.Sub(c.at)
	same := c.board == first && c.size == len(all)
	if c.in == nil || c.of != e || c.around != around || age < 0 || age >= insightAge || !same && age >= insightPause {
		c.of, c.around, c.board, c.size, c.at = e, around, first, len(all), asOf
		c.in = newInsight(e, around, all, asOf)
	}
	return c.in
}

// insight looks into an election of the shown snapshot.
func (s *scene) insight(e *election.Election) *insight {
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
