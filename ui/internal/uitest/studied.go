package uitest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"electop/election"
)

// Studied returns [Mixed] with a semaphore, a Patroni cluster, sessions at risk and idle sessions. The snapshot
// contains the surroundings of key, or no surroundings if key is empty.
func Studied(key string) *election.Snapshot {
	s := Mixed()
	legacy := Led(8, "legacy", 2, 30*24*time.Hour)
	legacy.Session.TTL, legacy.Session.NodeChecks, legacy.Session.ServiceChecks = 0, nil, nil
	pg := Led(9, "pg", 1, 5*time.Hour)
	pg.Session.Name, pg.Session.Behavior, pg.Session.LockDelay, pg.Session.TTL = "pg-pg1", election.BehaviorDelete, time.Millisecond, 15*time.Second
	pg.Session.ServiceChecks = nil
	pg.Pair.Value, pg.Leader = []byte("pg1"), "pg1"
	s.Elections = append(s.Elections, legacy, pg, Semaphore())
	slices.SortFunc(s.Elections, election.Compare)
	s.SessionList = &election.SessionList{At: Now(), Sessions: AllSessions(s), FirstSeen: map[string]election.Seen{}}
	for i, ses := range s.SessionList.Sessions {
		s.SessionList.FirstSeen[ses.ID] = election.Seen{At: ago(10 * time.Minute)}
		if i%4 == 3 {
			s.SessionList.FirstSeen[ses.ID] = election.Seen{At: ago(time.Duration(i) * 17 * time.Second), Created: true}
		}
	}
	if key != "" {
		s.Surroundings = Surroundings(s, key)
	}
	return s
}

// Failed returns [Studied] with a leader on a failed node. The leader's session does not depend on the node's health.
func Failed() *election.Snapshot {
	s := Studied("")
	dead := Led(10, "ledger", 4, 3*time.Hour)
	dead.Session.TTL, dead.Session.NodeChecks = 0, nil
	s.Elections = append(s.Elections, dead)
	s.SessionList.Sessions = append(s.SessionList.Sessions, dead.Session)
	slices.SortFunc(s.Elections, election.Compare)
	checks := Passing("node-4", "ledger-4", election.StatusPassing, "HTTP GET http://10.0.0.14/health: 200 OK")
	checks[0].Status, checks[0].Output = election.StatusCritical, "Agent not live or unreachable"
	s.Checks["node-4"] = election.NodeChecks{At: Now(), Checks: checks}
	return s
}

// Semaphore returns a semaphore with three slots. A current session holds one slot, and an ended session holds another
// slot.
func Semaphore() *election.Election {
	return &election.Election{
		Name: "jobs", Datacenter: "dc1", Exists: true, VacantSince: ago(time.Hour),
		Pair: election.Pair{
			Key: "service/jobs/leader", Flags: election.SemaphoreFlag, CreateIndex: 60, ModifyIndex: 90,
			Value: fmt.Appendf(nil, `{"Limit":3,"Holders":{%q:true,%q:true}}`, SessionID(300), SessionID(301)),
		},
	}
}

// AllSessions returns the sessions of leaders, of waiting candidates and of the semaphore's contenders, and three
// orphans.
func AllSessions(s *election.Snapshot) []*election.Session {
	var all []*election.Session
	for _, e := range s.Elections {
		if e.Session != nil {
			all = append(all, e.Session)
		}
	}
	for i, name := range []string{"search", "search", "billing", "shop", "pg-pg2", "pg-pg3"} {
		ses := Session(200+i, name, fmt.Sprintf("node-%d", i%3+1), fmt.Sprintf("service:%s-%d", name, i%3+1))
		if i > 3 {
			ses.Behavior, ses.LockDelay, ses.ServiceChecks = election.BehaviorDelete, time.Millisecond, nil
		}
		all = append(all, ses)
	}
	for i := range 3 {
		ses := Session(300+2*i, "jobs worker", fmt.Sprintf("node-%d", i+1))
		all = append(all, ses)
		left := Session(320+i, "report-cron", "node-2")
		left.TTL = 0
		all = append(all, left)
	}
	slices.SortFunc(all, func(a, b *election.Session) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// Surroundings returns the surroundings of the election with this key.
func Surroundings(s *election.Snapshot, key string) *election.Surroundings {
	around := &election.Surroundings{At: Now(), Key: key, Sessions: s.SessionList.Sessions}
	parent := election.Parent(key)
	switch key {
	case "service/pg/leader":
		for i := range 3 {
			around.Siblings = append(around.Siblings, election.Pair{
				Key: fmt.Sprintf("%smembers/pg%d", parent, i+1), Value: []byte(`{"conn_url":"postgres://10.0.0.1:5432/postgres"}`),
				Session: []string{SessionID(9), SessionID(204), SessionID(205)}[i], LockIndex: 1,
			})
		}
		around.Siblings = append(around.Siblings, election.Pair{Key: parent + "config"})
	case "service/jobs/leader":
		for _, id := range []string{SessionID(300), SessionID(302), SessionID(304)} {
			around.Siblings = append(around.Siblings, election.Pair{Key: parent + id, Session: id, LockIndex: 1})
		}
	}
	return around
}
