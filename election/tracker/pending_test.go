package tracker

import (
	"strings"
	"testing"
	"time"

	"electop/election"
)

func session(change func(*election.Session)) *election.Session {
	s := &election.Session{
		ID: "a", Name: "web", Node: "node-1", Behavior: election.BehaviorRelease, LockDelay: 15 * time.Second,
		NodeChecks: []string{"serfHealth"}, ServiceChecks: []string{"service:web"},
	}
	if change != nil {
		change(s)
	}
	return s
}

func checks(serf, service string) []election.Check {
	all := []election.Check{{ID: "serfHealth", Node: "node-1", Status: serf}, {ID: "other", Node: "node-1", Status: election.StatusCritical}}
	if service != "" {
		all = append(all, election.Check{ID: "service:web", Node: "node-1", Status: service, Output: "HTTP GET: 503\nbusy"})
	}
	return all
}

// lose returns a scene whose leader "a" was just lost, and the vacated event. The other observations precede the loss.
func lose(t *testing.T, before ...election.Observation) (*scene, election.Event) {
	t.Helper()
	s := newScene(t)
	s.sessions(session(func(s *election.Session) { s.TTL = 10 * time.Second }))
	s.key("a 3 10 20 web-1")
	for _, o := range before {
		s.observe(o)
	}
	events := s.key("- 3 10 21 web-1")
	return s, events[0]
}

func TestVacatedIsReportedAtOnceAndExplainedFollows(t *testing.T) {
	s, vacated := lose(t)
	if e := s.web(); e.State(s.now) != election.Vacant {
		t.Errorf("state %s before the evidence, want vacant", e.State(s.now))
	}
	events := s.observe(election.TermEvidence{At: s.now.Add(time.Millisecond), Event: vacated, Outcome: election.Evidence{
		SessionRead: true, ChecksRead: true, NodeExists: true, Checks: checks(election.StatusPassing, election.StatusCritical),
	}})
	if brief(events) != "explained(3 check_critical)" {
		t.Fatalf("events %s", brief(events))
	}
	until := vacated.Time.Add(15 * time.Second)
	if x := events[0]; !x.LockDelayUntil.Equal(until) || x.Leader != "web-1" || x.Session != "a" || x.Node != "node-1" {
		t.Errorf("%+v", x)
	}
	e := s.web()
	if e.State(until.Add(-time.Nanosecond)) != election.InLockDelay || e.State(until) != election.Vacant {
		t.Error("the state does not change from lock_delay to vacant at the estimated end of the lock-delay")
	}
	alive := vacated.Time.Add(-20500 * time.Millisecond) // the last renewal was at most two TTLs before, and Consul may be late
	next := s.key("b 4 10 22 web-2")[0]
	if !next.AliveUntil.Equal(alive) || !events[0].AliveUntil.Equal(alive) || !e.LastTerm().AliveUntil.Equal(alive) {
		t.Errorf("alive until %v and %v, want %v", events[0].AliveUntil, next.AliveUntil, alive)
	}
	if last := e.LastTerm(); last.Cause != election.CheckCritical || !strings.Contains(last.Evidence, "HTTP GET: 503 busy") {
		t.Errorf("the last term is %+v, want cause check_critical with evidence", last)
	}
	if len(s.observe(election.Clock{At: s.now.Add(time.Minute)})) > 0 {
		t.Error("the loss was explained twice, want one explained event")
	}
}

func TestARestartOfConsulRestartsTheTTL(t *testing.T) {
	seen := t0.Add(time.Second)
	s, lost := lose(t, election.LinkUp{At: seen, Source: "probe"}, election.LinkLost{At: seen.Add(1e8), Source: "probe"}, election.LinkUp{At: seen.Add(2e8), Source: "probe"})
	x := s.explain(lost, election.Evidence{SessionRead: true, ChecksRead: true, NodeExists: true})
	if got := x[0].AliveUntil.Sub(seen); got != -20500*time.Millisecond {
		t.Error(got)
	}
	s, lost = lose(t, election.LinkUp{At: seen, Source: "probe"}) // a release is certain
	s.observe(election.LinkLost{At: s.now.Add(1e8), Source: "probe"})
	s.observe(election.LinkUp{At: s.now.Add(2e8), Source: "probe"})
	x = s.explain(lost, election.Evidence{SessionRead: true, SessionExists: true})
	if !x[0].AliveUntil.Equal(lost.Time) {
		t.Error(x[0].AliveUntil, lost.Time)
	}
}

func TestATermWithoutEvidenceIsExplainedAfterASecond(t *testing.T) {
	s, vacated := lose(t)
	at := s.tracker.Deadline()
	if !at.Equal(vacated.Time.Add(time.Second)) {
		t.Fatalf("deadline %v", at)
	}
	if got := brief(s.observe(election.Clock{At: at})); got != "explained(3 unknown)" {
		t.Errorf("events %s", got)
	}
	if !s.tracker.Deadline().IsZero() {
		t.Error("the tracker still has a deadline, although every loss was explained")
	}
}

// The index of a later change of the key does not prove how an earlier term ended.
func TestTheIndexOfALaterTermProvesNothing(t *testing.T) {
	s := newScene(t)
	s.sessions(session(func(s *election.Session) { s.NodeChecks, s.ServiceChecks = nil, nil }))
	s.key("a 3 10 20 v")
	for _, e := range s.key("- 5 10 30 v") {
		if e.Type == election.Vacated {
			s.explain(e, election.Evidence{SessionRead: true, SessionsIndex: 30, ChecksRead: true, NodeExists: true})
		}
	}
	if x := s.events[len(s.events)-1]; x.Type != election.Explained || x.Cause != election.SessionDestroyed || !x.Guess {
		t.Errorf("%+v", x)
	}
}
