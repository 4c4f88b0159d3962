package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/election/insight"
)

// scanned returns an option: a scan finds keys. The keys of the map are names of sessions.
func scanned(keys map[string][]string, complete bool) func(*Options) {
	return func(o *Options) {
		searches(o)
		fake(o).onHoldings = func(_ context.Context, _ string, sessions []string, progress func(int, int)) ([]election.Pair, bool, error) {
			progress(9800, 9800)
			var found []election.Pair
			for _, id := range sessions {
				for _, key := range keys[id] {
					found = append(found, election.Pair{Key: key, Session: id})
				}
			}
			return found, complete, nil
		}
	}
}

// someKeys returns a result for scanned: a leader holds keys outside the patterns, and an idle session holds many keys.
func someKeys() map[string][]string {
	many := make([]string, 0, 252)
	for i := range 252 {
		many = append(many, fmt.Sprintf("locks/%03d", i))
	}
	return map[string][]string{
		sessionID(0): {"service/auth/leader", "locks/nightly"}, sessionID(200): many, sessionID(320): {"locks/report"},
	}
}

// A destroy carries the keys in the dialog, so that it can be refused if the session holds others.
func TestADestroyCarriesTheKeysThatWereShown(t *testing.T) {
	for _, complete := range []bool{true, false} {
		d := drive(t, studiedSnapshot(""), 120, 46, scanned(someKeys(), complete))
		d.keys("g", "x")
		d.wants("locks/nightly is released, not watched", "2 keys in all.")
		if missing := strings.Contains(d.text(), insight.MayHoldMore); missing == complete {
			t.Errorf("complete %v:\n%s", complete, d.text())
		}
		d.perform(d.keys("y"))
		if len(d.op.destroyed) != 1 || !slices.Equal(d.op.destroyed[0].Keys, []string{"locks/nightly", "service/auth/leader"}) ||
			d.op.destroyed[0].Incomplete == complete || d.op.destroyed[0].Session != sessionID(0) || !d.op.destroyed[0].Shown.Equal(d.now) {
			t.Errorf("complete %v: %+v", complete, d.op.destroyed)
		}
	}
}

// If a session holds no key, the dialog shows no effect on a holder and no lock-delay.
func TestASessionWithoutKeysHasNoLockDelay(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 120, 36, scanned(someKeys(), true))
	d.keys("3", "/", "'"+sessionID(322), "enter", "x")
	d.wants("0 keys in all. The whole store was searched.", "The session is destroyed; it holds no key.", "No lock-delay follows")
	d.lacks("must notice", "may hold more keys")
}

// A watched key that another session acquired after the scan is not affected.
func TestWatchedKeysThatMovedAreNotAffected(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 120, 36, scanned(someKeys(), true))
	d.keys("3", "/", "'"+sessionID(0), "enter", "x")
	d.wants("service/auth/leader")
	d.send(snapshotMsg{takenOver(studiedSnapshot(""), keyOf("auth"))})
	d.wants("locks/nightly is released, not watched", "1 key in all")
	d.lacks("service/auth/leader")
}

// partlyStale returns the studied board. The query for auth fails.
func partlyStale() *election.Snapshot {
	s := studiedSnapshot("")
	s.Connection.Stale = []election.StalePart{{
		Part:  election.Part{Kind: election.PartKeys, Range: election.PrefixRange(keyOf("auth"))},
		Since: ago(14 * time.Second), Error: "request timed out",
	}}
	return s
}

// The list contains no keys of a skipped target. A scan covers the session of every target: the dialog acts on a
// skipped target as soon as it is permitted.
func TestAScanCoversTargetsThatAreSkipped(t *testing.T) {
	d := drive(t, partlyStale(), 120, 46, scanned(someKeys(), true))
	d.mark("auth", "users")
	d.keys("x")
	d.wants("skipped: This data is stale", keyOf("users")+" is released", "1 key in all")
	d.lacks("locks/nightly", keyOf("auth")+" is released")
	d.send(snapshotMsg{studiedSnapshot("")})
	d.wants("3 keys in all", "locks/nightly is released", keyOf("auth")+" is released")
	d.lacks("skipped", "may hold more keys")
}

// If a skipped target has the session of another target, the destroy ends its term too.
func TestEffectsOnASkippedTargetOfTheSameSession(t *testing.T) {
	s := partlyStale()
	auth, users := s.Find(election.KeyID(keyOf("auth"))), s.Find(election.KeyID(keyOf("users")))
	auth.Session, auth.Pair.Session = users.Session, users.Pair.Session
	s.SessionList.Sessions = []*election.Session{users.Session}
	d := drive(t, s, 120, 46, scanned(someKeys(), true))
	d.mark("auth", "users")
	d.keys("x")
	d.wants("skipped: This data is stale", keyOf("auth")+" is released", "! No other candidate was seen")
}

// A target that becomes permitted while its dialog is open is included, with the keys of its session.
func TestATargetThatBecomesPermittedIsIncluded(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 120, 46, scanned(someKeys(), true))
	auth := studiedSnapshot("").Find(election.KeyID(keyOf("auth"))).Target()
	d.learn(auth, denied(keyOf("auth")))
	d.mark("auth", "users")
	d.keys("x")
	d.wants("skipped: token lacks session", "1 key in all")
	d.learn(auth, election.Rights{Known: true, Release: true, Destroy: true})
	d.wants("3 keys in all", "locks/nightly is released")
	d.lacks("skipped")
}
