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
		{"in lock-delay", vacant(delayed(9 * time.Second)), 2, "No leader for 6s. Consul refuses new holders for about 9s more (lock-delay 15s of the lost session)."},
		{"the last moment of the lock-delay", vacant(delayed(time.Millisecond)), 2, "No leader for 6s. Consul refuses new holders for about 1s more (lock-delay 6.001s of the lost session)."},
		{"after the lock-delay", vacant(delayed(-time.Second)), 2, "No leader for 6s. The lock-delay should be over: it may be taken now. 2 likely candidates are seen, and none acquires it."},
		{"after the lock-delay, nobody there", vacant(delayed(0)), 0, "No leader for 6s. The lock-delay should be over: it may be taken now. No likely candidate is seen."},
		{"released", vacant(cause(Released)), 1, "No leader for 6s. It was released and nobody has acquired it since; no lock-delay holds anybody back. 1 likely candidate is seen, and does not acquire it."},
		{"released by electop", vacant(cause(OperatorRelease)), -1, "No leader for 6s. It was released and nobody has acquired it since; no lock-delay holds anybody back. Nobody has acquired it."},
		{"candidates were not looked for", vacant(), -1, "No leader for 6s. Nobody has acquired it."},
		{"candidates but none acquires", vacant(), 3, "No leader for 6s. 3 likely candidates are seen, and none acquires it."},
		{"no candidate", vacant(), 0, "No leader for 6s. No likely candidate is seen."},
		{"the key was deleted", vacant(gone, cause(KeyDeleted)), 0, "No leader for 6s. The key was deleted while its session lived on; whoever acquires it makes it anew. No likely candidate is seen."},
		{"behavior delete", vacant(gone, deletes), 0, "No leader for 6s. The key went with its session (behavior delete); whoever acquires it makes it anew. No likely candidate is seen."},
		{"behavior delete, after the delay", vacant(gone, deletes, delayed(-time.Second)), 1, "No leader for 6s. The key went with its session (behavior delete); whoever acquires it makes it anew. The lock-delay should be over: it may be taken now. 1 likely candidate is seen, and does not acquire it."},
		{"behavior delete, but the cause is not known", vacant(gone, deletes, cause(Unknown)), 0, "No leader for 6s. The key is gone; whoever acquires it makes it anew. No likely candidate is seen."},
		{"deleted and in lock-delay", vacant(gone, cause(SessionDestroyed), delayed(time.Second)), 0, "No leader for 6s. The key is gone; whoever acquires it makes it anew. Consul refuses new holders for about 1s more (lock-delay 7s of the lost session)."},
		{"as found, a moment ago", vacant(unknown, since(0), func(e *Election) { e.Terms = nil }), 0, "No leader; since when is not known. It was found so: what happened before was not seen, and a lock-delay may still run. No likely candidate is seen."},
		{"as found, watched since", vacant(unknown, since(90*time.Minute), func(e *Election) { e.Terms = nil }), 1, "No leader for at least 1h30m. It was found so: what happened before was not seen. 1 likely candidate is seen, and does not acquire it."},
		{"for days", vacant(since(50*time.Hour + 30*time.Minute)), -1, "No leader for 2d02h. Nobody has acquired it."},
		{"for minutes", vacant(since(62 * time.Second)), -1, "No leader for 1m02s. Nobody has acquired it."},
		{"not readable any more", vacant(func(e *Election) { e.Unreadable = true }), 0, "No leader for 6s. This is old: the key may no longer be read with this token, and somebody may lead by now."},
		{"a semaphore", semaphore(`{"Limit":3,"Holders":{"a":true,"b":true}}`), 0, "The key is a semaphore's, which has holders and no leader: its value gives out 2 of 3 slots."},
		{"a semaphore of nonsense", semaphore("x"), 0, "The key is a semaphore's, which has holders and no leader; its value cannot be read."},
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
		t0.Add(-12 * time.Second): "No leader for 6s. This is old: Consul has not answered for 12s, and somebody may lead by now.",
		{}:                        "No leader for 6s. This is old: Consul does not answer, and somebody may lead by now.",
	} {
		old.Connection.LastContact = at
		if got := WhyVacant(vacant(delayed(9*time.Second)), old); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
