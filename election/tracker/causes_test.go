package tracker

import (
	"strconv"
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
	for _, tt := range []struct {
		name, given string // given contains what differs from a session that ended, with passing checks
		want        string // with "?" for a guess
	}{
		{"the session still exists", "sessions@9 exists", "released"},
		{"the session still exists, the key was deleted", "deleted sessions@9 exists", "key_deleted"},
		{"the same after a gap: the key may have been released before its deletion", "deleted gap sessions@9 exists", "key_deleted?"},
		{"the key still exists after a session with behavior delete", "deletes sessions@25", "released"},
		{"the session ended at the index of the key", "sessions@20", "session_destroyed"},
		{"the session ended at the index of the key, TTL", "ttl sessions@20", "session_expired_or_destroyed"},
		{"a session ended after the loss", "sessions@21", "session_destroyed?"},
		{"the last session ended before the loss", "sessions@19", "session_destroyed?"},
		{"the key was written after the loss", "later sessions@20", "session_destroyed?"},
		{"its check became critical at the index of the key", "sessions@20 critical@20", "check_critical"},
		{"the same, other sessions end later", "sessions@25 critical@20", "check_critical"},
		{"the same, in a gap", "gap sessions@25 critical@20", "check_critical"},
		{"its check was critical before the loss", "sessions@20 critical@12", "check_critical?"},
		{"critical, the key was written after the loss", "later sessions@20 critical@20", "check_critical?"},
		{"critical, in a gap, the key was written after the loss", "later gap sessions@20 critical@20", "check_critical?"},
		{"its check became critical after a destroy", "sessions@20 critical@22", "session_destroyed?"},
		{"its check became critical after a release", "sessions@21 critical@22", "session_destroyed?"},
		{"its check changed after the loss to passing", "sessions@20 passing@22", "session_destroyed?"},
		{"its check changed after the loss to warning, in a gap", "gap sessions@20 warning@22", "session_destroyed?"},
		{"its check changed at the index of the loss to passing", "sessions@20 passing@20", "session_destroyed?"},
		{"its check was removed at the index of the key", "sessions@20 noCheck@20", "check_gone"},
		{"its check was removed, others changed later", "sessions@20 noCheck@22", "check_gone?"},
		{"its check was removed, after a release", "sessions@21 noCheck@20", "check_gone?"},
		{"its check was removed, index unknown", "sessions@20 noCheck@0", "check_gone?"},
		{"its node was removed at the index of the key", "sessions@20 noNode@20", "node_gone"},
		{"its node was removed later", "sessions@20 noNode@22", "node_gone?"},
		{"its node was removed, after a release", "sessions@21 noNode@20", "node_gone?"},
		{"a session without checks", "unchecked sessions@20", "session_destroyed"},
		{"a session without checks: the node may have been deregistered", "unchecked gap sessions@20", "session_destroyed?"},
		{"the key was deleted with its session", "deletes deleted sessions@20 tombstone@20", "session_destroyed"},
		{"no tombstone was read", "deletes deleted sessions@20", "session_destroyed?"},
		{"no tombstone, critical", "deletes deleted sessions@20 critical@20", "check_critical?"},
		{"the tombstone belongs to another change", "deletes deleted gap sessions@20 tombstone@20", "session_destroyed?"},
		{"the key was deleted before the session ended", "deletes deleted sessions@21 tombstone@20", "session_destroyed?"},
		{"the key was deleted despite behavior release", "deleted sessions@20 tombstone@20", "session_destroyed?"},
		{"data was restored", "restored sessions@20 exists", "unknown"},
		{"data is older than the observed key", "deleted sessions@9 exists tombstone@12", "unknown"},
		{"data is older than the session", "young sessions@20", "unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, l := session(nil), Loss{HeldIndex: 15, KeyIndex: lost}
			ev := election.Evidence{SessionRead: true, ChecksRead: true, NodeExists: true, ChecksIndex: 10, Checks: changedAt(10, checks(election.StatusPassing, election.StatusPassing))}
			for _, word := range strings.Fields(tt.given) {
				what, at, _ := strings.Cut(word, "@")
				index, _ := strconv.ParseUint(at, 10, 64) // 0 if there is none
				switch what {
				case "deletes":
					s.Behavior = election.BehaviorDelete
				case "ttl":
					s.TTL = 1
				case "unchecked":
					s.NodeChecks, s.ServiceChecks = nil, nil
				case "young":
					s.CreateIndex = 90
				case "later": // the key was written after the loss
					l.KeyIndex = 0
				case "gap":
					l.Gap = true
				case "deleted":
					l.Deleted, l.KeyIndex = true, 0
				case "restored":
					l.Replaced = true
				case "exists":
					ev.SessionExists = true
				case "sessions":
					ev.SessionsIndex = index
				case "tombstone":
					ev.DeleteIndex = index
				case "noNode":
					ev.NodeExists, ev.Checks, ev.ChecksIndex = false, nil, index
				case "noCheck":
					ev.Checks, ev.ChecksIndex = ev.Checks[:2], index
				default: // the status of the service check
					ev.Checks[2].Status, ev.Checks[2].ModifyIndex, ev.ChecksIndex = what, index, index
				}
			}
			l.Session = s
			got := Explain(l, ev)
			if doubt := strings.Contains(got.Evidence, "may have released"); got.Invalidated && got.Doubtful != doubt {
				t.Errorf("doubtful %v: %s", got.Doubtful, got.Evidence)
			}
			if cause := string(got.Cause) + map[bool]string{true: "?"}[got.Guess]; cause != tt.want || strings.Contains(got.Evidence, "a guess") != got.Guess {
				t.Errorf("%s: %s", cause, got.Evidence)
			}
			if l.Gap != strings.Contains(got.Evidence, "interrupted") {
				t.Errorf("gap %v, evidence %q; want it to contain \"interrupted\" only after a gap", l.Gap, got.Evidence)
			}
		})
	}
}
