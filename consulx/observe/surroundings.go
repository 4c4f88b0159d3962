package observe

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"electop/consulx"
	"electop/consulx/internal/blocking"
	"electop/election"
)

const (
	// studyEvery is how often the surroundings are read while nothing happens.
	studyEvery = 5 * time.Second
	// studyGap keeps an election with many events from being surveyed at each.
	studyGap = 250 * time.Millisecond
	// studyPace spaces lists of many sessions by what they cost, a thousandth of
	// the time: by their number, for one list that was slow, as the first often is,
	// says little about the next.
	studyPace = 2500 * time.Microsecond
	// sessionsGap spaces the lists of all sessions, the dearest part.
	sessionsGap = 2 * time.Second
	studyLimit  = 10 * time.Second
	// firstFresh is how long the list that was read at the start is good for the
	// first study.
	firstFresh = 500 * time.Millisecond
)

// Study keeps the surroundings of the election with this key in the snapshots:
// they are read at once, after each event of the election, and every 5 s besides.
// Each call replaces the key; "" studies nothing and asks nothing.
func (o *Observer) Study(key string) { o.study.set(key) }

// study is which election is studied.
type study struct {
	mu     sync.Mutex
	key    string
	cancel context.CancelFunc // of the survey under way
	wake   chan struct{}
}

func newStudy() *study { return &study{wake: make(chan struct{}, 1), cancel: func() {}} }

func (s *study) set(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key == key {
		return
	}
	s.key = key
	s.cancel()
	s.notify()
}

// happened has the surroundings read again if an event is about the election.
func (s *study) happened(events []election.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key != "" && slices.ContainsFunc(events, func(e election.Event) bool { return e.Key == s.key }) {
		s.notify()
	}
}

func (s *study) notify() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// begin is the key to survey next and a context that ends when it is no longer
// wanted.
func (s *study) begin(ctx context.Context) (context.Context, context.CancelFunc, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, s.cancel = context.WithCancel(ctx)
	return ctx, s.cancel, s.key
}

// run surveys whenever it is time to, until ctx ends.
func (s *study) run(ctx context.Context, o *Observer) {
	timer := stoppedTimer()
	defer timer.Stop()
	v := surveyor{o: o}
	for ctx.Err() == nil {
		sctx, cancel, key := s.begin(ctx)
		if key == "" {
			timer.Stop()
		} else {
			timer.Reset(v.visit(sctx, key))
		}
		cancel()
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-timer.C:
		}
	}
}

// surveyor reads the surroundings of one election again and again and remembers
// what need not be read each time.
type surveyor struct {
	o    *Observer
	last election.Surroundings
	// sessions are those of the latest list.
	sessions    []*election.Session
	sessionsErr error
	listedAt    time.Time
}

// visit surveys once, unless ctx ends before, and tells when to do so next.
func (v *surveyor) visit(ctx context.Context, key string) (next time.Duration) {
	if key == v.last.Key {
		blocking.Sleep(ctx, studyGap-time.Since(v.last.At))
	}
	ctx, cancel := context.WithTimeout(ctx, studyLimit)
	defer cancel()
	found := election.Surroundings{Key: key}
	var wg sync.WaitGroup
	wg.Go(func() { v.readSiblings(ctx, &found) })
	late := v.readSessions(ctx)
	wg.Wait()
	if errors.Is(ctx.Err(), context.Canceled) {
		return 0 // the key changed, or everything ends
	}
	found.Sessions, found.SessionsErr = v.sessions, consulx.ReadProblem("sessions", v.sessionsErr)
	found.At = time.Now()
	news := !sameSurroundings(v.last, found)
	v.last = found
	v.o.send(news, election.SurroundingsRead{Surroundings: found})
	if next = atFullSecond(studyRest(len(v.sessions))); late > 0 {
		next = min(next, late)
	}
	return next
}

// studyRest is how long nothing is read again while nothing happens.
func studyRest(sessions int) time.Duration {
	return max(studyEvery, time.Duration(sessions)*studyPace)
}

// readSiblings keeps what was read before when Consul does not answer: old is
// better than nothing, and the text says so.
func (v *surveyor) readSiblings(ctx context.Context, s *election.Surroundings) {
	var err error
	s.Siblings, s.SiblingsCut, err = v.o.client.Siblings(ctx, s.Key)
	s.SiblingsErr = consulx.ReadProblem("keys beside the election", err)
	if consulx.Unanswered(err) && v.last.Key == s.Key {
		s.Siblings, s.SiblingsCut = v.last.Siblings, v.last.SiblingsCut
	}
}

// readSessions lists the sessions unless that was done a moment ago. late is
// then how long to wait before it may be done again.
func (v *surveyor) readSessions(ctx context.Context) (late time.Duration) {
	if v.listedAt.IsZero() && v.takeFirst() {
		return 0
	}
	if late = sessionsGap - time.Since(v.listedAt); late > 0 {
		return late
	}
	sessions, err := v.o.sessions.List(ctx)
	if ctx.Err() == nil {
		v.listedAt = time.Now()
	}
	if !consulx.Unanswered(err) {
		v.sessions = sessions
	}
	v.sessionsErr = err
	return 0
}

// takeFirst takes the list that was read at the start, if that is just over and a
// list is so dear that the next would have to wait. A cheap one is read anew: what
// starts together with electop is on it.
func (v *surveyor) takeFirst() (ok bool) {
	first, ok := v.o.sessions.FirstRead()
	if ok = ok && time.Since(first.At) <= firstFresh && studyRest(len(first.Sessions)) > studyEvery; ok {
		v.sessions, v.sessionsErr, v.listedAt = first.Sessions, first.Err, first.At
	}
	return ok
}

// sameSurroundings reports that there is nothing new to show.
func sameSurroundings(a, b election.Surroundings) bool {
	return a.Key == b.Key && a.SiblingsErr == b.SiblingsErr && a.SessionsErr == b.SessionsErr &&
		a.SiblingsCut == b.SiblingsCut && !a.At.IsZero() &&
		slices.EqualFunc(a.Siblings, b.Siblings, func(p, q election.Pair) bool {
			return p.Key == q.Key && p.ModifyIndex == q.ModifyIndex && p.CreateIndex == q.CreateIndex
		}) && sameSessions(a.Sessions, b.Sessions)
}

// sameSessions compares ids only: a session never changes.
func sameSessions(a, b []*election.Session) bool {
	return slices.EqualFunc(a, b, func(s, t *election.Session) bool { return s.ID == t.ID })
}
