package tracker

import (
	"testing"
	"time"

	"electop/election"
)

// readAsked observes a complete read at s.now. The request was sent at asked.
func (s *scene) readAsked(asked time.Time, pairs ...election.Pair) []election.Event {
	return s.observe(election.KeysRead{At: s.now, Asked: asked, Range: election.PrefixRange("service/"), Pairs: election.Pairs(pairs...)})
}

// stopped simulates that the program is suspended for d. When the program continues, the tracker first receives the
// gap.
func (s *scene) stopped(d time.Duration) (since time.Time) {
	since = s.now
	s.now = s.now.Add(d)
	s.observe(election.Gap{At: s.now, Since: since})
	return since
}

// A hold that lasts through a suspension continues. The end of a later hold is observed.
func TestAHoldLastsThroughASuspension(t *testing.T) {
	s := newScene(t)
	s.read()
	s.key("a 1 10 20 v")
	s.stopped(time.Hour)
	if events := s.key("a 1 10 20 v"); len(events) > 0 {
		t.Errorf("events %s", brief(events))
	}
	if lost := s.key("- 1 10 21 v")[0]; lost.Held != time.Hour+2*time.Second || !lost.HeldKnown {
		t.Errorf("held %v known %v", lost.Held, lost.HeldKnown)
	}
}

// After a suspension, a range counts as interrupted until it is read again.
func TestASuspensionInterruptsEachRangeUntilItIsReadAgain(t *testing.T) {
	s := newScene(t)
	mail := web("a 1 10 20 v")
	mail.Key = "service/mail/leader"
	s.read(mail, web("a 1 10 20 v"))
	s.stopped(time.Minute)
	s.now = s.now.Add(time.Second)
	first := election.Range{From: "service/", To: "service/n"}
	rest := election.Range{From: "service/n", To: election.PrefixRange("service/").To}
	s.readIn(first, mail)
	mail.Session, mail.ModifyIndex = "", 21
	if e := s.readIn(first, mail)[0]; s.tracker.Snapshot(s.now).Find(election.KeyID(mail.Key)).VacantSinceKnown != true {
		t.Errorf("%s was read after the suspension, but the start of its vacancy is unknown", e.Key)
	}
	s.readIn(rest, web("- 1 10 21 v"))
	if s.web().VacantSinceKnown {
		t.Error("the start of the vacancy is known, although web has not been read since the suspension")
	}
	if s.tracker.stop != nil {
		t.Error("every range was read after the suspension, but the gap has not ended")
	}
}

// A clock that was set back counts as a gap: durations are bounds and never negative, and no lock-delay lasts longer
// than Consul enforces.
func TestAClockThatWasSetBackIsAGap(t *testing.T) {
	s := newScene(t)
	s.sessions(session(nil))
	s.read()
	s.key("a 1 10 20 v")
	lost := s.key("- 1 10 21 v")
	s.explain(lost[0], election.Evidence{SessionRead: true, SessionsIndex: 21, ChecksRead: true, NodeExists: true})
	if state := s.web().State(s.now); state != election.InLockDelay {
		t.Fatalf("state %s, want a lock-delay", state)
	}
	s.now = s.now.Add(-time.Hour)
	s.observe(election.Gap{At: s.now, Since: s.now})
	if state := s.web().State(s.now); state == election.InLockDelay {
		t.Error("a lock-delay of an hour is active")
	}
	lost = s.readAsked(s.now.Add(time.Second), web("a 2 10 22 v"))
	if len(lost) == 0 || lost[0].VacancyKnown || lost[0].Vacancy < 0 {
		t.Errorf("%+v, want a leader after an unknown vacancy", lost)
	}
}
