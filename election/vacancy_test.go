package election

import (
	"testing"
	"time"
)

func TestWhyVacant(t *testing.T) {
	lost := newSession("w", "web", "n1")
	vacant := func(change ...func(*Election)) *Election {
		e := led("web", "service/web/leader", lost)
		e.Pair.Session, e.Session, e.Leader, e.LastSession = "", nil, "", lost
		e.VacantSince, e.VacantSinceKnown = t0.Add(-6*time.Second), true
		e.Terms = []Term{{Number: 1, Session: "w", Start: t0.Add(-time.Hour), End: e.VacantSince, Cause: CheckCritical}}
		for _, c := range change {
			c(e)
		}
		return e
	}
	cause := func(c Cause) func(*Election) { return func(e *Election) { e.Terms[0].Cause = c } }
	delayed := func(until time.Duration) func(*Election) {
		return func(e *Election) { e.LockDelayUntil = t0.Add(until) }
	}
	since := func(ago time.Duration) func(*Election) { return func(e *Election) { e.VacantSince = t0.Add(-ago) } }
	unknown := func(e *Election) { e.VacantSinceKnown = false }
	gone := func(e *Election) { e.Exists = false }
	deletes := func(e *Election) {
		e.LastSession = newSession("w", "web", "n1", func(s *Session) { s.Behavior = BehaviorDelete })
	}
	tests := []struct {
		name       string
		e          *Election
		candidates int
		want       string
	}{
		{"led", led("web", "service/web/leader", lost), 1, ""},
		{"in lock-delay", vacant(delayed(9 * time.Second)), 2, "No leader for 6s. No candidate can acquire the key for about 9s more (lock-delay of the lost session: 15s)."},
		{"the last moment of the lock-delay", vacant(delayed(time.Millisecond)), 2, "No leader for 6s. No candidate can acquire the key for about 1s more (lock-delay of the lost session: 6.001s)."},
		{"after the lock-delay", vacant(delayed(-time.Second)), 2, "No leader for 6s. The lock-delay should have ended: a candidate can acquire the key now. 2 likely candidates seen, but none acquires the key."},
		{"after the lock-delay, nobody there", vacant(delayed(0)), 0, "No leader for 6s. The lock-delay should have ended: a candidate can acquire the key now. No candidate was seen."},
		{"released", vacant(cause(Released)), 1, "No leader for 6s. It was released; no lock-delay follows a release. 1 likely candidate seen, but it does not acquire the key."},
		{"released by electop", vacant(cause(OperatorRelease)), -1, "No leader for 6s. It was released; no lock-delay follows a release. No candidate has acquired the key."},
		{"candidates were not looked for", vacant(), -1, "No leader for 6s. No candidate has acquired the key."},
		{"candidates but none acquires", vacant(), 3, "No leader for 6s. 3 likely candidates seen, but none acquires the key."},
		{"no candidate", vacant(), 0, "No leader for 6s. No candidate was seen."},
		{"the key was deleted", vacant(gone, cause(KeyDeleted)), 0, "No leader for 6s. The key was deleted while its session was alive; the next acquire creates it again. No candidate was seen."},
		{"behavior delete", vacant(gone, deletes), 0, "No leader for 6s. The key was deleted with its session (behavior delete); the next acquire creates it again. No candidate was seen."},
		{"behavior delete, after the delay", vacant(gone, deletes, delayed(-time.Second)), 1, "No leader for 6s. The key was deleted with its session (behavior delete); the next acquire creates it again. The lock-delay should have ended: a candidate can acquire the key now. 1 likely candidate seen, but it does not acquire the key."},
		{"behavior delete, but the cause is not known", vacant(gone, deletes, cause(Unknown)), 0, "No leader for 6s. The key was deleted; the next acquire creates it again. No candidate was seen."},
		{"deleted and in lock-delay", vacant(gone, cause(SessionDestroyed), delayed(time.Second)), 0, "No leader for 6s. The key was deleted; the next acquire creates it again. No candidate can acquire the key for about 1s more (lock-delay of the lost session: 7s)."},
		{"as found, a moment ago", vacant(unknown, since(0), func(e *Election) { e.Terms = nil }), 0, "No leader when electop started; earlier history unknown. A lock-delay may still be active. No candidate was seen."},
		{"vacant after a gap", vacant(unknown, since(0)), 0, "No leader; the connection was lost when its term ended. No candidate was seen."},
		{"as found, watched since", vacant(unknown, since(90*time.Minute), func(e *Election) { e.Terms = nil }), 1, "No leader for at least 1h30m. No earlier term was observed. 1 likely candidate seen, but it does not acquire the key."},
		{"a moment ago", vacant(since(300 * time.Millisecond)), -1, "No leader for less than 1s. No candidate has acquired the key."},
		{"for days", vacant(since(50*time.Hour + 30*time.Minute)), -1, "No leader for 2d02h. No candidate has acquired the key."},
		{"for minutes", vacant(since(62 * time.Second)), -1, "No leader for 1m02s. No candidate has acquired the key."},
		{"not readable any more", vacant(func(e *Election) { e.Unreadable = true }), 0, "No leader for 6s. This data is stale: this token can no longer read the key; the election may have a leader by now."},
		{"a semaphore", semaphore(`{"Limit":3,"Holders":{"a":true,"b":true}}`), 0, "The key belongs to a semaphore, which has holders and no leader: 2 of 3 slots are taken."},
		{"a semaphore of nonsense", semaphore("x"), 0, "The key belongs to a semaphore, which has holders and no leader; its value is not a semaphore's."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := WhyVacant(tt.e, Situation{Now: t0, Candidates: tt.candidates, Connection: Connection{State: Live}}); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	old := Situation{Now: t0, Candidates: 3, Connection: Connection{State: Lost, LastContact: t0.Add(-12 * time.Second)}}
	for at, want := range map[time.Time]string{
		t0.Add(-12 * time.Second): "No leader for 6s. This data is stale: Consul has been unreachable for 12s; the election may have a leader by now.",
		{}:                        "No leader for 6s. This data is stale: Consul is unreachable; the election may have a leader by now.",
	} {
		old.Connection.LastContact = at
		if got := WhyVacant(vacant(delayed(9*time.Second)), old); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
