package election

import (
	"strings"
	"testing"
)

// Whatever the indexes leave open is called a guess, and nothing else is.
func TestExplainCallsAGuessAGuess(t *testing.T) {
	at := func(key, sessions uint64, change func(*Evidence)) Evidence {
		ev := Evidence{
			SessionRead: true, ChecksRead: true, NodeExists: true, KeyIndex: key, SessionsIndex: sessions,
			Checks: checks(StatusPassing, StatusPassing),
		}
		if change != nil {
			change(&ev)
		}
		return ev
	}
	critical := func(index uint64) func(*Evidence) {
		return func(e *Evidence) {
			e.Checks = checks(StatusPassing, StatusCritical)
			e.Checks[len(e.Checks)-1].ModifyIndex = index
		}
	}
	noCheck := func(e *Evidence) { e.Checks = checks(StatusPassing, "") }
	noNode := func(e *Evidence) { e.NodeExists, e.Checks = false, nil }
	deletes := session(func(s *Session) { s.Behavior = BehaviorDelete })
	for _, tt := range []struct {
		name    string
		session *Session
		deleted bool
		ev      Evidence
		want    Cause
		guess   bool
	}{
		{"destroyed at one index", session(nil), false, at(20, 20, nil), SessionDestroyed, false},
		{"a session changed later", session(nil), false, at(20, 21, nil), SessionDestroyed, true},
		{"the check ended it", session(nil), false, at(20, 20, critical(20)), CheckCritical, false},
		{"the check ended it, others change", session(nil), false, at(20, 25, critical(20)), CheckCritical, false},
		{"critical after a release", session(nil), false, at(20, 21, critical(22)), SessionDestroyed, true},
		{"critical after a destroy", session(nil), false, at(20, 20, critical(22)), SessionDestroyed, false},
		{"check removed", session(nil), false, at(20, 20, noCheck), CheckGone, false},
		{"check removed after a release", session(nil), false, at(20, 21, noCheck), CheckGone, true},
		{"node removed", session(nil), false, at(20, 20, noNode), NodeGone, false},
		{"node removed after a release", session(nil), false, at(20, 21, noNode), NodeGone, true},
		{"the key went with the session", deletes, true, at(0, 21, nil), SessionDestroyed, false},
		{"the key went though it should stay", session(nil), true, at(0, 21, nil), SessionDestroyed, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Explain(tt.session, tt.deleted, tt.ev)
			if doubt := strings.Contains(got.Evidence, "may have released"); got.Doubtful != doubt {
				t.Errorf("doubtful %v: %s", got.Doubtful, got.Evidence)
			}
			if got.Cause != tt.want || strings.Contains(got.Evidence, "a guess") != tt.guess {
				t.Errorf("%s: %s", got.Cause, got.Evidence)
			}
		})
	}
}
