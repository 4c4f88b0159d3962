package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"electop/election"
)

// led returns an election whose leader holds the key with session s.
func led(name, key string, s *election.Session) *election.Election {
	return &election.Election{
		Name: name, Exists: true, Session: s, Leader: name + "-1", Term: 1, Since: t0,
		Pair: election.Pair{Key: key, Value: []byte(name + "-1"), Session: s.ID, LockIndex: 1, CreateIndex: 1, ModifyIndex: 2},
	}
}

// newSession returns a session. Its settings, except the name and node, are those of Consul's leader election
// tutorial.
func newSession(id, name, node string, change ...func(*election.Session)) *election.Session {
	s := &election.Session{ID: id, Name: name, Node: node, Behavior: election.BehaviorRelease, LockDelay: 15 * time.Second, NodeChecks: []string{"serfHealth"}}
	for _, c := range change {
		c(s)
	}
	return s
}

func service(ids ...string) func(*election.Session) {
	return func(s *election.Session) { s.ServiceChecks = ids }
}

func patroni(s *election.Session) {
	s.TTL, s.Behavior, s.LockDelay, s.NodeChecks = 15*time.Second, election.BehaviorDelete, time.Millisecond, nil
}

// items splits text at semicolons.
func items(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ';' })
}

// sessionOf parses a session: "id, name, node, settings", where a setting is a TTL, a service check, "patroni",
// "delete" or "release" (the behavior), "delay=1s" (the lock-delay), "alive"
// (another node check) or "unchecked". Other settings are those of [newSession].
func sessionOf(text string) *election.Session {
	words := strings.Split(strings.TrimSpace(text), ", ")
	s := newSession(words[0], words[1], words[2])
	for _, word := range words[3:] {
		setting, value, _ := strings.Cut(word, "=")
		delay, _ := time.ParseDuration(value)
		switch ttl, err := time.ParseDuration(word); {
		case err == nil:
			s.TTL = ttl
		case setting == "delay":
			s.LockDelay = delay
		case word == "alive":
			s.NodeChecks = append(s.NodeChecks, "web-alive")
		case word == "patroni":
			patroni(s)
		case word == "delete":
			s.Behavior = election.BehaviorDelete
		case word == "release":
			s.Behavior = election.BehaviorRelease
		case word == "unchecked":
			s.NodeChecks = nil
		default:
			s.ServiceChecks = append(s.ServiceChecks, word)
		}
	}
	return s
}

func sessionsOf(text string) (all []*election.Session) {
	for _, item := range items(text) {
		all = append(all, sessionOf(item))
	}
	return all
}

// electionOf parses an election: "name key former | session", where former is the session of an earlier term. Without a
// session, it has no leader.
func electionOf(text string) *election.Election {
	head, holder, held := strings.Cut(text, " | ")
	words := strings.Fields(head)
	e := &election.Election{Name: words[0], Exists: true, Pair: election.Pair{Key: words[1]}}
	if held {
		e = led(words[0], words[1], sessionOf(holder))
	}
	for _, former := range words[2:] {
		e.Terms = append(e.Terms, election.Term{Number: 1, Session: former, Leader: former, Start: t0, End: t0.Add(time.Minute)})
	}
	return e
}

// pairsOf parses keys with their sessions and values: "key session; key - value".
func pairsOf(text string) (all []election.Pair) {
	for _, item := range items(text) {
		words := strings.Fields(item)
		p := sibling(words[0], strings.TrimPrefix(words[1], "-"))
		if len(words) > 2 {
			p.Value = valueOf(words[2])
		}
		all = append(all, p)
	}
	return all
}

// around returns the surroundings of an election.
func around(e *election.Election, siblings []election.Pair, sessions ...*election.Session) *election.Surroundings {
	return &election.Surroundings{At: t0, Key: e.Key(), Siblings: siblings, Sessions: sessions}
}

func sibling(key, session string) election.Pair {
	return election.Pair{Key: key, Session: session, LockIndex: 1}
}

// namesOf formats candidates as "name: reason", with "?" if they are weak.
func namesOf(all []Candidate) string {
	parts := make([]string, len(all))
	for i, c := range all {
		mark := ""
		if c.Weak {
			mark = "?"
		}
		parts[i] = c.Name + mark + ": " + c.Reason
	}
	return strings.Join(parts, " | ")
}

func TestCandidates(t *testing.T) {
	tests := []struct {
		name, e, board, siblings, sessions string // for the syntax, see electionOf, pairsOf and sessionsOf
		want                               string
	}{
		{
			name:     "Patroni's members without the leader",
			e:        "db service/db/leader | p1, db-pg1, n1, patroni",
			siblings: "service/db/config -; service/db/members/pg1 p1; service/db/members/pg2 p2; service/db/members/pg3 p3; service/db/members/pg4 -",
			sessions: "p1, db-pg1, n1, patroni; p2, db-pg2, n2, patroni; p3, db-pg3, n3, patroni",
			want:     "pg2: holds service/db/members/pg2 | pg3: holds service/db/members/pg3",
		},
		{
			name:     "Patroni's members stay members if a wide pattern matches their keys as elections",
			e:        "db/leader service/db/leader | p1, db-pg1, n1, patroni",
			board:    "db/members/pg2 service/db/members/pg2 | p2, db-pg2, n2, patroni",
			siblings: "service/db/members/pg2 p2",
			sessions: "p2, db-pg2, n2, patroni",
			want:     "pg2: holds service/db/members/pg2",
		},
		{
			name: "Consul's leader election tutorial, one name for all sessions", e: "web service/web/leader | W1, dbservice, host-1", // the spelling of the acquire
			sessions: "w1, dbservice, host-1; w2, dbservice, host-2; m, mail, host-2",
			want:     "dbservice on host-2: its session has the same name as the leader's session",
		},
		{
			name: "Consul's leader election tutorial, names with numbers", e: "web service/web/leader | w1, web-1, host-1",
			sessions: "w1, web-1, host-1; w2, web-2, host-2; c1, web-cron-1, host-2; m1, mail-1, host-1",
			board:    "web-cron service/web-cron/leader | x, web-cron, host-9",
			want:     "web-2 on host-2: named like the leader's session: web-2",
		},
		{
			name: "Consul's leader election tutorial, names that contain the host", e: "web k/web/leader | w1, billing@alpha.dc1, alpha.dc1",
			sessions: "w2, billing@beta, beta; x, audit@beta, beta; y, lock-beta, beta",
			want:     "billing@beta on beta: named like the leader's session: billing@beta",
		},
		{
			name:     "sessions named after their elections, whose names differ only in a number",
			e:        "job-1 service/job-1/leader | j1, job-1, host-1",
			board:    "job-2 service/job-2/leader | x, job-2, host-9",
			sessions: "j2, job-2, host-2; j3, job-1, host-2",
			want:     "job-1 on host-2: its session has the same name as the leader's session",
		},
		{
			name: "pods", e: "x k/x/leader | w1, billing-7d9f8b6c5-x2x4z, n1",
			sessions: "w2, billing-7d9f8b6c5-k8s9w, n2; w3, audit-7d9f8b6c5-k8s9w, n2",
			want:     "billing-7d9f8b6c5-k8s9w on n2: named like the leader's session: billing-7d9f8b6c5-k8s9w",
		},
		{
			name: "a name that contains the node is a weak reason", e: "x k/x/leader | w1, host-1, host-1",
			sessions: "w2, host-2, host-2; w3, host-3, host-3, 1m",
			want:     "host-2 on host-2?: named after its node, like the leader's session; it may be waiting for another key",
		},
		{
			name:     "api.Lock: one name for all sessions",
			e:        "x k/x/leader | w1, Consul API Lock, n1, 15s",
			sessions: "w2, Consul API Lock, n2, 15s; w3, Consul API Lock, n2, 20s; y, Consul API Lock, n3, 15s",
			board:    "y k/y/leader | y, Consul API Lock, n3",
			want:     "Consul API Lock on n2?: Consul API Lock session that leads no watched election; it may be waiting for another key",
		},
		{
			name:     "api.Lock sessions are omitted if there is a better candidate",
			e:        "x k/x/leader w3 | w1, Consul API Lock, n1",
			sessions: "w2, Consul API Lock, n2; w3, Consul API Lock, n3",
			want:     "w3: former leader whose session still exists",
		},
		{
			name: "a leader whose session was not read", e: "x k/x/leader w3", sessions: "w2, w3, n2, 10s",
			want: "w3 on n2: its session has the same name as the leader's session",
		},
		{
			name: "the session of consul lock contains the path", e: "backup jobs/backup/.lock",
			sessions: "w2, Consul lock for './run' at 'jobs/backup', n2; w3, Consul lock for './run' at 'jobs/other', n2",
			want:     "./run on n2: named after the election: Consul lock for './run' at 'jobs/backup'",
		},
		{
			name:     "a check of the same service, even while it leads elsewhere",
			e:        "x k/x/leader | w1, a, n1, service:web-1",
			sessions: "w2, b, n2, service:web-2; w3, c, n3, service:mail-1; w4, d, n4, service:web-4",
			board:    "cron k/cron/leader | w4, d, n4",
			want: "web-2 on n2: bound to a check of the leader's service: service:web-2 | " +
				"web-4 on n4: bound to a check of the leader's service: service:web-4; it leads cron",
		},
		{
			name:     "generic check ids",
			e:        "x k/x/leader | w1, a, n1, service:1",
			sessions: "w2, b, n2, service:2",
		},
		{
			name: "sessions that lead other elections", e: "web service/web/leader | w1, web-1, host-1",
			sessions: "w2, web-2, host-2",
			board:    "mail service/mail/leader | W2, web-2, host-2",
		},
		{
			name:     "without an observed leader, sessions and checks named after the election",
			e:        "web service/web/leader",
			sessions: "a, lock of web, n1; b, , n2, service:web-2; c, webinar, n3; d, web-cron-2, n3",
			board:    "web-cron service/web-cron/leader | x, web-cron, host-9",
			want:     "lock of web on n1: named after the election: lock of web | on n2: named after the election: service:web-2",
		},
		{
			name: "a name of two letters", e: "pg service/pg/leader", sessions: "a, pg-2, n1; b, pgbouncer, n2",
			want: "pg-2 on n1: named after the election: pg-2",
		},
		{
			name: "sibling keys of an election without a lock's name are other elections",
			e:    "web elections/web | w1, a, n1", siblings: "elections/mail m1",
			sessions: "m1, mail, n2",
		},
		{
			name:     "keys of other elections below the same parent",
			e:        "service service/leader | w1, a, n1",
			siblings: "service/web/leader m1; service/db/members/x m2; service/mail/.lock m3",
			sessions: "m1, m, n2; m2, m, n2; m3, m, n2",
		},
		{
			name:     "a parent with many elections",
			e:        "a jobs/a-leader | w1, a, n1",
			board:    "a jobs/a-leader | w1, a, n1; b jobs/b-leader | w2, b, n1",
			siblings: "jobs/b-leader w2; jobs/running w3",
			sessions: "w2, b, n1; w3, c, n1",
		},
		{
			name: "the same parent for one election only", e: "web service/web/leader | w1, web-1, host-1",
			siblings: "service/web/web-2 s2; service/web/state -",
			sessions: "s2, anything, n2",
			want:     "web-2: holds service/web/web-2",
		},
		{
			name:     "only a semaphore's waiters, not its holders",
			e:        "gpu jobs/gpu/.lock",
			siblings: "jobs/gpu/h1 h1; jobs/gpu/s2 s2",
			sessions: "h1, Consul API Semaphore, n1; s2, Consul API Semaphore, n2; gpu, gpu, n2",
			want:     "Consul API Semaphore on n2: holds the contender key jobs/gpu/s2",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := electionOf(tt.e)
			if strings.Contains(tt.name, "semaphore") {
				e.Pair.Flags, e.Pair.Value = election.SemaphoreFlag, []byte(`{"Limit":1,"Holders":{"h1":true}}`)
			}
			all := []*election.Election{e}
			for _, other := range items(tt.board) {
				all = append(all, electionOf(other))
			}
			if got := namesOf(NewBoard(all, nil).Candidates(e, around(e, pairsOf(tt.siblings), sessionsOf(tt.sessions)...))); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestCandidatesWithoutAllData(t *testing.T) {
	web := led("web", "service/web/leader", newSession("w", "Consul API Lock", "n0"))
	for n, want := range map[int]int{maxWeak: maxWeak, maxWeak + 1: 0} { // more generic sessions probably wait for other keys
		var crowd []*election.Session
		for i := range n {
			crowd = append(crowd, newSession(fmt.Sprint("c", i), "Consul API Lock", fmt.Sprint("n", i)))
		}
		s := around(web, nil, crowd...)
		if got := candidatesOf(web, s, nil); len(got) != want || Likely(web, got, s) > 0 {
			t.Errorf("%d generic sessions: %v", n, got)
		}
		if s.Key = "service/mail/leader"; candidatesOf(web, s, nil) != nil || candidatesOf(web, nil, nil) != nil {
			t.Error("another election's surroundings give candidates")
		}
	}
	db := led("db", "service/db/leader", newSession("p1", "db-pg1", "n1", patroni))
	db.Session = nil
	s := around(db, []election.Pair{sibling("service/db/members/pg1", "p1"), sibling("service/db/members/pg2", "p2")})
	s.SessionsErr = "sessions: not readable with this token"
	s.Sessions = []*election.Session{newSession("p2", "db-pg2", "n2", patroni)} // only some sessions are readable
	if got := namesOf(candidatesOf(db, s, nil)); got != "pg2: holds service/db/members/pg2" {
		t.Error(got)
	}
	web.Session, web.Terms = nil, []election.Term{{Leader: "py-1 on n1", Node: "n1", End: t0}} // a history has no session
	for name, want := range map[string]int{"py-2": 1, "job": -1} {
		s := around(web, nil, newSession("c", name, "n2"))
		if got := Likely(web, candidatesOf(web, s, nil), s); got != want {
			t.Error(name, got)
		}
	}
}

// While the lists are older than a loss, the session that ended is no candidate, nor is a session on a failed node.
func TestDeadSessionsAreNoCandidates(t *testing.T) {
	dead, other, alive := newSession("a", "web", "n1"), newSession("b", "web", "n2"), newSession("c", "web", "n3")
	e := led("web", "service/web/leader", dead)
	e.Pair.Session, e.Session, e.LastSession = "", nil, dead
	for cause, want := range map[election.Cause]string{"": "c", election.SessionExpiredOrDestroyed: "c", election.Released: "ac"} {
		e.Terms = []election.Term{{Number: 1, Session: "A", Start: t0, End: t0.Add(time.Minute), Cause: cause}}
		got := ""
		s := around(e, nil, dead, other, alive)
		s.Failed = []string{"N2"}
		for _, c := range NewBoard(nil, nil).Candidates(e, s) {
			got += c.Session.ID
		}
		if got != want {
			t.Errorf("cause %q: candidates %s", cause, got)
		}
	}
}

func candidatesOf(e *election.Election, s *election.Surroundings, all []*election.Election) []Candidate {
	return NewBoard(all, nil).Candidates(e, s)
}
