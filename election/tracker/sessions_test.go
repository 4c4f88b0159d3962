package tracker

import (
	"testing"
	"time"

	"electop/election"
)

func second(n int) time.Time { return t0.Add(time.Duration(n) * time.Second) }

func (s *scene) list() *election.SessionList { return s.tracker.Snapshot(s.now).SessionList }

func (s *scene) wantSeen(id string, at time.Time, created bool) {
	s.t.Helper()
	if seen := s.list().FirstSeen[id]; !seen.At.Equal(at) || seen.Created != created {
		s.t.Errorf("session %s: first seen at %v, created: %v; want %v, %v", id, seen.At, seen.Created, at, created)
	}
}

func TestSessionListKeepsWhatWasRead(t *testing.T) {
	s := newScene(t)
	if s.list() != nil {
		t.Fatal("the snapshot contains a session list before the first read")
	}
	s.observe(election.SessionListRead{At: second(0), Err: "denied", Denied: true})
	if l := s.list(); l.Err != "denied" || !l.Denied || len(l.Sessions) != 0 {
		t.Errorf("%+v", l)
	}
	a, b := &election.Session{ID: "a", CreateIndex: 5}, &election.Session{ID: "b", CreateIndex: 11}
	s.observe(election.SessionListRead{At: second(1), Sessions: []*election.Session{a}, Index: 10, AfterGap: true})
	first := s.list()
	s.observe(election.SessionListRead{At: second(2), Sessions: []*election.Session{a, b}, Index: 11})
	s.wantSeen("a", second(1), false)
	s.wantSeen("b", second(2), true)
	if len(first.Sessions) != 1 || len(first.FirstSeen) != 1 {
		t.Errorf("an earlier snapshot changed: %+v", first)
	}
	s.observe(election.SessionListRead{At: second(3), Err: "lost"})
	if l := s.list(); l.Err != "lost" || l.Denied || !l.Until.Equal(second(3)) || len(l.Sessions) != 2 || len(l.FirstSeen) != 2 {
		t.Errorf("%+v", l)
	}
	s.observe(election.SessionListRead{At: second(4), Sessions: []*election.Session{b}, Index: 12, AfterGap: true})
	if l := s.list(); l.Err != "" || !l.Until.IsZero() || len(l.FirstSeen) != 1 {
		t.Errorf("%+v", l)
	}
	s.wantSeen("b", second(2), true)
}

// The creation time of a session in the first list after a pause is unknown.
func TestCreationIsObservedOnlyWhileSessionsAreWatched(t *testing.T) {
	for name, pause := range map[string]election.Observation{
		"unwatched": election.Unwatched{At: second(2)},
		"error":     election.SessionListRead{At: second(2), Err: "lost"},
		"gap":       election.Gap{At: second(3), Since: second(2)},
		"unknown":   election.SessionListRead{At: second(2)},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.observe(election.SessionListRead{At: second(1), Index: 10, AfterGap: true})
			s.observe(pause)
			b := &election.Session{ID: "b", CreateIndex: 11}
			s.observe(election.SessionListRead{At: second(9), Sessions: []*election.Session{b}, Index: 11})
			s.wantSeen("b", second(9), false)
		})
	}
}
