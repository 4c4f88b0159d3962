package insight

import (
	"testing"
	"time"

	"electop/election"
)

func TestWhyVacant(t *testing.T) {
	lost := newSession("w", "web", "n1")
	vacant := func(change ...func(*election.Election)) *election.Election {
		e := led("web", "service/web/leader", lost)
		e.Pair.Session, e.Session, e.Leader, e.LastSession = "", nil, "", lost
		e.VacantSince, e.VacantSinceKnown = t0.Add(-6*time.Second), true
		e.Terms = []election.Term{{Number: 1, Session: "w", Start: t0.Add(-time.Hour), End: e.VacantSince, Cause: election.CheckCritical}}
		for _, c := range change {
			c(e)
		}
		return e
	}
	cause := func(c election.Cause) func(*election.Election) {
		return func(e *election.Election) { e.Terms[0].Cause = c }
	}
	delayed := func(until time.Duration) func(*election.Election) {
		return func(e *election.Election) { e.LockDelayUntil = t0.Add(until) }
	}
	since := func(ago time.Duration) func(*election.Election) {
		return func(e *election.Election) { e.VacantSince = t0.Add(-ago) }
	}
	unseen := func(ago time.Duration) func(*election.Election) {
		return func(e *election.Election) { e.Terms[0].End, e.Terms[0].SeenUntil = e.VacantSince, t0.Add(-ago) }
	}
	unknown := func(e *election.Election) { e.VacantSinceKnown = false }
	gone := func(e *election.Election) { e.Exists = false }
	deletes := func(e *election.Election) {
		e.LastSession = newSession("w", "web", "n1", func(s *election.Session) { s.Behavior = election.BehaviorDelete })
	}
	tests := []struct {
		name       string
		e          *election.Election
		candidates int
		want       string
	}{
		{"led", led("web", "service/web/leader", lost), 1, ""},
		{"in lock-delay", vacant(delayed(9 * time.Second)), 2, "No leader for 6s. No candidate can acquire the key for about 9s more (lock-delay of the lost session: 15s)."},
		{"less than 1s of the lock-delay remains", vacant(delayed(time.Millisecond)), 2, "No leader for 6s. No candidate can acquire the key for about 1s more (lock-delay of the lost session: 6.001s)."},
		{"after the lock-delay", vacant(delayed(-time.Second)), 2, "No leader for 6s. The lock-delay should have ended: a candidate can acquire the key now. 2 likely candidates seen. Candidates retry every few seconds: they are idle if there is no leader in 11s."},
		{"12s after the lock-delay", vacant(since(time.Minute), delayed(-12*time.Second)), 2, "No leader for 1m00s. The lock-delay should have ended: a candidate can acquire the key now. 2 likely candidates seen. No candidate has acquired the key."},
		{"the cause is pending", vacant(cause(""), since(300*time.Millisecond), func(e *election.Election) { e.Terms[0].End = e.VacantSince }), 2, "No leader for less than 1s. The cause is not known yet: electop reads it within 1s."},
		{"released", vacant(cause(election.Released)), 1, "No leader for 6s. The key was released; no lock-delay follows a release. 1 likely candidate seen. Candidates retry every few seconds: they are idle if there is no leader in 6s."},
		{"released by electop", vacant(cause(election.OperatorRelease)), -1, "No leader for 6s. The key was released; no lock-delay follows a release. No candidate has acquired the key."},
		{"candidates but none acquires", vacant(), 3, "No leader for 6s. 3 likely candidates seen. Candidates retry every few seconds: they are idle if there is no leader in 6s."},
		{"no candidate", vacant(), 0, "No leader for 6s. No candidate was seen."},
		{"the key was deleted", vacant(gone, cause(election.KeyDeleted)), 0, "No leader for 6s. The key was deleted while its session was alive; the next acquire creates it again. No candidate was seen."},
		{"behavior delete", vacant(gone, deletes), 0, "No leader for 6s. The key was deleted with its session (behavior delete); the next acquire creates it again. No candidate was seen."},
		{"behavior delete, after the delay", vacant(gone, deletes, delayed(-time.Second)), 1, "No leader for 6s. The key was deleted with its session (behavior delete); the next acquire creates it again. The lock-delay should have ended: a candidate can acquire the key now. 1 likely candidate seen. Candidates retry every few seconds: they are idle if there is no leader in 11s."},
		{"deleted and in lock-delay", vacant(gone, cause(election.SessionDestroyed), delayed(time.Second)), 0, "No leader for 6s. The key was deleted; the next acquire creates it again. No candidate can acquire the key for about 1s more (lock-delay of the lost session: 7s)."},
		{"vacant at the first read, less than 1s ago", vacant(unknown, since(0), func(e *election.Election) { e.Terms = nil }), 0, "No leader when electop started; earlier history unknown. A lock-delay may still be active. No candidate was seen."},
		{"vacant after a gap", vacant(unknown, since(0)), 0, "No leader; the end of the last term was not observed. No candidate was seen."},
		{"vacant at the first read, watched since", vacant(unknown, since(90*time.Minute), func(e *election.Election) { e.Terms = nil }), 1, "No leader for at least 1h30m. No earlier term was observed. 1 likely candidate seen. No candidate has acquired the key."},
		{"vacant after a gap, with bounds", vacant(unknown, since(0), unseen(20*time.Minute)), 0, "No leader: the last term ended between 11:40:00 and 12:00:00. No candidate was seen."},
		{"vacant since a gap, with bounds", vacant(unknown, since(2*time.Minute), unseen(20*time.Minute)), 0, "No leader for at least 2m00s: the last term ended between 11:40:00 and 11:58:00. No candidate was seen."},
		{"recorded", vacant(since(5*time.Minute), func(e *election.Election) { e.RecordedUntil = t0 }), 2, "No leader for 5m00s. This data is from the history; the election may have a leader by now."},
		{"vacant for less than 1s", vacant(since(300 * time.Millisecond)), -1, "No leader for less than 1s. No candidate has acquired the key."},
		{"vacant for days", vacant(since(50*time.Hour + 30*time.Minute)), -1, "No leader for 2d02h. No candidate has acquired the key."},
		{"no longer readable", vacant(func(e *election.Election) { e.Unreadable = true }), 0, "No leader for 6s. This data is stale: this token can no longer read the key; the election may have a leader by now."},
		{"a semaphore", semaphore(`{"Limit":3,"Holders":{"a":true,"b":true}}`), 0, "The key belongs to a semaphore, which has holders and no leader: 2 of 3 slots are taken."},
		{"a semaphore with an invalid value", semaphore("x"), 0, "The key belongs to a semaphore, which has holders and no leader, but its value is not valid for a semaphore."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := WhyVacant(tt.e, Facts{Now: t0, Connection: election.Connection{State: election.Live}}, tt.candidates); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	old := Facts{Now: t0, Connection: election.Connection{State: election.Lost, LastContact: t0.Add(-12 * time.Second)}}
	for at, want := range map[time.Time]string{
		t0.Add(-12 * time.Second): "No leader for 6s. This data is stale: Consul has been unreachable for 12s; the election may have a leader by now.",
		{}:                        "No leader for 6s. This data is stale: Consul is unreachable; the election may have a leader by now.",
	} {
		old.Connection.LastContact = at
		if got := WhyVacant(vacant(delayed(9*time.Second)), old, 3); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func semaphore(value string) *election.Election {
	return &election.Election{Name: "gpu", Exists: true, Pair: election.Pair{Key: "jobs/gpu/.lock", Flags: election.SemaphoreFlag, Value: []byte(value)}}
}
