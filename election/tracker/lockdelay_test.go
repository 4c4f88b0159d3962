package tracker

import (
	"testing"
	"time"

	"electop/election"
)

func TestLockDelayIsCappedAndKeepsNoSlot(t *testing.T) {
	s := newScene(t)
	s.sessions(session(func(s *election.Session) { s.LockDelay = 90 * time.Second }))
	s.key("a 3 10 20 v")
	vacated := s.key("- 3 10 21 v")[0]
	x := s.explain(vacated, election.Evidence{SessionRead: true})[0]
	if got := x.LockDelayUntil.Sub(vacated.Time); got != election.MaxLockDelay {
		t.Errorf("the lock-delay is %v", got)
	}
	s.key("a 4 10 22 v")
	vacated = s.key("slots 10 23 2 b")[0]
	if x = s.explain(vacated, election.Evidence{SessionRead: true})[0]; !x.LockDelayUntil.IsZero() {
		t.Errorf("the slots of a semaphore are free: %+v", x)
	}
}

// Another session may have ended after a release. If the loss or its explanation was in a gap, the indexes may be those of
// the loss, but its time is unknown.
func TestAnUncertainLockDelayIsReportedAsUncertain(t *testing.T) {
	for name, index := range map[string]uint64{"a guess": 22, "in a gap": 21, "explained in a gap": 21} {
		s := newScene(t)
		s.sessions(session(nil))
		s.key("a 3 10 20 v")
		if name == "in a gap" {
			s.stopped(22 * time.Second)
		}
		vacated := s.readAsked(s.now, web("- 3 10 21 v"))[0]
		if name == "explained in a gap" {
			s.observe(election.Gap{At: s.now, Since: s.now}) // the clock was set back
		}
		x := s.explain(vacated, election.Evidence{
			SessionRead: true, SessionsIndex: index, ChecksRead: true, NodeExists: true, Checks: checks(election.StatusPassing, election.StatusPassing),
		})[0]
		if x.LockDelayUntil.IsZero() || !s.web().LockDelayDoubtful {
			t.Errorf("%s: %+v", name, s.web())
		}
	}
}
