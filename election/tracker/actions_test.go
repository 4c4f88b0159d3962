package tracker

import (
	"strconv"
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
// observed and Consul confirmed it. An action of another process may be received after the end was explained.
func TestActionsExplainTheLoss(t *testing.T) {
	for _, tt := range []struct {
		name, steps string // the target of an action and its stages, the loss, the evidence (alive or gone), pauses in seconds
		want        string
	}{
		{"done before the loss is observed", "release 3 begin done loss alive", "operator_release"},
		{"done after the evidence was observed", "release 3 begin loss alive done", "operator_release"},
		{"failed", "release 3 begin loss failed alive", "released"},
		{"on another key", "mail done loss alive", "released"},
		{"a later term of the session", "release 4 begin loss done alive", "released"},
		{"started after the loss", "release 3 loss begin done alive", "released"},
		{"destroyed", "destroy done loss gone", "operator_destroy"},
		{"destroyed 30s before", "destroy done +29 loss gone", "operator_destroy"},
		{"destroyed 31s before", "destroy done +30 loss gone", "session_destroyed"},

		{"release by another process", "loss alive +1 release done", "released operator_release"},
		{"release of this term", "loss alive +1 release 3 done done", "released operator_release"},
		{"release of another term", "loss alive +1 release 2 done", "released"},
		{"release of another key", "loss alive +1 mail done", "released"},
		{"release, but the session was destroyed", "loss gone +1 release done", "session_destroyed"},
		{"release, after which the session ended", "loss unsure +1 release done", "session_destroyed? operator_release"},
		{"destroy by another process", "loss gone +1 destroy done done", "session_destroyed operator_destroy"},
		{"destroy, but the key was released", "loss alive +1 destroy done", "released"},
		{"destroy of another session", "loss gone +1 destroy other done", "session_destroyed"},
		{"received too late", "loss gone +60 destroy done", "session_destroyed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			s.sessions(session(nil))
			s.key("a 3 10 20 v")
			s.now = s.now.Add(-time.Millisecond)
			a := election.OperatorAction{Kind: election.ActionRelease, Key: "service/web/leader", Session: "A", By: "ana@bastion"}
			var lost election.Event
			evidence := map[string]election.Evidence{
				"alive": {SessionRead: true, SessionExists: true},
				"gone":  {SessionRead: true, SessionsIndex: 21, ChecksRead: true, NodeExists: true, ChecksIndex: 9, Checks: checks(election.StatusPassing, election.StatusPassing)},
			}
			later := evidence["gone"]
			later.SessionsIndex = 30
			evidence["unsure"] = later
			stages := map[string]election.ActionStage{"begin": election.ActionStarted, "done": election.ActionDone, "failed": election.ActionFailed}
			for _, step := range strings.Fields(tt.steps) {
				stage, acts := stages[step]
				found, read := evidence[step]
				number, _ := strconv.Atoi(step)
				switch {
				case acts:
					a.At, a.Stage = s.now.Add(time.Millisecond), stage
					s.observe(a)
				case read:
					s.explain(lost, found)
					if strings.HasSuffix(tt.steps, "begin loss alive done") && len(s.explained()) > 0 {
						t.Error("the loss was explained before Consul responded to the action")
					}
				case step == "loss":
					lost = s.key("- 3 10 21 v")[0]
				case step == "mail":
					a.Key = "service/mail/leader"
				case step == "destroy":
					a.Kind, a.Key = election.ActionDestroy, ""
				case step == "other":
					a.Session = "b"
				case step[0] == '+':
					s.now = s.now.Add(time.Duration(number) * time.Second)
				case number > 0:
					a.CreateIndex, a.LockIndex = 10, uint64(number)
				}
			}
			got := strings.Join(s.explained(), " ")
			if got != tt.want {
				t.Fatalf("explained: %s, want %s", got, tt.want)
			}
			last, term := s.events[len(s.events)-1], s.web().Terms[0]
			if strings.Contains(got, "operator") && (!strings.HasSuffix(last.Evidence, "electop by ana@bastion") || term.Cause != last.Cause || last.Term != 3) {
				t.Errorf("%+v, term %+v", last, term)
			}
			if e := s.web(); e.LockDelayUntil.IsZero() == strings.Contains(string(last.Cause), "destroy") {
				t.Errorf("lock-delay until %v", e.LockDelayUntil)
			}
			s.key("a 4 10 22 v") // a release explains one loss only
			lost = s.key("- 4 10 23 v")[0]
			s.explain(lost, evidence["alive"])
			if causes := s.explained(); strings.HasSuffix(got, "operator_release") && causes[len(causes)-1] != "released" {
				t.Errorf("the next loss was explained: %s", causes)
			}
		})
	}
}
