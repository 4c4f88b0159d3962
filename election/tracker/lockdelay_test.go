package tracker

import (
	"strings"
	"testing"
	"time"

	"electop/election"
)

func TestLockDelayIsCappedAndNeverFollowsARelease(t *testing.T) {
	s := newScene(t)
	s.sessions(session(func(s *election.Session) { s.LockDelay = 90 * time.Second }))
	s.key("a 3 10 20 v")
	vacated := s.key("- 3 10 21 v")[0]
	x := s.observe(election.TermEvidence{At: s.now, Event: vacated, Outcome: election.Evidence{SessionRead: true}})[0]
	if got := x.LockDelayUntil.Sub(vacated.Time); got != election.MaxLockDelay {
		t.Errorf("the lock-delay is %v, want %v", got, election.MaxLockDelay)
	}
	s.key("a 4 10 22 v")
	vacated = s.key("slots 10 23 2 b")[0]
	if x = s.observe(election.TermEvidence{At: s.now, Event: vacated, Outcome: election.Evidence{SessionRead: true}})[0]; !x.LockDelayUntil.IsZero() {
		t.Errorf("the slots of a semaphore are free: %+v", x)
	}
	s, vacated = lose(t)
	x = s.observe(election.TermEvidence{At: s.now, Event: vacated, Outcome: election.Evidence{SessionRead: true, SessionExists: true}})[0]
	if x.Cause != election.Released || !x.LockDelayUntil.IsZero() || s.web().State(s.now) != election.Vacant {
		t.Errorf("%+v", x)
	}
}

func TestAnUncertainLockDelayIsReportedAsUncertain(t *testing.T) {
	s, vacated := lose(t)
	x := s.observe(election.TermEvidence{At: s.now, Event: vacated, Outcome: election.Evidence{
		SessionRead: true, SessionsIndex: 22, ChecksRead: true, NodeExists: true, Checks: checks(election.StatusPassing, election.StatusPassing),
	}})[0]
	if !s.web().LockDelayDoubtful || !strings.Contains(x.Evidence, "a guess") {
		t.Errorf("doubtful %v: %s", s.web().LockDelayDoubtful, x.Evidence)
	}
}

// If the loss or its explanation was in a gap, the indexes may be those of the loss, but its time is unknown.
func TestALockDelayAfterAGapIsUncertain(t *testing.T) {
	for _, explains := range []bool{false, true} {
		s := newScene(t)
		s.sessions(session(nil))
		s.key("a 3 10 20 v")
		var vacated election.Event
		if explains {
			vacated = s.key("- 3 10 21 v")[0]
			s.observe(election.Gap{At: s.now, Since: s.now}) // the clock was set back
		} else {
			s.stopped(22 * time.Second)
			vacated = s.readAsked(s.now, web("- 3 10 21 v"))[0]
		}
		x := s.observe(election.TermEvidence{At: s.now, Event: vacated, Outcome: election.Evidence{
			SessionRead: true, SessionsIndex: 21, ChecksRead: true, NodeExists: true, Checks: checks(election.StatusPassing, election.StatusPassing),
		}})[0]
		if x.LockDelayUntil.IsZero() || !s.web().LockDelayDoubtful {
			t.Errorf("doubtful %v: %+v", s.web().LockDelayDoubtful, x)
		}
	}
}
