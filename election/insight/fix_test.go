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
		problem Problem // empty if there is no problem
		text    string
	}{
		{"a healthy leader", heldBy(session(nil)), FixFacts{Checks: []election.Check{check("serfHealth", "", "passing"), check("service:web", "web", "passing")}}, "", ""},
		{"a leader without checks on a healthy node", heldBy(session(bare)), FixFacts{Checks: []election.Check{check("serfHealth", "", "passing")}}, "", ""},
		{"a leader whose checks were not read", heldBy(session(bare)), FixFacts{}, "", ""},
		{"a leader whose session was not read", heldBy(nil), FixFacts{Checks: []election.Check{check("serfHealth", "", "critical")}}, "", ""},
		{"a leader whose checks cannot be read", heldBy(session(bare)), FixFacts{Unread: "the checks of node-1 could not be read"}, ProblemUnknown, "It is unknown whether the leader has failed: the checks of node-1"},
		{"a leader whose session cannot be read", heldBy(nil), FixFacts{Unread: "its session could not be read"}, ProblemUnknown, "its session"},
		{
			"a leader whose checks cannot be read, a session with a TTL", heldBy(session(func(s *election.Session) { bare(s); s.TTL = time.Minute })),
			FixFacts{Unread: "the checks of node-1 could not be read"}, "", "",
		},
		{
			"a failed node with unreadable checks", heldBy(session(bare)),
			FixFacts{Checks: []election.Check{check("serfHealth", "", "critical")}, Unread: "not all checks of node-1 could be read"}, ProblemNodeGone, "15s",
		},
		{"a failed node", heldBy(session(bare)), FixFacts{Checks: []election.Check{check("serfHealth", "", "critical")}}, ProblemNodeGone, "15s"},
		{"a failed node, behavior delete", heldBy(session(func(s *election.Session) { bare(s); s.Behavior = election.BehaviorDelete })), FixFacts{Checks: []election.Check{check("serfHealth", "", "critical")}}, ProblemNodeGone, "every key that it holds, which Consul deletes"},
		{"a failed node, a session with a TTL", heldBy(session(func(s *election.Session) { bare(s); s.TTL = time.Minute })), FixFacts{Checks: []election.Check{check("serfHealth", "", "critical")}}, "", ""},
		{"a failed node, a session that is bound to it", heldBy(session(nil)), FixFacts{Checks: []election.Check{check("serfHealth", "", "critical")}}, ProblemCheckCritical, "depends on 1 critical check on node-1 (serfHealth)"},
		{
			"critical node checks of the session", heldBy(session(func(s *election.Session) { s.NodeChecks = []string{"serfHealth", "disk", "net"} })),
			FixFacts{Checks: []election.Check{check("serfHealth", "", "passing"), check("disk", "", "critical"), check("mem", "", "critical"), check("net", "", "critical")}},
			ProblemCheckCritical, "depends on 2 critical checks on node-1 (disk, net)",
		},
		{"a critical node check of another session", heldBy(session(nil)), FixFacts{Checks: []election.Check{check("disk", "", "critical")}}, "", ""},
		{"a failed other node", heldBy(session(bare)), FixFacts{Checks: []election.Check{{ID: "serfHealth", Node: "node-2", Status: "critical"}}}, "", ""},
		{"a failed node in another case", heldBy(session(func(s *election.Session) { bare(s); s.Node = "NODE-1" })), FixFacts{Checks: []election.Check{check("serfHealth", "", "critical")}}, ProblemNodeGone, "on NODE-1"},
		{"maintenance mode", heldBy(session(bare)), FixFacts{Checks: []election.Check{check("_node_maintenance", "", "critical"), check("_service_maintenance:web", "web", "critical")}}, "", ""},
		{"a critical service", heldBy(session(nil)), FixFacts{Checks: []election.Check{check("service:web", "web", "critical")}}, "", ""},
		{"a warning", heldBy(session(nil)), FixFacts{Checks: []election.Check{check("a", "web", "warning")}}, "", ""},

		{"a probed lock-delay", vacant(nil), FixFacts{Around: sessionsAround(), Delay: DelayActive}, ProblemLockDelay, "at most 1m00s"},
		{"a known lock-delay", vacant(func(e *election.Election) { e.LockDelayUntil = t0.Add(9 * time.Second) }), FixFacts{Around: sessionsAround()}, ProblemLockDelay, "about 9s"},
		{"a lock-delay that has ended", vacant(func(e *election.Election) { e.LockDelayUntil = t0.Add(9 * time.Second) }), FixFacts{Around: sessionsAround(), Delay: DelayNone}, ProblemNoCandidate, ""},
		{"a former leader with api.Lock", vacant(func(e *election.Election) { e.LastSession = apiLock }), FixFacts{Around: sessionsAround()}, ProblemLockFlags, "every waiting api.Lock candidate fails"},
		{"flags of the value 42", vacant(func(e *election.Election) { e.LastSession, e.Pair.Flags = apiLock, 42 }), FixFacts{Around: sessionsAround()}, ProblemLockFlags, "consul kv put -cas -modify-index=1 -flags=3304740253564472344 -base64 service/web/leader d2ViLTE="},
		{"an idle session of api.Lock", vacant(nil), FixFacts{Around: sessionsAround(apiLock)}, ProblemNoCandidate, ""},
		{"an idle session of api.Lock during a lock-delay", vacant(nil), FixFacts{Around: sessionsAround(apiLock), Delay: DelayActive}, ProblemLockDelay, "at most 1m00s"},
		{"an idle session of api.Lock during a known lock-delay", vacant(func(e *election.Election) { e.LockDelayUntil = t0.Add(9 * time.Second) }), FixFacts{Around: sessionsAround(apiLock)}, ProblemLockDelay, "about 9s"},
		{"an idle session of api.Lock after a lock-delay", vacant(func(e *election.Election) { e.LockDelayUntil = t0.Add(9 * time.Second) }), FixFacts{Around: sessionsAround(apiLock), Delay: DelayNone}, ProblemNoCandidate, ""},
		{"a key of consul lock", vacant(lockKey), FixFacts{Around: sessionsAround()}, ProblemLockFlags, "may be the reason: a candidate that uses api.Lock fails with \"Existing key does not match lock use\" (consul lock uses keys with this name"},
		{"a key of consul lock, sibling keys not read", vacant(lockKey), FixFacts{}, ProblemNoCandidate, ""},
		{
			"a semaphore with wrong flags", vacant(lockKey),
			FixFacts{Around: &election.Surroundings{Key: "web/.lock", Siblings: []election.Pair{{Key: "web/s1", Flags: election.SemaphoreFlag}}}},
			ProblemNoCandidate, "",
		},
		{"another candidate", vacant(nil), FixFacts{Around: sessionsAround(apiLock, waiter)}, ProblemIdle, "1 likely candidate seen"},
		{"flags of api.Lock", vacant(func(e *election.Election) { e.Pair.Flags = election.LockFlag; e.LastSession = apiLock }), FixFacts{Around: sessionsAround()}, ProblemNoCandidate, ""},
		{"no key", vacant(func(e *election.Election) { e.Exists = false; e.LastSession = apiLock }), FixFacts{Around: sessionsAround()}, ProblemNoCandidate, "because its key was deleted"},
		{"no key, a candidate", vacant(func(e *election.Election) { e.Exists = false }), FixFacts{Around: sessionsAround(waiter)}, ProblemIdle, "because its key was deleted. 1 likely candidate seen"},
		{
			"a key of Patroni", vacant(nil),
			FixFacts{Around: &election.Surroundings{Key: "service/web/leader", Siblings: []election.Pair{{Key: "service/web/config", Value: []byte(configJSON)}}}},
			ProblemPatroni, "PostgreSQL has stopped, otherwise two primaries may be writable. Then delete the key with: consul kv delete -cas -modify-index=1 service/web/leader",
		},
		{
			"no candidate", vacant(func(e *election.Election) {
				e.LastSession = session(func(s *election.Session) { s.ServiceChecks = []string{"service:web-1"} })
			}),
			FixFacts{Around: sessionsAround()}, ProblemNoCandidate, `service "web-1" has no candidate: the election has had no leader since 2026-11-20T12:00:00Z`,
		},
		{"unknown candidates", vacant(nil), FixFacts{}, ProblemNoCandidate, "uncertain"},
		{"an unreadable key", vacant(func(e *election.Election) { e.Unreadable = true }), FixFacts{}, ProblemUnknown, "electop doctor"},
		{"a semaphore", vacant(func(e *election.Election) { e.Pair.Flags = election.SemaphoreFlag }), FixFacts{}, "", ""},
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
			if fix.Problem != tt.problem || !strings.Contains(fix.Why+" "+fix.Do, tt.text) {
				t.Errorf("%+v, want %s %q", fix, tt.problem, tt.text)
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
	fix := Fix{Problem: ProblemLockDelay, Do: "then", Until: t0.Add(9 * time.Second)}
	for after, want := range map[time.Duration]string{
		0: "Wait until the lock-delay ends, in about 9s.", 7500 * time.Millisecond: "Wait until the lock-delay ends, in about 2s.", 9 * time.Second: "The lock-delay should have ended: run the diagnosis again.",
	} {
		if got := fix.DoAt(t0.Add(after)); got != want {
			t.Errorf("after %s: %q", after, got)
		}
	}
	if fix.Problem = ProblemIdle; fix.DoAt(t0) != "then" {
		t.Error(fix.DoAt(t0))
	}
}
