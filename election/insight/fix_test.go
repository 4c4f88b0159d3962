package insight

import (
	"strings"
	"testing"
	"time"

	"electop/election"
)

func session(change func(*election.Session)) *election.Session {
	s := &election.Session{ID: "s1", Name: "web", Node: "node-1", Behavior: election.BehaviorRelease, LockDelay: 15 * time.Second, NodeChecks: []string{"serfHealth"}}
	if change != nil {
		change(s)
	}
	return s
}

func heldBy(s *election.Session) *election.Election {
	return &election.Election{Name: "web", Exists: true, Leader: "web-1", Session: s, Pair: web("s1", 1, 1, 1, "web-1")}
}

func vacant(change func(*election.Election)) *election.Election {
	e := &election.Election{Name: "web", Exists: true, Pair: web("", 1, 1, 1, "web-1"), VacantSince: t0, VacantSinceKnown: true}
	if change != nil {
		change(e)
	}
	return e
}

func check(id, service, status string) election.Check {
	return election.Check{ID: id, Node: "node-1", Service: service, Status: status}
}

func sessionsAround(sessions ...*election.Session) *election.Surroundings {
	return &election.Surroundings{Key: "service/web/leader", Sessions: sessions}
}

func TestFix(t *testing.T) {
	bare := func(s *election.Session) { s.NodeChecks = nil }
	apiLock := &election.Session{ID: "s2", Name: apiLockSession, TTL: 15 * time.Second}
	waiter := &election.Session{ID: "s3", Name: "web-2"}
	lockKey := func(e *election.Election) { e.Pair.Key, e.Pair.Value = "web/.lock", nil }
	tests := []struct {
		name    string
		e       *election.Election
		facts   FixFacts
		problem Problem // empty if there is no fix
		kind    FixKind
		text    string
	}{
		{"a healthy leader", heldBy(session(nil)), FixFacts{Checks: []election.Check{check("serfHealth", "", "passing"), check("service:web", "web", "passing")}}, "", "", ""},
		{"a leader without checks on a healthy node", heldBy(session(bare)), FixFacts{Checks: []election.Check{check("serfHealth", "", "passing")}}, "", "", ""},
		{"a leader whose checks were not read", heldBy(session(bare)), FixFacts{}, "", "", ""},
		{"a leader whose session was not read", heldBy(nil), FixFacts{Checks: []election.Check{check("serfHealth", "", "critical")}}, "", "", ""},
		{"a leader whose checks cannot be read", heldBy(session(bare)), FixFacts{Unread: "the checks of node-1 could not be read"}, ProblemUnknown, FixManual, "It is unknown whether the leader has failed: the checks of node-1"},
		{"a leader whose session cannot be read", heldBy(nil), FixFacts{Unread: "its session could not be read"}, ProblemUnknown, FixManual, "its session"},
		{
			"a leader whose checks cannot be read, a session with a TTL", heldBy(session(func(s *election.Session) { bare(s); s.TTL = time.Minute })),
			FixFacts{Unread: "the checks of node-1 could not be read"}, "", "", "",
		},
		{
			"a failed node with unreadable checks", heldBy(session(bare)),
			FixFacts{Checks: []election.Check{check("serfHealth", "", "critical")}, Unread: "not all checks of node-1 could be read"}, ProblemNodeGone, FixDestroy, "15s",
		},
		{"a failed node", heldBy(session(bare)), FixFacts{Checks: []election.Check{check("serfHealth", "", "critical")}}, ProblemNodeGone, FixDestroy, "15s"},
		{"a failed node, a session with a TTL", heldBy(session(func(s *election.Session) { bare(s); s.TTL = time.Minute })), FixFacts{Checks: []election.Check{check("serfHealth", "", "critical")}}, "", "", ""},
		{"a failed node, a session that is bound to it", heldBy(session(nil)), FixFacts{Checks: []election.Check{check("serfHealth", "", "critical")}}, ProblemCheckCritical, FixManual, "depends on 1 critical check on node-1 (serfHealth)"},
		{
			"critical node checks of the session", heldBy(session(func(s *election.Session) { s.NodeChecks = []string{"serfHealth", "disk", "net"} })),
			FixFacts{Checks: []election.Check{check("serfHealth", "", "passing"), check("disk", "", "critical"), check("mem", "", "critical"), check("net", "", "critical")}},
			ProblemCheckCritical, FixManual, "depends on 2 critical checks on node-1 (disk, net)",
		},
		{"a critical node check of another session", heldBy(session(nil)), FixFacts{Checks: []election.Check{check("disk", "", "critical")}}, "", "", ""},
		{
			"a bound and an unbound critical check of the service", heldBy(session(func(s *election.Session) { s.ServiceChecks = []string{"a"} })),
			FixFacts{Checks: []election.Check{check("a", "web", "critical"), check("b", "web", "critical")}}, ProblemOrphaned, FixDestroy, "critical (b on node-1)",
		},
		{"a failed other node", heldBy(session(bare)), FixFacts{Checks: []election.Check{{ID: "serfHealth", Node: "node-2", Status: "critical"}}}, "", "", ""},
		{"a critical service", heldBy(session(nil)), FixFacts{Checks: []election.Check{check("service:web", "web", "critical")}}, ProblemOrphaned, FixDestroy, "service:web on node-1"},
		{"a critical service ID", heldBy(session(nil)), FixFacts{Checks: []election.Check{check("service:web-1", "frontend", "critical")}}, ProblemOrphaned, FixDestroy, ""},
		{"a critical other service", heldBy(session(nil)), FixFacts{Checks: []election.Check{check("service:mail", "mail", "critical")}}, "", "", ""},
		{"one healthy instance", heldBy(session(nil)), FixFacts{Checks: []election.Check{check("a", "web", "critical"), check("b", "web", "passing")}}, "", "", ""},
		{"a warning", heldBy(session(nil)), FixFacts{Checks: []election.Check{check("a", "web", "warning")}}, "", "", ""},

		{"a probed lock-delay", vacant(nil), FixFacts{Around: sessionsAround(), Delay: DelayActive}, ProblemLockDelay, FixWait, "at most 1m00s"},
		{"a known lock-delay", vacant(func(e *election.Election) { e.LockDelayUntil = t0.Add(9 * time.Second) }), FixFacts{Around: sessionsAround()}, ProblemLockDelay, FixWait, "about 9s"},
		{"a lock-delay that has ended", vacant(func(e *election.Election) { e.LockDelayUntil = t0.Add(9 * time.Second) }), FixFacts{Around: sessionsAround(), Delay: DelayNone}, ProblemNoCandidate, FixManual, ""},
		{"a former leader with api.Lock", vacant(func(e *election.Election) { e.LastSession = apiLock }), FixFacts{Around: sessionsAround()}, ProblemLockFlags, FixSetFlags, "3304740253564472344"},
		{"an idle session of api.Lock", vacant(nil), FixFacts{Around: sessionsAround(apiLock)}, ProblemLockFlags, FixSetFlags, "a guess"},
		{"an idle session of api.Lock during a lock-delay", vacant(nil), FixFacts{Around: sessionsAround(apiLock), Delay: DelayActive}, ProblemLockDelay, FixWait, "at most 1m00s"},
		{"an idle session of api.Lock during a known lock-delay", vacant(func(e *election.Election) { e.LockDelayUntil = t0.Add(9 * time.Second) }), FixFacts{Around: sessionsAround(apiLock)}, ProblemLockDelay, FixWait, "about 9s"},
		{"an idle session of api.Lock after a lock-delay", vacant(func(e *election.Election) { e.LockDelayUntil = t0.Add(9 * time.Second) }), FixFacts{Around: sessionsAround(apiLock), Delay: DelayNone}, ProblemLockFlags, FixSetFlags, "a guess"},
		{"a key of consul lock", vacant(lockKey), FixFacts{Around: sessionsAround()}, ProblemLockFlags, FixSetFlags, "a guess: consul lock uses keys with this name"},
		{"a key of consul lock, sibling keys not read", vacant(lockKey), FixFacts{}, ProblemNoCandidate, FixManual, ""},
		{
			"a semaphore with wrong flags", vacant(lockKey),
			FixFacts{Around: &election.Surroundings{Key: "web/.lock", Siblings: []election.Pair{{Key: "web/s1", Flags: election.SemaphoreFlag}}}},
			ProblemNoCandidate, FixManual, "",
		},
		{"another candidate", vacant(nil), FixFacts{Around: sessionsAround(apiLock, waiter)}, ProblemIdle, FixManual, "1 likely candidate seen"},
		{"flags of api.Lock", vacant(func(e *election.Election) { e.Pair.Flags = election.LockFlag; e.LastSession = apiLock }), FixFacts{Around: sessionsAround()}, ProblemNoCandidate, FixManual, ""},
		{"no key", vacant(func(e *election.Election) { e.Exists = false; e.LastSession = apiLock }), FixFacts{Around: sessionsAround()}, ProblemNoCandidate, FixManual, "because its key was deleted"},
		{"no key, a candidate", vacant(func(e *election.Election) { e.Exists = false }), FixFacts{Around: sessionsAround(waiter)}, ProblemIdle, FixManual, "because its key was deleted. 1 likely candidate seen"},
		{
			"a key of Patroni", vacant(nil),
			FixFacts{Around: &election.Surroundings{Key: "service/web/leader", Siblings: []election.Pair{{Key: "service/web/config", Value: []byte(configJSON)}}}},
			ProblemPatroni, FixDelete, "PostgreSQL has stopped",
		},
		{
			"no candidate", vacant(func(e *election.Election) {
				e.LastSession = session(func(s *election.Session) { s.ServiceChecks = []string{"service:web-1"} })
			}),
			FixFacts{Around: sessionsAround()}, ProblemNoCandidate, FixManual, `service "web-1" has no candidate: the election has had no leader since 2026-11-20T12:00:00Z`,
		},
		{"unknown candidates", vacant(nil), FixFacts{}, ProblemNoCandidate, FixManual, "uncertain"},
		{"an unreadable key", vacant(func(e *election.Election) { e.Unreadable = true }), FixFacts{}, ProblemUnknown, FixManual, "electop doctor"},
		{"a semaphore", vacant(func(e *election.Election) { e.Pair.Flags = election.SemaphoreFlag }), FixFacts{}, "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.facts.Now = t0
			var sessions []*election.Session
			if tt.facts.Around != nil {
				sessions = tt.facts.Around.Sessions
			}
			fix := NewBoard([]*election.Election{tt.e}, sessions).Fix(tt.e, tt.facts)
			if fix == nil {
				fix = &Fix{}
			}
			if fix.Problem != tt.problem || fix.Kind != tt.kind || !strings.Contains(fix.Why+" "+fix.Do, tt.text) {
				t.Errorf("%+v, want %s %s %q", fix, tt.problem, tt.kind, tt.text)
			}
		})
	}
}

func TestFixNeeds(t *testing.T) {
	semaphore := vacant(func(e *election.Election) { e.Pair.Flags = election.SemaphoreFlag })
	bare := heldBy(session(func(s *election.Session) { s.NodeChecks = nil }))
	for name, c := range map[string]struct {
		e    *election.Election
		want FixNeed
	}{
		"no leader": {vacant(nil), NeedsSurroundings}, "no key": {vacant(func(e *election.Election) { e.Exists = false }), NeedsSurroundings},
		"a session without a TTL": {bare, NeedsChecks}, "an unread session": {heldBy(nil), NeedsChecks}, "a semaphore": {semaphore, NeedsNothing},
		"a session with a TTL": {heldBy(session(func(s *election.Session) { s.TTL = time.Minute })), NeedsNothing},
	} {
		if got := FixNeeds(c.e, t0); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestFixDoAt(t *testing.T) {
	fix := Fix{Kind: FixWait, Do: "then", Until: t0.Add(9 * time.Second)}
	for after, want := range map[time.Duration]string{
		0: "Wait until the lock-delay ends, in about 9s.", 7500 * time.Millisecond: "Wait until the lock-delay ends, in about 2s.", 9 * time.Second: "The lock-delay should have ended: run the diagnosis again.",
	} {
		if got := fix.DoAt(t0.Add(after)); got != want {
			t.Errorf("after %s: %q", after, got)
		}
	}
	if fix.Kind = FixManual; fix.DoAt(t0) != "then" {
		t.Error(fix.DoAt(t0))
	}
}
