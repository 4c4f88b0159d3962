package insight

import (
	"strconv"
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
	return &election.Election{Name: "web", Exists: true, Leader: "web-1", Session: s, Pair: web("s1 1 1 1 web-1")}
}

func vacant(change func(*election.Election)) *election.Election {
	e := &election.Election{Name: "web", Exists: true, Pair: web("- 1 1 1 web-1"), VacantSince: t0.Add(-time.Hour), VacantSinceKnown: true}
	if change != nil {
		change(e)
	}
	return e
}

func check(id, service, status string) election.Check {
	return election.Check{ID: id, Node: "node-1", Service: service, Status: status}
}

// fixture parses an election, the facts about it and the checks of its node. "held" gives it a leader.
func fixture(text string) (e *election.Election, f Facts, checks []election.Check) {
	e, f.Now = vacant(nil), t0
	f.Around = &election.Surroundings{At: t0}
	apiLock := &election.Session{ID: "s2", Name: apiLockSession, TTL: 15 * time.Second}
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		d, _ := time.ParseDuration(value)
		n, _ := strconv.ParseUint(value, 10, 64)
		switch name {
		case "held":
			e = heldBy(session(nil))
		case "bare":
			e = heldBy(session(func(s *election.Session) { s.NodeChecks = nil }))
		case "nosession":
			e = heldBy(nil)
		case "ttl":
			e.Session.TTL = d
		case "deletes":
			e.Session.Behavior = election.BehaviorDelete
		case "node":
			e.Session.Node = value
		case "bound":
			e.Session.NodeChecks = strings.Split(value, ",")
		case "unread":
			f.Unread = "the checks of node-1 could not be read"
		case "delay":
			e.LockDelayUntil = t0.Add(d)
		case "since":
			e.VacantSince = t0.Add(-d)
		case "found":
			e.VacantSinceKnown = false
		case "api": // the last session
			e.LastSession = apiLock
		case "service":
			e.LastSession = session(func(s *election.Session) { s.ServiceChecks = []string{"service:web-1"} })
		case "flags":
			e.Pair.Flags = n
		case "lock":
			e.Pair.Key, e.Pair.Value = "web/.lock", nil
		case "lost": // six seconds ago
			e.LastSession, e.VacantSince = newSession("w", "web", "n1"), t0.Add(-6*time.Second)
			e.Terms = []election.Term{{Number: e.Pair.LockIndex, CreateIndex: e.Pair.CreateIndex, Session: "w", Node: "n1", Start: t0.Add(-time.Hour), End: e.VacantSince, AliveUntil: e.VacantSince, Cause: election.CheckCritical}}
		case "deleting":
			e.LastSession.Behavior = election.BehaviorDelete
		case "cause":
			e.Terms[0].Cause = election.Cause(value)
		case "ended":
			e.Terms[0].End, e.Terms[0].AliveUntil = e.VacantSince, time.Time{}
		case "unseen":
			e.Terms[0].End, e.Terms[0].AliveUntil, e.Terms[0].SeenUntil = e.VacantSince, e.VacantSince, t0.Add(-d)
		case "recorded":
			e.RecordedUntil = t0
		case "slots":
			e = semaphore(`{"Limit":3,"Holders":{"a":true,"b":true}}`)
		case "noslots":
			e = semaphore("x")
		case "outage":
			if f.Connection.State = election.Lost; d > 0 {
				f.Connection.LastContact = t0.Add(-d)
			}
		case "gone":
			e.Exists = false
		case "unreadable":
			e.Unreadable = true
		case "delayed":
			f.Delay = LockDelayed
		case "free":
			f.Delay = LockFree
		case "waiter":
			f.Around.Sessions = append(f.Around.Sessions, &election.Session{ID: "s3", Name: "web-2", Node: "n2"})
		case "apiwaiter":
			f.Around.Sessions = append(f.Around.Sessions, apiLock)
		case "named": // a session of consul lock
			f.Around.Sessions = append(f.Around.Sessions, &election.Session{ID: "s4", Name: "Consul lock for 'x' at 'service/web'"})
		case "departed": // a session with this name, and ID
			name, id, _ := strings.Cut(value, ":")
			f.Around.Ended = append(f.Around.Ended, election.EndedSession{Session: newSession(id, name, "node-3"), Seen: t0.Add(-20 * time.Minute)})
		case "down":
			f.Around.Failed = []string{"N1"}
		case "denied":
			f.Around.SessionsErr = "denied"
		case "unsearched":
			f.Around = nil
		case "slot":
			f.Around.Siblings = []election.Pair{{Key: "web/s1", Flags: election.SemaphoreFlag}}
		case "config":
			f.Around.Siblings = []election.Pair{{Key: "service/web/config", Value: []byte(configJSON)}}
		default: // a check of the node
			checks = append(checks, check(name, "", value))
		}
	}
	if f.Around != nil {
		f.Around.Key = e.Key()
	}
	return e, f, checks
}

func TestFix(t *testing.T) {
	for _, tt := range []struct {
		name, given string
		problem     string // empty if there is no problem
		text        string
	}{
		{"a leader without checks on a healthy node", "bare serfHealth=passing", "", ""},
		{"a leader whose checks were not read", "bare", "", ""},
		{"a leader whose session was not read", "nosession serfHealth=critical", "", ""},
		{"a leader whose checks cannot be read", "bare unread", UnknownProblem, "It is unknown whether the leader has failed: the checks of node-1"},
		{"a leader whose session cannot be read", "nosession unread", UnknownProblem, "the checks"},
		{"a leader whose checks cannot be read, a session with a TTL", "bare ttl=1m unread", "", ""},
		{"a failed node with unreadable checks", "bare unread serfHealth=critical", LeaderFailed, "15s"},
		{"a failed node", "bare serfHealth=critical", LeaderFailed, "15s"},
		{"a failed node, behavior delete", "bare deletes serfHealth=critical", LeaderFailed, "every key that it holds, which Consul deletes"},
		{"a failed node, a session with a TTL", "bare ttl=1m serfHealth=critical", "", ""},
		{"a failed node, a session that is bound to it", "held serfHealth=critical", "check_critical", "depends on 1 critical check on node-1 (serfHealth)"},
		{
			"critical node checks of the session", "held bound=serfHealth,disk,net serfHealth=passing disk=critical mem=critical net=critical",
			"check_critical", "depends on 2 critical checks on node-1 (disk, net)",
		},
		{"a critical node check of another session", "held disk=critical", "", ""},
		{"a failed node in another case", "bare node=NODE-1 serfHealth=critical", LeaderFailed, "on NODE-1"},
		{"maintenance mode", "bare _node_maintenance=critical _service_maintenance:web=critical", "", ""},

		{"a probed lock-delay", "delayed", LockDelay, "at most 1m00s"},
		{"a known lock-delay", "delay=9s", LockDelay, "about 9s"},
		{"no lock-delay, despite the estimate", "since=2s delay=9s free", AwaitingCandidates, "23s"},
		{"a lock-delay that ended a moment ago", "delay=-3s waiter", AwaitingCandidates, "Wait for about 22s: clients retry within 25s (npm's 21s, api.Lock 5s); one"},
		{"the cause is pending", "lost since=300ms cause= ended", AwaitingCandidates, "Wait until electop has read the cause, at most 1s."},
		{"a lock-delay that ended 25s ago", "delay=-25s waiter", "candidates_idle", "See the logs of the likely candidates, and restart those of this election: web-2 on n2."},
		{"lost within 1s, in a gap", "lost found since=2s unseen=1s", AwaitingCandidates, "23s"},
		{"first seen 2s ago", "since=2s found waiter free", AwaitingCandidates, "23s: clients retry within 25s (npm's 21s, api.Lock 5s); one that only watches the key can take minutes. If there is still no leader"},
		{"first seen 84s ago, not probed", "since=84s found waiter", AwaitingCandidates, "Wait for about 1s"},
		{"first seen 85s ago, not probed", "since=85s found waiter", "candidates_idle", "See the logs"},
		{"first seen 2s ago, no candidate", "since=2s found free", NoCandidates, "Start an instance"},
		{"flags of the value 42", "api flags=42", LockFlags, "consul kv put -cas -modify-index=1 -flags=3304740253564472344 -base64 service/web/leader d2ViLTE="},
		{"a likely candidate with api.Lock", "named", LockFlags, "may be the reason: a candidate that uses api.Lock fails with \"Existing key does not match lock use\" (a likely candidate uses api.Lock)"},
		{"flags of the value 42 during a lock-delay", "api flags=42 delay=9s", LockFlags, "-flags="},
		{"an idle session of api.Lock", "apiwaiter", NoCandidates, ""},
		{"an idle session of api.Lock during a known lock-delay", "apiwaiter delay=9s", LockDelay, "about 9s"},
		{"an idle session of api.Lock after a lock-delay", "apiwaiter since=2s delay=9s free", AwaitingCandidates, ""},
		{"a key of consul lock", "lock", LockFlags, "may be the reason: a candidate that uses api.Lock fails with \"Existing key does not match lock use\" (consul lock uses keys with this name"},
		{"a key of consul lock, sibling keys not read", "lock unsearched", NoCandidates, ""},
		{"a semaphore with wrong flags", "lock slot", NoCandidates, ""},
		{"another candidate", "apiwaiter waiter", "candidates_idle", "1 likely candidate seen"},
		{"flags of api.Lock", "api flags=3304740253564472344", NoCandidates, ""},
		{"no key", "gone api", NoCandidates, "The key was deleted"},
		{"no key, a candidate", "gone waiter", "candidates_idle", "The key was deleted; the next acquire creates it again. 1 likely candidate seen"},
		{"a key of Patroni", "config", PatroniReleased, "PostgreSQL has stopped, otherwise two primaries may be writable. Then delete the key with: consul kv delete -cas -modify-index=1 service/web/leader"},
		{"no candidate", "service", NoCandidates, `No leader for 1h00m. No candidate is known. Start an instance of web; if one is running, see its logs.`},
		{"candidates that have ended", "lost down since=1m departed=web-2 departed=mail-1 departed=w", NoCandidates, "on n1 (this node has failed). web-2 on node-3 was a candidate; its session was last seen at 11:40:00."},
		{"a session of another program that is named after the election", "lost since=1h waiter", NoCandidates, "Start an instance of web"},
		{"a candidate that has led since", "lost down since=1m departed=web-2:x departed=web-2:w", NoCandidates, "(this node has failed).\n"},
		{"unknown candidates", "denied", NoCandidates, "It is unknown whether a candidate exists: denied."},
		{"an unreadable key", "unreadable", UnknownProblem, "electop doctor"},
		{"a semaphore", "flags=16210313421097356768", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, facts, checks := fixture(tt.given)
			known := map[string]election.NodeChecks{"node-1": {Checks: checks}, "NODE-1": {Checks: checks}}
			var sessions []*election.Session
			if facts.Around != nil {
				sessions = facts.Around.Sessions
			}
			fix := NewBoard([]*election.Election{e}, sessions).WithChecks(known).Fix(e, facts)
			if fix == nil {
				fix = &Finding{}
			}
			if fix.Code != tt.problem || !strings.Contains(fix.Why+" "+fix.Fix+"\n", tt.text) {
				t.Errorf("%+v, want %s %q", fix, tt.problem, tt.text)
			}
			if tt.given == "lost since=1h waiter" && WithoutCandidates([]*election.Election{e}, facts.Around) == nil {
				t.Error("the row does not say so")
			}
		})
	}
}
