package tracker

import (
	"strings"
	"testing"
	"time"

	"electop/election"
)

// explained returns the causes in the explained events.
func (s *scene) explained() (causes []string) {
	for _, e := range s.events {
		if e.Type != election.Explained {
			continue
		}
		cause := string(e.Cause)
		if e.Guess {
			cause += "?"
		}
		causes = append(causes, cause)
	}
	return causes
}

// An action explains only the end of the hold that it targeted, and only if the action started before the end was
// observed.
func TestAnActionExplainsItsOwnHoldOnly(t *testing.T) {
	released := election.Evidence{SessionRead: true, SessionExists: true}
	for _, tt := range []struct {
		name  string
		begin time.Duration // start of the action, relative to the observed loss
		lock  uint64
		want  string
	}{
		{"the same hold", -time.Millisecond, 3, "operator_release"},
		{"a later term of the session", -time.Millisecond, 4, "released"},
		{"started after the loss", time.Millisecond, 3, "released"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			s.sessions(session(nil))
			s.read(web("a", 3, 10, 20, "v"))
			lost := s.now.Add(time.Second)
			action := election.OperatorAction{
				At: lost.Add(tt.begin), Kind: election.ActionRelease, Key: "service/web/leader", Session: "a", CreateIndex: 10, LockIndex: tt.lock,
			}
			s.observe(action)
			event := s.read(web("", 3, 10, 21, "v"))[0]
			action.Stage = election.ActionDone
			s.observe(action)
			s.observe(election.TermEvidence{At: s.now, Event: event, Outcome: released})
			if got := strings.Join(s.explained(), " "); got != tt.want {
				t.Errorf("explained: %s", got)
			}
		})
	}
}

// If Consul has not confirmed an action, the cause is a guess. If the evidence contradicts the action, the cause
// follows from the evidence.
func TestAnUnconfirmedActionIsAGuess(t *testing.T) {
	gone := election.Evidence{
		SessionRead: true, SessionsIndex: 21, ChecksRead: true, NodeExists: true, ChecksIndex: 9, Checks: checks(election.StatusPassing, election.StatusPassing),
	}
	for _, tt := range []struct {
		name     string
		kind     election.ActionKind
		evidence election.Evidence
		want     string
	}{
		{"release, the session still exists", election.ActionRelease, election.Evidence{SessionRead: true, SessionExists: true}, "operator_release?"},
		{"release, the session was ended with the key", election.ActionRelease, gone, "session_destroyed"},
		{"release, no evidence", election.ActionRelease, election.Evidence{Err: "timeout"}, "operator_release?"},
		{"destroy, the session no longer exists", election.ActionDestroy, gone, "operator_destroy?"},
		{"destroy, the session still exists", election.ActionDestroy, election.Evidence{SessionRead: true, SessionExists: true}, "released"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			s.sessions(session(nil))
			s.read(web("a", 3, 10, 20, "v"))
			a := election.OperatorAction{At: s.now, Kind: tt.kind, Session: "a", Stage: election.ActionStarted}
			if tt.kind == election.ActionRelease {
				a.Key = "service/web/leader"
			}
			s.observe(a)
			event := s.read(web("", 3, 10, 21, "v"))[0]
			s.observe(election.TermEvidence{At: s.now, Event: event, Outcome: tt.evidence})
			if len(s.explained()) > 0 {
				t.Error("the loss was explained before Consul responded to the action")
			}
			a.At, a.Stage = s.now, election.ActionUnconfirmed
			s.observe(a)
			if got := strings.Join(s.explained(), " "); got != tt.want {
				t.Errorf("explained: %s", got)
			}
		})
	}
}

// The tracker may receive another process's action after the end of the term was explained.
func TestAnotherProcessesActionExplainsALossAgain(t *testing.T) {
	released := election.Evidence{SessionRead: true, SessionExists: true}
	gone := election.Evidence{
		SessionRead: true, SessionsIndex: 21, ChecksRead: true, NodeExists: true, ChecksIndex: 9, Checks: checks(election.StatusPassing, election.StatusPassing),
	}
	for _, tt := range []struct {
		name   string
		action election.OperatorAction
		found  election.Evidence
		after  time.Duration
		want   string
	}{
		{"release", election.OperatorAction{Kind: election.ActionRelease, Key: "service/web/leader"}, released, time.Second, "released operator_release"},
		{"release of this term", election.OperatorAction{Kind: election.ActionRelease, Key: "service/web/leader", CreateIndex: 10, LockIndex: 3}, released, time.Second, "released operator_release"},
		{"release of another term", election.OperatorAction{Kind: election.ActionRelease, Key: "service/web/leader", CreateIndex: 10, LockIndex: 2}, released, time.Second, "released"},
		{"release of another key", election.OperatorAction{Kind: election.ActionRelease, Key: "service/mail/leader"}, released, time.Second, "released"},
		{"release, but the session was destroyed", election.OperatorAction{Kind: election.ActionRelease, Key: "service/web/leader"}, gone, time.Second, "session_destroyed"},
		{"destroy", election.OperatorAction{Kind: election.ActionDestroy}, gone, time.Second, "session_destroyed operator_destroy"},
		{"destroy, but the key was released", election.OperatorAction{Kind: election.ActionDestroy}, released, time.Second, "released"},
		{"destroy of another session", election.OperatorAction{Kind: election.ActionDestroy, Session: "b"}, gone, time.Second, "session_destroyed"},
		{"received too late", election.OperatorAction{Kind: election.ActionDestroy}, gone, time.Minute, "session_destroyed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			s.sessions(session(nil))
			s.read(web("a", 3, 10, 20, "v"))
			lost := s.read(web("", 3, 10, 21, "v"))[0]
			s.observe(election.TermEvidence{At: s.now, Event: lost, Outcome: tt.found})
			a := tt.action
			a.At, a.Stage, a.By = s.now.Add(tt.after), election.ActionDone, "ana@bastion"
			if a.Session == "" {
				a.Session = "a"
			}
			s.observe(a)
			s.observe(a) // the second one changes nothing
			if got := strings.Join(s.explained(), " "); got != tt.want {
				t.Fatalf("explained: %s", got)
			}
			last := s.events[len(s.events)-1]
			term := s.web().Terms[0]
			if strings.Contains(tt.want, "operator") && (!strings.HasSuffix(last.Evidence, "electop by ana@bastion") || term.Cause != last.Cause || last.Term != 3) {
				t.Errorf("%+v, term %+v", last, term)
			}
		})
	}
}
