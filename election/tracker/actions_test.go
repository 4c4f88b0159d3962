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

// An action explains only the end of the hold that it targeted, within 30 s, and only if it started before the end was
// observed. If Consul has not confirmed it, the cause is a guess, and evidence that contradicts it takes precedence.
func TestOwnActionsExplainTheLoss(t *testing.T) {
	const key, web2 = "service/web/leader", "service/mail/leader"
	begin, done, failed := election.ActionStarted, election.ActionDone, election.ActionFailed
	type stages = []election.ActionStage
	alive := election.Evidence{SessionRead: true, SessionExists: true}
	gone := election.Evidence{
		SessionRead: true, SessionsIndex: 21, ChecksRead: true, NodeExists: true, ChecksIndex: 9, Checks: checks(election.StatusPassing, election.StatusPassing),
	}
	for _, tt := range []struct {
		name           string
		key            string // empty for a destroy
		lock           uint64
		pause          time.Duration // from the action to the second before the observed loss
		before, during stages        // stages before the loss, and between the loss and the evidence
		evidence       election.Evidence
		after          stages // after the evidence
		want           string
	}{
		{"done before the loss is observed", key, 3, 0, stages{begin, done}, nil, alive, nil, "operator_release"},
		{"done after the evidence was observed", key, 3, 0, stages{begin}, nil, alive, stages{done}, "operator_release"},
		{"failed", key, 3, 0, stages{begin}, stages{failed}, alive, nil, "released"},
		{"on another key", web2, 3, 0, stages{done}, nil, alive, nil, "released"},
		{"a later term of the session", key, 4, 0, stages{begin}, stages{done}, alive, nil, "released"},
		{"started after the loss", key, 3, 0, nil, stages{begin, done}, alive, nil, "released"},
		{"destroyed", "", 0, 0, stages{done}, nil, gone, nil, "operator_destroy"},
		{"destroyed 30s before", "", 0, 29 * time.Second, stages{done}, nil, gone, nil, "operator_destroy"},
		{"destroyed 31s before", "", 0, 30 * time.Second, stages{done}, nil, gone, nil, "session_destroyed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			s.sessions(session(nil))
			s.read(web("a", 3, 10, 20, "v"))
			a := election.OperatorAction{Kind: election.ActionRelease, Key: tt.key, Session: "a", LockIndex: tt.lock}
			if tt.key == "" {
				a.Kind = election.ActionDestroy
			}
			reach := func(all stages) {
				for _, a.Stage = range all {
					a.At = s.now.Add(time.Millisecond)
					s.observe(a)
				}
			}
			s.now = s.now.Add(-time.Millisecond)
			reach(tt.before)
			s.now = s.now.Add(tt.pause)
			lost := s.read(web("", 3, 10, 21, "v"))[0]
			reach(tt.during)
			s.observe(election.TermEvidence{At: s.now, Event: lost, Outcome: tt.evidence})
			if len(tt.after) > 0 && len(s.explained()) > 0 {
				t.Error("the loss was explained before Consul responded to the action")
			}
			reach(tt.after)
			if got := strings.Join(s.explained(), " "); got != tt.want {
				t.Errorf("explained: %s, want %s", got, tt.want)
			}
			delayed := strings.Contains(tt.want, "destroy")
			if e := s.web(); e.LockDelayUntil.IsZero() == delayed {
				t.Errorf("lock-delay until %v, want one: %t", e.LockDelayUntil, delayed)
			}
			s.read(web("a", 4, 10, 22, "v")) // a release explains one loss only
			lost = s.read(web("", 4, 10, 23, "v"))[0]
			s.observe(election.TermEvidence{At: s.now, Event: lost, Outcome: alive})
			if causes := s.explained(); tt.want == "operator_release" && causes[len(causes)-1] != "released" {
				t.Errorf("the next loss was explained: %s", causes)
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
