package observe

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/internal/crash"
)

const (
	// studyEvery is the interval between reads while no events occur.
	studyEvery = 5 * time.Second
	// studyGap and sessionGap, per listed session, are the minimum interval between reads while many events occur
	// or the selected election changes: a list of 10,000 sessions is expensive.
	studyGap   = 250 * time.Millisecond
	sessionGap = 200 * time.Microsecond
	// studyPace is the pause per listed session, so that lists of sessions take at most a thousandth of the time. The
	// pause is a constant, because the measured duration of the first list is not typical.
	studyPace  = 10 * time.Millisecond
	studyLimit = 10 * time.Second
)

// study reads the surroundings of elections.
type study struct {
	o      *Observer
	last   election.Surroundings
	listed time.Time // time of the latest list of sessions
}

// visit reads the surroundings once. It returns the time until the next read.
func (s *study) visit(ctx context.Context, key string) (next time.Duration) {
	gap := time.Duration(len(s.last.Sessions)) * sessionGap
	if key == s.last.Key {
		consulx.Sleep(ctx, max(studyGap, gap)-time.Since(s.last.At))
	}
	ctx, cancel := context.WithTimeout(ctx, studyLimit)
	defer cancel()
	found := election.Surroundings{Key: key}
	var wg sync.WaitGroup
	crash.Go(&wg, func() {
		var err error
		found.Siblings, found.SiblingsCut, err = s.o.client.Siblings(ctx, key)
		found.SiblingsErr = consulx.ReadProblem("sibling keys", err)
		if consulx.Unanswered(err) && s.last.Key == key { // keep the previous keys, and tell the error
			found.Siblings, found.SiblingsCut = s.last.Siblings, s.last.SiblingsCut
		}
	})
	sessions, err := s.last.Sessions, error(nil)
	reused := key != s.last.Key && s.last.SessionsErr == "" && time.Since(s.listed) < gap // the user moves the cursor
	if !reused {
		sessions, err = s.o.sessions.List(ctx)
	}
	wg.Wait()
	if errors.Is(ctx.Err(), context.Canceled) {
		return 0 // the selected election changed, or the observer stops
	}
	if !reused {
		s.listed = time.Now()
	}
	if found.Sessions = sessions; consulx.Unanswered(err) || sameSessions(s.last.Sessions, sessions) { // an equal slice needs no new index
		found.Sessions = s.last.Sessions
	}
	found.At, found.SessionsErr = time.Now(), consulx.ReadProblem("sessions", err)
	found.Ended, found.Failed = s.ended(&found), s.o.client.FailedNodes(ctx)
	a, b := s.last, found // the key, siblings, sessions and errors
	same := a.Key == b.Key && a.SiblingsErr == b.SiblingsErr && a.SessionsErr == b.SessionsErr &&
		a.SiblingsCut == b.SiblingsCut && !a.At.IsZero() && slices.Equal(a.Failed, b.Failed) &&
		slices.EqualFunc(a.Siblings, b.Siblings, func(p, q election.Pair) bool {
			return p.Key == q.Key && p.ModifyIndex == q.ModifyIndex && p.CreateIndex == q.CreateIndex
		}) && sameSessions(a.Sessions, b.Sessions)
	s.last = found
	s.o.Send(!same, found)
	if !reused {
		s.o.searched(&found)
	} else if e := s.o.Snapshot().FindKey(key); e == nil || !e.Held() { // the list must be newer than its end
		return gap
	}
	return max(studyEvery, time.Duration(len(sessions))*studyPace)
}

// endedFor is how long a session that has ended is remembered.
const endedFor = 15 * time.Minute

// ended returns the sessions that have ended since the last read, after those that ended before.
func (s *study) ended(found *election.Surroundings) []election.EndedSession {
	all := election.Without(s.last.Ended, func(e election.EndedSession) bool { return found.At.Sub(e.Seen) > endedFor })
	if found.SessionsErr != "" || sameSessions(s.last.Sessions, found.Sessions) {
		return all
	}
	live := election.ByID(found.Sessions)
	for _, one := range s.last.Sessions {
		if live[one.ID] == nil {
			all = append(all, election.EndedSession{Session: one, Seen: s.last.At})
		}
	}
	return all
}

// sameSessions compares IDs only, because a session never changes.
func sameSessions(a, b []*election.Session) bool {
	return slices.EqualFunc(a, b, func(s, t *election.Session) bool { return s.ID == t.ID })
}

// findIdle searches for candidates of the vacant elections, at the start and when every client has tried again. If the
// sessions cannot be listed, these elections keep the state vacant.
func (o *Observer) findIdle(ctx context.Context) {
	for range 2 {
		if !slices.ContainsFunc(o.Snapshot().Elections, insight.Searchable) {
			return
		}
		sessions, err := o.sessions.List(ctx)
		o.searched(&election.Surroundings{At: time.Now(), Sessions: sessions, SessionsErr: consulx.ReadProblem("sessions", err)})
		consulx.Sleep(ctx, insight.IdleAfter)
	}
}

// searched stores which elections have no candidate among the sessions, and whether the surroundings of an election without a
// leader, if they are those of one, show a candidate.
func (o *Observer) searched(around *election.Surroundings) {
	s := o.Snapshot()
	found := s.FindKey(around.Key)
	if found != nil && (!found.Candidateless || insight.Likely(found, insight.NewBoard(s.Elections, nil).Candidates(found, around), around) <= 0) {
		found = nil
	}
	none := insight.WithoutCandidates(s.Elections, around)
	o.Send(around.Key == "" || found != nil || len(none) > 0, election.CandidatesRead{At: around.At, None: none, Found: found})
}
