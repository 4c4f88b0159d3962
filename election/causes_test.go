package election

import (
	"strings"
	"testing"
	"time"
)

func session(change func(*Session)) *Session {
	s := &Session{
		ID: "a", Name: "web", Node: "node-1", Behavior: BehaviorRelease, LockDelay: 15 * time.Second,
		NodeChecks: []string{"serfHealth"}, ServiceChecks: []string{"service:web"},
	}
	if change != nil {
		change(s)
	}
	return s
}

func checks(serf, service string) []Check {
	all := []Check{{ID: "serfHealth", Node: "node-1", Status: serf}, {ID: "other", Node: "node-1", Status: StatusCritical}}
	if service != "" {
		all = append(all, Check{ID: "service:web", Node: "node-1", Status: service, Output: "HTTP GET: 503\nbusy"})
	}
	return all
}

func TestExplain(t *testing.T) {
	ttl := session(func(s *Session) { s.TTL = 10 * time.Second })
	gone := Evidence{SessionRead: true, ChecksRead: true, NodeExists: true, Checks: checks(StatusPassing, StatusWarning)}
	with := func(change func(*Evidence)) Evidence { e := gone; change(&e); return e }
	tests := []struct {
		name        string
		session     *Session
		deleted     bool
		evidence    Evidence
		want        Cause
		invalidated bool
	}{
		{"nothing could be read", session(nil), false, Evidence{}, Unknown, false},
		{"session lives", session(nil), false, Evidence{SessionRead: true, SessionExists: true}, Released, false},
		{"session lives, key gone", session(nil), true, Evidence{SessionRead: true, SessionExists: true}, KeyDeleted, false},
		{"session gone, never read", nil, false, gone, Unknown, false},
		{"session gone, no TTL", session(nil), false, gone, SessionDestroyed, true},
		{"session gone, TTL", ttl, false, gone, SessionExpiredOrDestroyed, true},
		{"its check is critical", ttl, false, with(func(e *Evidence) { e.Checks = checks(StatusPassing, StatusCritical) }), CheckCritical, true},
		{"its check is gone", ttl, false, with(func(e *Evidence) { e.Checks = checks(StatusPassing, "") }), CheckGone, true},
		{"its node is gone", ttl, true, with(func(e *Evidence) { e.NodeExists, e.Checks = false, nil }), NodeGone, true},
		{"data lost or restored", session(func(s *Session) { s.CreateIndex = 90 }), true, with(func(e *Evidence) { e.SessionsIndex = 12 }), Unknown, false},
		{"checks not readable", ttl, false, with(func(e *Evidence) { e.ChecksRead = false }), Unknown, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Explain(Loss{Session: tt.session, Deleted: tt.deleted}, tt.evidence)
			if got.Cause != tt.want || got.Invalidated != tt.invalidated {
				t.Errorf("%+v, want %s, invalidated %v", got, tt.want, tt.invalidated)
			}
			if got.Evidence == "" {
				t.Error("no evidence")
			}
		})
	}
}

func TestEvidenceQuotesTheOutputInOneLine(t *testing.T) {
	got := Explain(Loss{Session: session(nil), KeyIndex: 20}, Evidence{
		SessionRead: true, ChecksRead: true, NodeExists: true, Checks: changedAt(20, checks(StatusPassing, StatusCritical)),
	})
	if want := "service:web on node-1: HTTP GET: 503 busy"; got.Evidence != want {
		t.Errorf("%q, want %q", got.Evidence, want)
	}
}

// lose makes an election whose leader a has just been lost.
func lose(t *testing.T) (*scene, Event) {
	t.Helper()
	s := newScene(t)
	s.sessions(session(nil))
	s.read(web("a", 3, 10, 20, "web-1"))
	events := s.read(web("", 3, 10, 21, "web-1"))
	return s, events[0]
}

func TestVacatedIsOutAtOnceAndExplainedFollows(t *testing.T) {
	s, vacated := lose(t)
	if e := s.web(); e.State(s.now) != Vacant {
		t.Errorf("%s before anything is known of the cause", e.State(s.now))
	}
	events := s.observe(TermEvidence{At: s.now.Add(time.Millisecond), Event: vacated, Outcome: Evidence{
		SessionRead: true, ChecksRead: true, NodeExists: true, Checks: checks(StatusPassing, StatusCritical),
	}})
	if brief(events) != "explained(3 check_critical)" {
		t.Fatalf("events %s", brief(events))
	}
	until := vacated.Time.Add(15 * time.Second)
	if x := events[0]; !x.LockDelayUntil.Equal(until) || x.Leader != "web-1" || x.Session != "a" || x.Node != "node-1" {
		t.Errorf("%+v", x)
	}
	e := s.web()
	if e.State(until.Add(-time.Nanosecond)) != InLockDelay || e.State(until) != Vacant {
		t.Error("the lock-delay does not end where its estimate ends")
	}
	if last := e.LastTerm(); last.Cause != CheckCritical || last.Evidence == "" {
		t.Errorf("last term %+v", last)
	}
	if len(s.observe(Clock{At: s.now.Add(time.Minute)})) > 0 {
		t.Error("explained twice")
	}
}

func TestLockDelayIsCappedAndNeverFollowsARelease(t *testing.T) {
	s := newScene(t)
	s.sessions(session(func(s *Session) { s.LockDelay = 90 * time.Second }))
	s.read(web("a", 3, 10, 20, "v"))
	vacated := s.read(web("", 3, 10, 21, "v"))[0]
	x := s.observe(TermEvidence{At: s.now, Event: vacated, Outcome: Evidence{SessionRead: true}})[0]
	if got := x.LockDelayUntil.Sub(vacated.Time); got != MaxLockDelay {
		t.Errorf("lock-delay %v", got)
	}
	s, vacated = lose(t)
	x = s.observe(TermEvidence{At: s.now, Event: vacated, Outcome: Evidence{SessionRead: true, SessionExists: true}})[0]
	if x.Cause != Released || !x.LockDelayUntil.IsZero() || s.web().State(s.now) != Vacant {
		t.Errorf("%+v", x)
	}
}

func TestAnEndWithoutEvidenceIsExplainedAfterASecond(t *testing.T) {
	s, vacated := lose(t)
	at, ok := s.tracker.Deadline()
	if !ok || !at.Equal(vacated.Time.Add(time.Second)) {
		t.Fatalf("deadline %v %v", at, ok)
	}
	if got := brief(s.observe(Clock{At: at})); got != "explained(3 unknown)" {
		t.Errorf("events %s", got)
	}
	if _, ok := s.tracker.Deadline(); ok {
		t.Error("a deadline is left")
	}
}

func TestOwnActionsExplainTheLoss(t *testing.T) {
	evidence := Evidence{SessionRead: true, SessionExists: true}
	release := OperatorAction{At: t0, Kind: ActionRelease, Key: "service/web/leader", Session: "a"}
	stage := func(a OperatorAction, to ActionStage) OperatorAction { a.Stage = to; return a }
	tests := []struct {
		name  string
		steps func(s *scene, lose func() Event)
		want  Cause
	}{
		{"done before the loss is seen", func(s *scene, lose func() Event) {
			s.observe(stage(release, ActionStarted))
			s.observe(stage(release, ActionDone))
			s.observe(TermEvidence{At: s.now, Event: lose(), Outcome: evidence})
		}, OperatorRelease},
		{"done after the evidence is in", func(s *scene, lose func() Event) {
			s.observe(stage(release, ActionStarted))
			s.observe(TermEvidence{At: s.now, Event: lose(), Outcome: evidence})
			s.observe(stage(release, ActionDone))
		}, OperatorRelease},
		{"failed", func(s *scene, lose func() Event) {
			s.observe(stage(release, ActionStarted))
			vacated := lose()
			s.observe(stage(release, ActionFailed))
			s.observe(TermEvidence{At: s.now, Event: vacated, Outcome: evidence})
		}, Released},
		{"on another key", func(s *scene, lose func() Event) {
			other := release
			other.Key = "service/mail/leader"
			s.observe(stage(other, ActionDone))
			s.observe(TermEvidence{At: s.now, Event: lose(), Outcome: evidence})
		}, Released},
		{"destroyed", func(s *scene, lose func() Event) {
			s.observe(OperatorAction{At: t0, Kind: ActionDestroy, Session: "a", Stage: ActionDone})
			s.observe(TermEvidence{At: s.now, Event: lose(), Outcome: Evidence{SessionRead: true}})
		}, OperatorDestroy},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			s.sessions(session(nil))
			s.read(web("a", 3, 10, 20, "v"))
			tt.steps(s, func() Event { return s.read(web("", 3, 10, 21, "v"))[0] })
			var got []Event
			for _, e := range s.events {
				if e.Type == Explained {
					got = append(got, e)
				}
			}
			if len(got) != 1 || got[0].Cause != tt.want {
				t.Fatalf("explained: %s, want %s once", brief(got), tt.want)
			}
			if want := tt.want == OperatorDestroy; got[0].LockDelayUntil.IsZero() == want {
				t.Errorf("lock-delay until %v", got[0].LockDelayUntil)
			}
		})
	}
}

func TestAReleaseExplainsOneLossOnly(t *testing.T) {
	s := newScene(t)
	s.sessions(session(nil))
	s.read(web("a", 3, 10, 20, "v"))
	s.observe(OperatorAction{At: s.now, Kind: ActionRelease, Key: "service/web/leader", Session: "a", Stage: ActionDone})
	evidence := Evidence{SessionRead: true, SessionExists: true}
	s.observe(TermEvidence{At: s.now, Event: s.read(web("", 3, 10, 21, "v"))[0], Outcome: evidence})
	s.read(web("a", 4, 10, 22, "v"))
	events := s.observe(TermEvidence{At: s.now, Event: s.read(web("", 4, 10, 23, "v"))[0], Outcome: evidence})
	if got := brief(events); got != "explained(4 released)" {
		t.Errorf("events %s", got)
	}
}

// A holder that unlocks and then ends its session leaves no lock-delay, and
// nobody can tell it from one that was ended: no flat claim is made.
func TestADoubtfulLockDelayIsCalledSo(t *testing.T) {
	s, vacated := lose(t)
	x := s.observe(TermEvidence{At: s.now, Event: vacated, Outcome: Evidence{
		SessionRead: true, SessionsIndex: 22, ChecksRead: true, NodeExists: true, Checks: checks(StatusPassing, StatusPassing),
	}})[0]
	e := s.web()
	if !e.LockDelayDoubtful || !strings.Contains(x.Evidence, "a guess") {
		t.Errorf("doubtful %v: %s", e.LockDelayDoubtful, x.Evidence)
	}
	why := WhyVacant(e, Situation{Now: s.now, Candidates: -1})
	if !strings.Contains(why, "if not, no candidate can acquire the key for about 15s more") {
		t.Error(why)
	}
}

func TestExplainedIsNeverBeforeVacated(t *testing.T) {
	s, vacated := lose(t)
	x := s.observe(OperatorAction{At: vacated.Time.Add(-time.Millisecond), Kind: ActionDestroy, Session: "a", Stage: ActionDone})
	if len(x) != 1 || x[0].Time.Before(vacated.Time) {
		t.Errorf("%s at %v, vacated at %v", brief(x), x[0].Time, vacated.Time)
	}
}
