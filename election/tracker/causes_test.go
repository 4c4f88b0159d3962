package tracker

import (
	"strings"
	"testing"

	"electop/election"
)

// changedAt sets the Raft index of all checks.
func changedAt(index uint64, all []election.Check) []election.Check {
	for i := range all {
		all[i].ModifyIndex = index
	}
	return all
}

// A cause is a fact only if Raft indexes prove it. It is a guess if the data may have changed between the end of the
// term and the read of the evidence.
func TestExplainMarksGuesses(t *testing.T) {
	const lost = 20 // Raft index of the loss
	live := Loss{HeldIndex: 15, KeyIndex: lost}
	later := Loss{HeldIndex: 15} // the key was written after the loss
	gap := Loss{HeldIndex: 15, KeyIndex: lost, Gap: true}
	laterGap := Loss{HeldIndex: 15, Gap: true}
	deleted := Loss{HeldIndex: 15, Deleted: true}
	deletedGap := Loss{HeldIndex: 15, Deleted: true, Gap: true}

	gone := func(sessions uint64, change ...func(*election.Evidence)) election.Evidence {
		ev := election.Evidence{
			SessionRead: true, ChecksRead: true, NodeExists: true, SessionsIndex: sessions, ChecksIndex: 10,
			Checks: changedAt(10, checks(election.StatusPassing, election.StatusPassing)),
		}
		for _, f := range change {
			f(&ev)
		}
		return ev
	}
	service := func(status string, index uint64) func(*election.Evidence) {
		return func(e *election.Evidence) {
			e.Checks = changedAt(10, checks(election.StatusPassing, status))
			e.Checks[len(e.Checks)-1].ModifyIndex = index
			e.ChecksIndex = index
		}
	}
	noCheck := func(index uint64) func(*election.Evidence) {
		return func(e *election.Evidence) {
			e.Checks, e.ChecksIndex = changedAt(10, checks(election.StatusPassing, "")), index
		}
	}
	noNode := func(index uint64) func(*election.Evidence) {
		return func(e *election.Evidence) { e.NodeExists, e.Checks, e.ChecksIndex = false, nil, index }
	}
	tombstone := func(index uint64) func(*election.Evidence) {
		return func(e *election.Evidence) { e.DeleteIndex = index }
	}
	exists := func(e *election.Evidence) { e.SessionExists = true }

	keeps := session(nil)
	deletes := session(func(s *election.Session) { s.Behavior = election.BehaviorDelete })
	ttl := session(func(s *election.Session) { s.TTL = 1 })
	unchecked := session(func(s *election.Session) { s.NodeChecks, s.ServiceChecks = nil, nil })
	young := session(func(s *election.Session) { s.CreateIndex = 90 })

	for _, tt := range []struct {
		name    string
		session *election.Session
		loss    Loss
		ev      election.Evidence
		want    election.Cause
		guess   bool
	}{
		{"the session still exists", keeps, live, gone(9, exists), election.Released, false},
		{"the session still exists, the key was deleted", keeps, deleted, gone(9, exists), election.KeyDeleted, false},
		{"the same after a gap: the key may have been released before its deletion", keeps, deletedGap, gone(9, exists), election.KeyDeleted, true},
		{"the key still exists after a session with behavior delete", deletes, live, gone(25), election.Released, false},

		{"the session ended at the index of the key", keeps, live, gone(lost), election.SessionDestroyed, false},
		{"the session ended at the index of the key, TTL", ttl, live, gone(lost), election.SessionExpiredOrDestroyed, false},
		{"a session ended after the loss", keeps, live, gone(21), election.SessionDestroyed, true},
		{"the last session ended before the loss", keeps, live, gone(19), election.SessionDestroyed, true},
		{"the key was written after the loss", keeps, later, gone(lost), election.SessionDestroyed, true},

		{"its check became critical at the index of the key", keeps, live, gone(lost, service(election.StatusCritical, lost)), election.CheckCritical, false},
		{"the same, other sessions end later", keeps, live, gone(25, service(election.StatusCritical, lost)), election.CheckCritical, false},
		{"the same, in a gap", keeps, gap, gone(25, service(election.StatusCritical, lost)), election.CheckCritical, false},
		{"its check was critical before the loss", keeps, live, gone(lost, service(election.StatusCritical, 12)), election.CheckCritical, true},
		{"critical, the key was written after the loss", keeps, later, gone(lost, service(election.StatusCritical, lost)), election.CheckCritical, true},
		{"critical, in a gap, the key was written after the loss", keeps, laterGap, gone(lost, service(election.StatusCritical, lost)), election.CheckCritical, true},
		{"its check became critical after a destroy", keeps, live, gone(lost, service(election.StatusCritical, 22)), election.SessionDestroyed, true},
		{"its check became critical after a release", keeps, live, gone(21, service(election.StatusCritical, 22)), election.SessionDestroyed, true},
		{"its check changed after the loss to passing", keeps, live, gone(lost, service(election.StatusPassing, 22)), election.SessionDestroyed, true},
		{"its check changed after the loss to warning, in a gap", keeps, gap, gone(lost, service(election.StatusWarning, 22)), election.SessionDestroyed, true},
		{"its check changed at the index of the loss to passing", keeps, live, gone(lost, service(election.StatusPassing, lost)), election.SessionDestroyed, true},

		{"its check was removed at the index of the key", keeps, live, gone(lost, noCheck(lost)), election.CheckGone, false},
		{"its check was removed, others changed later", keeps, live, gone(lost, noCheck(22)), election.CheckGone, true},
		{"its check was removed, after a release", keeps, live, gone(21, noCheck(lost)), election.CheckGone, true},
		{"its check was removed, index unknown", keeps, live, gone(lost, noCheck(0)), election.CheckGone, true},
		{"its node was removed at the index of the key", keeps, live, gone(lost, noNode(lost)), election.NodeGone, false},
		{"its node was removed later", keeps, live, gone(lost, noNode(22)), election.NodeGone, true},
		{"its node was removed, after a release", keeps, live, gone(21, noNode(lost)), election.NodeGone, true},

		{"a session without checks", unchecked, live, gone(lost), election.SessionDestroyed, false},
		{"a session without checks: the node may have been deregistered", unchecked, gap, gone(lost), election.SessionDestroyed, true},

		{"the key was deleted with its session", deletes, deleted, gone(lost, tombstone(lost)), election.SessionDestroyed, false},
		{"no tombstone was read", deletes, deleted, gone(lost), election.SessionDestroyed, true},
		{"no tombstone, critical", deletes, deleted, gone(lost, service(election.StatusCritical, lost)), election.CheckCritical, true},
		{"the tombstone belongs to another change", deletes, deletedGap, gone(lost, tombstone(lost)), election.SessionDestroyed, true},
		{"the key was deleted before the session ended", deletes, deleted, gone(21, tombstone(lost)), election.SessionDestroyed, true},
		{"the key was deleted despite behavior release", keeps, deleted, gone(lost, tombstone(lost)), election.SessionDestroyed, true},

		{"data was restored", keeps, Loss{Replaced: true, KeyIndex: lost}, gone(lost, exists), election.Unknown, false},
		{"data is older than the observed key", keeps, deleted, gone(9, exists, tombstone(12)), election.Unknown, false},
		{"data is older than the session", young, live, gone(lost), election.Unknown, false},
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
				t.Errorf("gap %v, evidence %q; want it to contain \"interrupted\" only after a gap", tt.loss.Gap, got.Evidence)
			}
		})
	}
}
