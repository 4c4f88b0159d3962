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
	e := &election.Election{Name: "web", Exists: true, Pair: web("", 1, 1, 1, "web-1"), VacantSince: t0.Add(-time.Hour), VacantSinceKnown: true}
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
		facts   Facts
		checks  []election.Check // of the leader's node
		problem string           // empty if there is no problem
		text    string
	}{
		{"a leader without checks on a healthy node", heldBy(session(bare)), Facts{}, []election.Check{check("serfHealth", "", "passing")}, "", ""},
		{"a leader whose checks were not read", heldBy(session(bare)), Facts{}, nil, "", ""},
		{"a leader whose session was not read", heldBy(nil), Facts{}, []election.Check{check("serfHealth", "", "critical")}, "", ""},
		{"a leader whose checks cannot be read", heldBy(session(bare)), Facts{Unread: "the checks of node-1 could not be read"}, nil, UnknownProblem, "It is unknown whether the leader has failed: the checks of node-1"},
		{"a leader whose session cannot be read", heldBy(nil), Facts{Unread: "its session could not be read"}, nil, UnknownProblem, "its session"},
		{
			"a leader whose checks cannot be read, a session with a TTL", heldBy(session(func(s *election.Session) { bare(s); s.TTL = time.Minute })),
			Facts{Unread: "the checks of node-1 could not be read"}, nil, "", "",
		},
		{
			"a failed node with unreadable checks", heldBy(session(bare)),
			Facts{Unread: "not all checks of node-1 could be read"}, []election.Check{check("serfHealth", "", "critical")}, LeaderFailed, "15s",
		},
		{"a failed node", heldBy(session(bare)), Facts{}, []election.Check{check("serfHealth", "", "critical")}, LeaderFailed, "15s"},
		{"a failed node, behavior delete", heldBy(session(func(s *election.Session) { bare(s); s.Behavior = election.BehaviorDelete })), Facts{}, []election.Check{check("serfHealth", "", "critical")}, LeaderFailed, "every key that it holds, which Consul deletes"},
		{"a failed node, a session with a TTL", heldBy(session(func(s *election.Session) { bare(s); s.TTL = time.Minute })), Facts{}, []election.Check{check("serfHealth", "", "critical")}, "", ""},
		{"a failed node, a session that is bound to it", heldBy(session(nil)), Facts{}, []election.Check{check("serfHealth", "", "critical")}, "check_critical", "depends on 1 critical check on node-1 (serfHealth)"},
		{
			"critical node checks of the session", heldBy(session(func(s *election.Session) { s.NodeChecks = []string{"serfHealth", "disk", "net"} })),
			Facts{}, []election.Check{check("serfHealth", "", "passing"), check("disk", "", "critical"), check("mem", "", "critical"), check("net", "", "critical")},
			"check_critical", "depends on 2 critical checks on node-1 (disk, net)",
		},
		{"a critical node check of another session", heldBy(session(nil)), Facts{}, []election.Check{check("disk", "", "critical")}, "", ""},
		{"a failed node in another case", heldBy(session(func(s *election.Session) { bare(s); s.Node = "NODE-1" })), Facts{}, []election.Check{check("serfHealth", "", "critical")}, LeaderFailed, "on NODE-1"},
		{"maintenance mode", heldBy(session(bare)), Facts{}, []election.Check{check("_node_maintenance", "", "critical"), check("_service_maintenance:web", "web", "critical")}, "", ""},

		{"a probed lock-delay", vacant(nil), Facts{Around: sessionsAround(), Delay: DelayActive}, nil, LockDelay, "at most 1m00s"},
		{"a known lock-delay", vacant(func(e *election.Election) { e.LockDelayUntil = t0.Add(9 * time.Second) }), Facts{Around: sessionsAround()}, nil, LockDelay, "about 9s"},
		{"a lock-delay that has ended", vacant(func(e *election.Election) { e.LockDelayUntil = t0.Add(9 * time.Second) }), Facts{Around: sessionsAround(), Delay: DelayNone}, nil, CandidatesRetry, "21s"},
		{"a lock-delay that ended a moment ago", vacant(func(e *election.Election) { e.LockDelayUntil = t0.Add(-3 * time.Second) }), Facts{Around: sessionsAround(waiter)}, nil, CandidatesRetry, "Wait for about 9s: candidates retry every few seconds (api.Lock and npm's client: 5s)."},
		{"a lock-delay that ended 12s ago", vacant(func(e *election.Election) { e.LockDelayUntil = t0.Add(-12 * time.Second) }), Facts{Around: sessionsAround(waiter)}, nil, "candidates_idle", "See the logs"},
		{"vacant for 2s", vacant(func(e *election.Election) { e.VacantSince = t0.Add(-2 * time.Second) }), Facts{Around: sessionsAround()}, nil, CandidatesRetry, "10s"},
		{"vacant for an unknown time, first seen 2s ago", vacant(func(e *election.Election) { e.VacantSince, e.VacantSinceKnown = t0.Add(-2*time.Second), false }), Facts{Around: sessionsAround(waiter), Delay: DelayNone}, nil, CandidatesRetry, "10s: candidates retry every few seconds (api.Lock and npm's client: 5s). If there is still no leader"},
		{"a former leader with api.Lock", vacant(func(e *election.Election) { e.LastSession = apiLock }), Facts{Around: sessionsAround()}, nil, LockFlags, "every waiting api.Lock candidate fails"},
		{"flags of the value 42", vacant(func(e *election.Election) { e.LastSession, e.Pair.Flags = apiLock, 42 }), Facts{Around: sessionsAround()}, nil, LockFlags, "consul kv put -cas -modify-index=1 -flags=3304740253564472344 -base64 service/web/leader d2ViLTE="},
		{"an idle session of api.Lock", vacant(nil), Facts{Around: sessionsAround(apiLock)}, nil, NoCandidates, ""},
		{"an idle session of api.Lock during a known lock-delay", vacant(func(e *election.Election) { e.LockDelayUntil = t0.Add(9 * time.Second) }), Facts{Around: sessionsAround(apiLock)}, nil, LockDelay, "about 9s"},
		{"an idle session of api.Lock after a lock-delay", vacant(func(e *election.Election) { e.LockDelayUntil = t0.Add(9 * time.Second) }), Facts{Around: sessionsAround(apiLock), Delay: DelayNone}, nil, CandidatesRetry, ""},
		{"a key of consul lock", vacant(lockKey), Facts{Around: sessionsAround()}, nil, LockFlags, "may be the reason: a candidate that uses api.Lock fails with \"Existing key does not match lock use\" (consul lock uses keys with this name"},
		{"a key of consul lock, sibling keys not read", vacant(lockKey), Facts{}, nil, NoCandidates, ""},
		{
			"a semaphore with wrong flags", vacant(lockKey),
			Facts{Around: &election.Surroundings{Key: "web/.lock", Siblings: []election.Pair{{Key: "web/s1", Flags: election.SemaphoreFlag}}}}, nil,
			NoCandidates, "",
		},
		{"another candidate", vacant(nil), Facts{Around: sessionsAround(apiLock, waiter)}, nil, "candidates_idle", "1 likely candidate seen"},
		{"flags of api.Lock", vacant(func(e *election.Election) { e.Pair.Flags = election.LockFlag; e.LastSession = apiLock }), Facts{Around: sessionsAround()}, nil, NoCandidates, ""},
		{"no key", vacant(func(e *election.Election) { e.Exists = false; e.LastSession = apiLock }), Facts{Around: sessionsAround()}, nil, NoCandidates, "The key was deleted"},
		{"no key, a candidate", vacant(func(e *election.Election) { e.Exists = false }), Facts{Around: sessionsAround(waiter)}, nil, "candidates_idle", "The key was deleted; the next acquire creates it again. 1 likely candidate seen"},
		{
			"a key of Patroni", vacant(nil),
			Facts{Around: &election.Surroundings{Key: "service/web/leader", Siblings: []election.Pair{{Key: "service/web/config", Value: []byte(configJSON)}}}}, nil,
			PatroniReleased, "PostgreSQL has stopped, otherwise two primaries may be writable. Then delete the key with: consul kv delete -cas -modify-index=1 service/web/leader",
		},
		{
			"no candidate", vacant(func(e *election.Election) {
				e.LastSession = session(func(s *election.Session) { s.ServiceChecks = []string{"service:web-1"} })
			}),
			Facts{Around: sessionsAround()}, nil, NoCandidates, `No leader for 1h00m. No earlier term was observed. No candidate was seen. Start an instance of service "web-1".`,
		},
		{"unknown candidates", vacant(nil), Facts{Around: &election.Surroundings{SessionsErr: "denied"}}, nil, NoCandidates, "It is unknown whether a candidate exists: denied."},
		{"an unreadable key", vacant(func(e *election.Election) { e.Unreadable = true }), Facts{}, nil, UnknownProblem, "electop doctor"},
		{"a semaphore", vacant(func(e *election.Election) { e.Pair.Flags = election.SemaphoreFlag }), Facts{}, nil, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.facts.Now = t0
			known := map[string]election.NodeChecks{"node-1": {Checks: tt.checks}, "NODE-1": {Checks: tt.checks}}
			var sessions []*election.Session
			if tt.facts.Around != nil {
				sessions = tt.facts.Around.Sessions
			}
			fix := NewBoard([]*election.Election{tt.e}, sessions).WithChecks(known).Fix(tt.e, tt.facts)
			if fix == nil {
				fix = &Finding{}
			}
			if fix.Code != tt.problem || !strings.Contains(fix.Why+" "+fix.Fix, tt.text) {
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

func TestFixFixAt(t *testing.T) {
	fix := Finding{Code: LockDelay, Fix: "then", Until: t0.Add(9 * time.Second)}
	for after, want := range map[time.Duration]string{
		0: "Wait until the lock-delay ends, in about 9s.", 7500 * time.Millisecond: "Wait until the lock-delay ends, in about 2s.", 9 * time.Second: "The wait should have ended: run the diagnosis again.",
	} {
		if got := fix.FixAt(t0.Add(after)); got != want {
			t.Errorf("after %s: %q", after, got)
		}
	}
	if fix.Until = (time.Time{}); fix.FixAt(t0) != "then" {
		t.Error(fix.FixAt(t0))
	}
}
