package insight

import (
	"testing"
	"time"

	"electop/election"
	"electop/election/tracker"
)

var t0 = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// scene passes complete reads of one prefix to a tracker, one second apart.
type scene struct {
	t       *testing.T
	tracker *tracker.Tracker
	now     time.Time
	events  []election.Event
}

func newScene(t *testing.T, patterns ...string) *scene {
	t.Helper()
	ps, err := election.ParsePatterns(patterns)
	if err != nil {
		t.Fatal(err)
	}
	return &scene{t: t, tracker: tracker.New(tracker.Options{Patterns: ps}), now: t0}
}

func (s *scene) observe(o election.Observation) []election.Event {
	events := s.tracker.Observe(o)
	s.events = append(s.events, events...)
	return events
}

func (s *scene) read(pairs ...election.Pair) []election.Event {
	s.now = s.now.Add(time.Second)
	return s.observe(election.KeysRead{At: s.now, Range: election.PrefixRange("service/"), Pairs: pairs})
}

func (s *scene) web() *election.Election {
	s.t.Helper()
	e := s.tracker.Snapshot(s.now).Find("service/web/leader")
	if e == nil {
		s.t.Fatal("service/web/leader is not an election")
	}
	return e
}

func (s *scene) sessions(sessions ...*election.Session) {
	s.observe(election.SessionsRead{At: s.now, Sessions: sessions})
}

// web returns the key service/web/leader. The value is the leader's name.
func web(session string, lock, create, modify uint64, value string) election.Pair {
	return election.Pair{
		Key: "service/web/leader", Value: []byte(value), Session: session,
		LockIndex: lock, CreateIndex: create, ModifyIndex: modify,
	}
}
