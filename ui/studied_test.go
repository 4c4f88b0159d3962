package ui

import (
	"context"
	"fmt"
	"slices"
	"time"

	"electop/election"
)

// studiedSnapshot is the mixed one with what stands around its elections: a
// semaphore, a Patroni cluster, risky sessions, sessions that hold nothing. The
// surroundings are those of the election with this key, none for "".
func studiedSnapshot(key string) *election.Snapshot {
	s := mixedSnapshot()
	legacy := ledElection(8, "legacy", 2, 30*24*time.Hour)
	legacy.Session.TTL, legacy.Session.NodeChecks, legacy.Session.ServiceChecks = 0, nil, nil
	pg := ledElection(9, "pg", 1, 5*time.Hour)
	pg.Session.Name, pg.Session.Behavior, pg.Session.LockDelay, pg.Session.TTL = "pg-pg1", election.BehaviorDelete, time.Millisecond, 15*time.Second
	pg.Session.ServiceChecks = nil
	pg.Pair.Value, pg.Leader = []byte("pg1"), "pg1"
	s.Elections = append(s.Elections, legacy, pg, semaphoreElection())
	slices.SortFunc(s.Elections, func(a, b *election.Election) int { return cmpKeys(a.Key(), b.Key()) })
	s.SessionList = &election.SessionList{At: testNow(), Sessions: allSessions(s), FirstSeen: map[string]election.Seen{}}
	for i, ses := range s.SessionList.Sessions {
		s.SessionList.FirstSeen[ses.ID] = election.Seen{At: ago(10 * time.Minute)}
		if i%4 == 3 {
			s.SessionList.FirstSeen[ses.ID] = election.Seen{At: ago(time.Duration(i) * 17 * time.Second), Created: true}
		}
	}
	if key != "" {
		s.Surroundings = surroundings(s, key)
	}
	return s
}

func cmpKeys(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// semaphoreElection is a key with three slots: one is held, one by a holder
// that is gone.
func semaphoreElection() *election.Election {
	return &election.Election{
		Name: "jobs", Datacenter: "dc1", Exists: true, VacantSince: ago(time.Hour),
		Pair: election.Pair{
			Key: "service/jobs/leader", Flags: election.SemaphoreFlag, CreateIndex: 60, ModifyIndex: 90,
			Value: fmt.Appendf(nil, `{"Limit":3,"Holders":{%q:true,%q:true}}`, sessionID(300), sessionID(301)),
		},
	}
}

// allSessions are those of the leaders, candidates that wait, contenders of the
// semaphore, and three that a program left behind.
func allSessions(s *election.Snapshot) []*election.Session {
	var all []*election.Session
	for _, e := range s.Elections {
		if e.Session != nil {
			all = append(all, e.Session)
		}
	}
	for i, name := range []string{"search", "search", "billing", "shop", "pg-pg2", "pg-pg3"} {
		ses := testSession(200+i, name, fmt.Sprintf("node-%d", i%3+1), fmt.Sprintf("service:%s-%d", name, i%3+1))
		if i > 3 {
			ses.Behavior, ses.LockDelay, ses.ServiceChecks = election.BehaviorDelete, time.Millisecond, nil
		}
		all = append(all, ses)
	}
	for i := range 3 {
		ses := testSession(300+2*i, "jobs worker", fmt.Sprintf("node-%d", i+1))
		all = append(all, ses)
		left := testSession(320+i, "report-cron", "node-2")
		left.TTL = 0
		all = append(all, left)
	}
	slices.SortFunc(all, func(a, b *election.Session) int { return cmpKeys(a.ID, b.ID) })
	return all
}

func surroundings(s *election.Snapshot, key string) *election.Surroundings {
	around := &election.Surroundings{At: testNow(), Key: key, Sessions: s.SessionList.Sessions}
	parent := election.Parent(key)
	switch key {
	case "service/pg/leader":
		for i := range 3 {
			around.Siblings = append(around.Siblings, election.Pair{
				Key: fmt.Sprintf("%smembers/pg%d", parent, i+1), Value: []byte(`{"conn_url":"postgres://10.0.0.1:5432/postgres"}`),
				Session: []string{sessionID(9), sessionID(204), sessionID(205)}[i], LockIndex: 1,
			})
		}
		around.Siblings = append(around.Siblings, election.Pair{Key: parent + "config"})
	case "service/jobs/leader":
		for _, id := range []string{sessionID(300), sessionID(302), sessionID(304)} {
			around.Siblings = append(around.Siblings, election.Pair{Key: parent + id, Session: id, LockIndex: 1})
		}
	}
	return around
}

// outside plays those whom the dashboard tells what it looks at.
type outside struct {
	studied  []string
	listings []bool
	asked    []election.Target
	rights   election.Rights
}

func (o *outside) options(opts *Options) {
	opts.Study = func(key string) { o.studied = append(o.studied, key) }
	opts.WatchSessions = func(on bool) { o.listings = append(o.listings, on) }
	opts.Rights = func(_ context.Context, t election.Target) (election.Rights, error) {
		o.asked = append(o.asked, t)
		return o.rights, nil
	}
}

// studies makes an option: everything is looked at, nothing may be searched.
func studies(o *Options) {
	o.Study = func(string) {}
	o.Survey = func(context.Context, []string) []election.Surroundings { return nil } // the driver answers
	o.WatchSessions = func(bool) {}
}

// searches makes an option: the KV store has two more keys of every session.
func searches(o *Options) {
	studies(o)
	o.Holdings = func(_ context.Context, sessions []string, progress func(int, int)) ([]election.Pair, bool, error) {
		progress(9800, 9800)
		var found []election.Pair
		for _, session := range sessions {
			found = append(found, election.Pair{Key: "locks/nightly", Session: session}, election.Pair{Key: "locks/reindex", Session: session})
		}
		return found, false, nil
	}
}
