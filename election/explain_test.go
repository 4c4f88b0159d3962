package election

import (
	"strings"
	"testing"
)

// changedAt lets all checks have changed at one Raft index.
func changedAt(index uint64, all []Check) []Check {
	for i := range all {
		all[i].ModifyIndex = index
	}
	return all
}

// A cause is stated as a fact only where Raft indexes prove it: what may have
// changed between the loss and the look at it makes it a guess.
func TestExplainCallsAGuessAGuess(t *testing.T) {
	const lost = 20 // the index of the loss
	live := Loss{HeldIndex: 15, KeyIndex: lost}
	later := Loss{HeldIndex: 15} // the key was written since
	gap := Loss{HeldIndex: 15, KeyIndex: lost, Gap: true}
	laterGap := Loss{HeldIndex: 15, Gap: true}
	deleted := Loss{HeldIndex: 15, Deleted: true}
	deletedGap := Loss{HeldIndex: 15, Deleted: true, Gap: true}

	gone := func(sessions uint64, change ...func(*Evidence)) Evidence {
		ev := Evidence{
			SessionRead: true, ChecksRead: true, NodeExists: true, SessionsIndex: sessions, ChecksIndex: 10,
			Checks: changedAt(10, checks(StatusPassing, StatusPassing)),
		}
		for _, f := range change {
			f(&ev)
		}
		return ev
	}
	service := func(status string, index uint64) func(*Evidence) {
		return func(e *Evidence) {
			e.Checks = changedAt(10, checks(StatusPassing, status))
			e.Checks[len(e.Checks)-1].ModifyIndex = index
			e.ChecksIndex = index
		}
	}
	noCheck := func(index uint64) func(*Evidence) {
		return func(e *Evidence) { e.Checks, e.ChecksIndex = changedAt(10, checks(StatusPassing, "")), index }
	}
	noNode := func(index uint64) func(*Evidence) {
		return func(e *Evidence) { e.NodeExists, e.Checks, e.ChecksIndex = false, nil, index }
	}
	tombstone := func(index uint64) func(*Evidence) { return func(e *Evidence) { e.DeleteIndex = index } }
	exists := func(e *Evidence) { e.SessionExists = true }

	keeps := session(nil)
	deletes := session(func(s *Session) { s.Behavior = BehaviorDelete })
	ttl := session(func(s *Session) { s.TTL = 1 })
	unchecked := session(func(s *Session) { s.NodeChecks, s.ServiceChecks = nil, nil })
	young := session(func(s *Session) { s.CreateIndex = 90 })

	for _, tt := range []struct {
		name    string
		session *Session
		loss    Loss
		ev      Evidence
		want    Cause
		guess   bool
	}{
		{"the session lives", keeps, live, gone(9, exists), Released, false},
		{"the session lives, after a gap", keeps, laterGap, gone(9, exists), Released, false},
		{"the session lives, the key is gone", keeps, deleted, gone(9, exists), KeyDeleted, false},
		{"the same after a gap: released first?", keeps, deletedGap, gone(9, exists), KeyDeleted, true},
		{"the key outlived a session that deletes", deletes, live, gone(25), Released, false},
		{"the same after a gap", deletes, laterGap, gone(25), Released, false},

		{"ended with the key", keeps, live, gone(lost), SessionDestroyed, false},
		{"ended with the key, TTL", ttl, live, gone(lost), SessionExpiredOrDestroyed, false},
		{"ended with the key, in a gap", keeps, gap, gone(lost), SessionDestroyed, false},
		{"a session ended later", keeps, live, gone(21), SessionDestroyed, true},
		{"the last session ended before", keeps, live, gone(19), SessionDestroyed, true},
		{"the key was written since", keeps, later, gone(lost), SessionDestroyed, true},
		{"the key was written since, in a gap", keeps, laterGap, gone(lost), SessionDestroyed, true},

		{"its check turned critical with the key", keeps, live, gone(lost, service(StatusCritical, lost)), CheckCritical, false},
		{"the same, other sessions end later", keeps, live, gone(25, service(StatusCritical, lost)), CheckCritical, false},
		{"the same, in a gap", keeps, gap, gone(25, service(StatusCritical, lost)), CheckCritical, false},
		{"critical since before", keeps, live, gone(lost, service(StatusCritical, 12)), CheckCritical, true},
		{"critical, the key was written since", keeps, later, gone(lost, service(StatusCritical, lost)), CheckCritical, true},
		{"critical, in a gap, the key was written since", keeps, laterGap, gone(lost, service(StatusCritical, lost)), CheckCritical, true},
		{"critical after a destroy", keeps, live, gone(lost, service(StatusCritical, 22)), SessionDestroyed, true},
		{"critical after a release", keeps, live, gone(21, service(StatusCritical, 22)), SessionDestroyed, true},
		{"changed after the loss and passes", keeps, live, gone(lost, service(StatusPassing, 22)), SessionDestroyed, true},
		{"changed after the loss and warns, in a gap", keeps, gap, gone(lost, service(StatusWarning, 22)), SessionDestroyed, true},
		{"changed with the loss and passes", keeps, live, gone(lost, service(StatusPassing, lost)), SessionDestroyed, true},

		{"its check was removed with the key", keeps, live, gone(lost, noCheck(lost)), CheckGone, false},
		{"its check was removed, others changed later", keeps, live, gone(lost, noCheck(22)), CheckGone, true},
		{"its check was removed, after a release", keeps, live, gone(21, noCheck(lost)), CheckGone, true},
		{"its check was removed, index unknown", keeps, live, gone(lost, noCheck(0)), CheckGone, true},
		{"its check was removed, the key was written since", keeps, later, gone(lost, noCheck(lost)), CheckGone, true},
		{"its node was removed with the key", keeps, live, gone(lost, noNode(lost)), NodeGone, false},
		{"its node was removed later", keeps, live, gone(lost, noNode(22)), NodeGone, true},
		{"its node was removed, after a release", keeps, live, gone(21, noNode(lost)), NodeGone, true},
		{"its node was removed, the key was written since", keeps, laterGap, gone(lost, noNode(lost)), NodeGone, true},

		{"a session without checks", unchecked, live, gone(lost), SessionDestroyed, false},
		{"a session without checks: the node may have been away", unchecked, gap, gone(lost), SessionDestroyed, true},

		{"the key went with its session", deletes, deleted, gone(lost, tombstone(lost)), SessionDestroyed, false},
		{"the key went with its session by a check", deletes, deleted, gone(25, tombstone(lost), service(StatusCritical, lost)), CheckCritical, false},
		{"no tombstone was read", deletes, deleted, gone(lost), SessionDestroyed, true},
		{"no tombstone, critical", deletes, deleted, gone(lost, service(StatusCritical, lost)), CheckCritical, true},
		{"the tombstone is of another change", deletes, deletedGap, gone(lost, tombstone(lost)), SessionDestroyed, true},
		{"the key was deleted before the session ended", deletes, deleted, gone(21, tombstone(lost)), SessionDestroyed, true},
		{"the key went though it should stay", keeps, deleted, gone(lost, tombstone(lost)), SessionDestroyed, true},

		{"data was restored", keeps, Loss{Replaced: true, KeyIndex: lost}, gone(lost, exists), Unknown, false},
		{"data is older than the key was", keeps, deleted, gone(9, exists, tombstone(12)), Unknown, false},
		{"data is older than the session", young, live, gone(lost), Unknown, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.loss.Session = tt.session
			got := Explain(tt.loss, tt.ev)
			if doubt := strings.Contains(got.Evidence, "may have released"); got.Invalidated && got.Doubtful != doubt {
				t.Errorf("doubtful %v: %s", got.Doubtful, got.Evidence)
			}
			if got.Cause != tt.want || got.Guess != tt.guess || strings.Contains(got.Evidence, "a guess") != tt.guess {
				t.Errorf("%s, guess %v: %s", got.Cause, got.Guess, got.Evidence)
			}
			if tt.loss.Gap != strings.Contains(got.Evidence, "interrupted") {
				t.Errorf("the gap is part of the evidence: %s", got.Evidence)
			}
		})
	}
}

// A check that changed with the key ended the term, however many turned critical
// since.
func TestExplainNamesTheCheckThatChangedWithTheKey(t *testing.T) {
	all := checks(StatusCritical, StatusCritical)
	for i := range all {
		all[i].ModifyIndex = map[string]uint64{"serfHealth": 25, "service:web": 20}[all[i].ID]
	}
	got := Explain(Loss{Session: session(nil), KeyIndex: 20}, Evidence{
		SessionRead: true, SessionsIndex: 25, ChecksRead: true, NodeExists: true, Checks: all, ChecksIndex: 25,
	})
	if got.Cause != CheckCritical || got.Guess || !strings.HasPrefix(got.Evidence, "service:web") {
		t.Errorf("%s, guess %v: %s", got.Cause, got.Guess, got.Evidence)
	}
}
