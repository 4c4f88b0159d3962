package insight

import (
	"fmt"
	"strings"
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

// key reads a state of the key service/web/leader (see web), or its absence if text is "gone".
func (s *scene) key(text string) {
	s.now = s.now.Add(time.Second)
	var pairs []election.Pair
	if text = strings.TrimSpace(text); text != "gone" {
		pairs = []election.Pair{web(text)}
	}
	s.observe(election.KeysRead{At: s.now, Range: election.PrefixRange("service/"), Pairs: pairs})
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

// web parses a state of the key service/web/leader: the session ("-" for none), LockIndex, CreateIndex, ModifyIndex and
// the value, which is the leader's name.
func web(text string) election.Pair {
	p := election.Pair{Key: "service/web/leader"}
	var value string
	_, _ = fmt.Sscan(text, &p.Session, &p.LockIndex, &p.CreateIndex, &p.ModifyIndex, &value) // the value may be missing
	p.Session, p.Value = strings.TrimPrefix(p.Session, "-"), []byte(value)
	return p
}
