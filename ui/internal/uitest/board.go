// Package uitest provides boards and helpers for tests of the screen.
package uitest

import (
	"fmt"
	"time"

	"electop/election"
)

// Now returns the fixed time that is the current time in all tests.
func Now() time.Time { return time.Date(2026, 11, 20, 12, 1, 9, 0, time.UTC) }

func ago(d time.Duration) time.Time { return Now().Add(-d) }

// SessionID returns the ID of session n.
func SessionID(n int) string {
	return fmt.Sprintf("%08x-6350-7587-addf-a18084928f3c", 0x4f5ada57+n*7919)
}

// Session returns session n. The session has a TTL and a check of its node.
func Session(n int, name, node string, checks ...string) *election.Session {
	return &election.Session{
		ID: SessionID(n), Name: name, Node: node, TTL: 15 * time.Second, Behavior: election.BehaviorRelease,
		LockDelay: 15 * time.Second, NodeChecks: []string{"serfHealth"}, ServiceChecks: checks,
	}
}

// Led returns an election that name-k has led for the duration since.
func Led(n int, name string, k int, since time.Duration) *election.Election {
	label := fmt.Sprintf("%s-%d", name, k)
	node := fmt.Sprintf("node-%d", k)
	s := Session(n, name, node, "service:"+label)
	value := fmt.Sprintf(`{"Name":%q,"Address":"10.0.0.%d","Port":%d,"Meta":{"version":"1.4.%d","tags":["blue","eu"]}}`, label, n+4, 9000+n, n)
	e := &election.Election{
		Name: name, Datacenter: "dc1", Exists: true, Leader: label, Session: s, Term: uint64(n*13 + 5),
		Since: ago(since), SinceKnown: true,
		Pair: election.Pair{
			Key: "service/" + name + "/leader", Value: []byte(value), Session: s.ID,
			LockIndex: uint64(n*13 + 5), CreateIndex: 40, ModifyIndex: uint64(1000 + n),
		},
	}
	e.Terms = []election.Term{{
		Number: e.Term, CreateIndex: 40, Session: s.ID, Leader: label, Node: node, Start: e.Since, StartKnown: true,
	}}
	return e
}

// AddTerm adds an ended term before the other terms.
func AddTerm(e *election.Election, k int, start, end time.Duration, cause election.Cause, evidence string) {
	t := election.Term{
		Number: e.Terms[0].Number - 1, CreateIndex: 40, Session: SessionID(100 + k), Leader: fmt.Sprintf("%s-%d", e.Name, k),
		Node: fmt.Sprintf("node-%d", k), Start: ago(start), StartKnown: true, End: ago(end), Cause: cause, Evidence: evidence,
	}
	t.AliveUntil = t.LastSign(e.Session)
	e.Terms = append([]election.Term{t}, e.Terms...)
}

// Vacant returns an election without a leader. Its last leader is name-k.
func Vacant(n int, name string, k int, held, lost, delay time.Duration, cause election.Cause, evidence string) *election.Election {
	e := Led(n, name, k, held+lost)
	e.Terms[0].End, e.Terms[0].Cause, e.Terms[0].Evidence = ago(lost), cause, evidence
	e.Terms[0].AliveUntil = e.Terms[0].LastSign(e.Session)
	e.Leader, e.Session, e.LastSession, e.Pair.Session = "", nil, e.Session, ""
	e.Since = time.Time{}
	e.VacantSince, e.VacantSinceKnown = ago(lost), true
	if delay > 0 {
		e.LockDelayUntil = ago(lost).Add(delay)
	}
	return e
}

// Passing returns a passing node check, and a service check with this status and output.
func Passing(node, service string, status, output string) []election.Check {
	return []election.Check{
		{ID: "serfHealth", Name: "Serf Health Status", Node: node, Status: election.StatusPassing, Output: "Agent alive and reachable"},
		{ID: "service:" + service, Name: "HTTP", Node: node, Service: service, Status: status, Output: output},
	}
}

// Mixed returns a snapshot with elections that are led, vacant, unreadable and in a lock-delay.
func Mixed() *election.Snapshot {
	auth := Led(0, "auth", 2, 52*time.Hour)
	auth.SinceKnown, auth.Terms[0].StartKnown = false, false
	billing := Led(1, "billing", 3, 3*time.Minute+12*time.Second)
	AddTerm(billing, 1, 9*time.Minute, 3*time.Minute+13200*time.Millisecond, election.CheckCritical, "service:billing-1 on node-1: HTTP GET http://10.0.0.6/health: 503")
	AddTerm(billing, 2, 40*time.Minute, 9*time.Minute+2*time.Second, election.OperatorRelease, "")
	mail := Vacant(2, "mail", 1, 2*time.Hour, 4*time.Minute+2*time.Second, 0, election.Released, "the session still exists and no longer holds the key")
	orders := Led(3, "orders", 1, 7*time.Hour)
	orders.Pair.LockIndex = 0
	search := Vacant(4, "search", 2, 41*time.Minute, 6*time.Second, 15*time.Second, election.CheckCritical, "service:search-2 on node-2: HTTP GET http://10.0.0.6/health: 503 Service Unavailable")
	shop := Led(5, "shop", 3, 31*time.Second)
	AddTerm(shop, 2, 5*time.Minute, 95*time.Second, election.SessionExpiredOrDestroyed, "the session is gone; its TTL was 15s (Consul does not distinguish expiry from destruction)")
	users := Led(6, "users", 1, 26*time.Hour)
	web := Led(7, "web", 2, 12*time.Minute)
	web.Unreadable = true
	es := []*election.Election{auth, billing, mail, orders, search, shop, users, web}
	checks := map[string]election.NodeChecks{
		"node-1": {At: Now(), Checks: append(Passing("node-1", "orders-1", "passing", "HTTP GET http://10.0.0.7/health: 200 OK"), Passing("node-1", "users-1", "passing", "")...)},
		"node-2": {At: Now(), Checks: Passing("node-2", "auth-2", "passing", "TTL ok")},
		"node-3": {At: Now(), Checks: append(Passing("node-3", "billing-3", "warning", "HTTP GET http://10.0.0.5/health: 429 Too Many Requests"), Passing("node-3", "shop-3", "critical", "dial tcp 10.0.0.9:9005: connection refused")...)},
	}
	s := &election.Snapshot{
		At: Now(), Datacenter: "dc1", Elections: es, Loaded: true, Checks: checks,
		Connection: election.Connection{State: election.Live, Since: ago(time.Hour), LastContact: Now(), Latency: 3 * time.Millisecond},
		Events:     mixedEvents(),
	}
	for i := range s.Events {
		for _, e := range es {
			if e.Key() == s.Events[i].Key {
				e.Events = append(e.Events, s.Events[i])
			}
		}
	}
	return s
}

func mixedEvents() []election.Event {
	ev := func(d time.Duration, t election.EventType, name string, k int, term uint64) election.Event {
		return election.Event{
			Time: ago(d), Type: t, Election: name, Key: "service/" + name + "/leader", Datacenter: "dc1", Term: term,
			CreateIndex: 40, Leader: fmt.Sprintf("%s-%d", name, k), Session: SessionID(100 + k), Node: fmt.Sprintf("node-%d", k),
		}
	}
	first := ev(time.Hour, election.Elected, "auth", 2, 5)
	first.Initial = true
	lost := ev(4*time.Minute+2*time.Second, election.Vacated, "mail", 1, 31)
	lost.Held, lost.HeldKnown = 2*time.Hour, true
	why := lost
	why.Type, why.Cause, why.Evidence = election.Explained, election.Released, "the session still exists and no longer holds the key"
	won := ev(3*time.Minute+12*time.Second, election.Elected, "billing", 3, 18)
	won.Vacancy, won.VacancyKnown, won.AliveUntil = 1200*time.Millisecond, true, won.Time.Add(-31200*time.Millisecond)
	over := ev(2*time.Minute, election.Overwritten, "orders", 1, 44)
	down := election.Event{Time: ago(100 * time.Second), Type: election.ConnectionLost, Datacenter: "dc1", Error: "Get \"http://127.0.0.1:8500/v1/kv/\": connection refused"}
	up := election.Event{Time: ago(98 * time.Second), Type: election.ConnectionRestored, Datacenter: "dc1"}
	missed := ev(50*time.Second, election.Missed, "shop", 3, 70)
	missed.Count = 2
	gone := ev(6*time.Second, election.Vacated, "search", 2, 57)
	gone.Held, gone.HeldKnown = 41*time.Minute, true
	because := gone
	because.Time, because.Type, because.Cause = ago(5*time.Second), election.Explained, election.CheckCritical
	because.Evidence = "service:search-2 on node-2: HTTP GET http://10.0.0.6/health: 503 Service Unavailable"
	return []election.Event{first, lost, why, won, over, down, up, missed, gone, because}
}

// Crowd returns a snapshot of n elections, a few of them with problems.
func Crowd(n int) *election.Snapshot {
	s := Mixed()
	s.Elections = s.Elections[:0]
	for i := range n {
		name := fmt.Sprintf("svc-%05d", i)
		switch i % 97 {
		case 13:
			s.Elections = append(s.Elections, Vacant(i, name, i%3, time.Hour, time.Duration(i%50)*time.Second, 0, election.Released, ""))
		default:
			e := Led(i, name, i%3+1, time.Duration(i)*time.Minute)
			for k := range i % 4 {
				AddTerm(e, k, time.Duration(i+2+k)*time.Minute, time.Duration(i+1+k)*time.Minute, election.Released, "")
			}
			s.Elections = append(s.Elections, e)
		}
	}
	return s
}

// Hostile returns a snapshot with texts that could control a terminal.
func Hostile() *election.Snapshot {
	s := Studied("")
	const bad = "\x1b[2J\x1b]0;owned\x07\u009b31m\u202edrow\n\r\t\u200b世界语💥e\u0301\xff\x00👨‍👩‍👧"
	for i, e := range s.Elections {
		e.Name = bad + e.Name
		e.Pair.Key = fmt.Sprintf("%02d%s/%s", i, bad, e.Pair.Key)
		if e.IsSemaphore() {
			e.Pair.Value = fmt.Appendf(nil, `{"Limit":3,"Holders":{%q:true,%q:true}}`, bad, SessionID(300))
			continue
		}
		e.Pair.Value = []byte(fmt.Sprintf(`{"name":%q,"address":%q,%q:[1,{"x":null}]}`, bad, bad, bad))
		if e.Leader != "" {
			e.Leader = election.LeaderLabel(e.Pair, e.Session)
		}
		if e.Session != nil {
			e.Session.Name, e.Session.Node = bad, bad
			e.Session.ServiceChecks = append(e.Session.ServiceChecks, bad)
		}
		for j := range e.Terms {
			e.Terms[j].Node, e.Terms[j].Evidence = bad, bad
		}
	}
	s.Checks = map[string]election.NodeChecks{bad: {Err: bad, Checks: []election.Check{{ID: bad, Status: bad, Output: bad}}}}
	for i := range s.Events {
		ev := &s.Events[i]
		ev.Election, ev.Key, ev.Leader, ev.Node, ev.Evidence, ev.Error = bad, bad, bad, bad, bad, bad
	}
	s.Datacenter = bad
	for i, ses := range s.SessionList.Sessions {
		ses.Name, ses.Node, ses.Behavior = bad, bad, bad
		if i%5 == 0 {
			ses.ID = bad + ses.ID
		}
	}
	s.SessionList.Err = bad
	s.Surroundings = &election.Surroundings{
		Key: s.Elections[4].Key(), Sessions: s.SessionList.Sessions, SiblingsErr: bad, SiblingsCut: true,
	}
	for _, ses := range s.SessionList.Sessions {
		s.Surroundings.Siblings = append(s.Surroundings.Siblings, election.Pair{Key: election.Parent(s.Surroundings.Key) + bad, Session: ses.ID})
	}
	return s
}

// Recorded returns the snapshot of [Mixed] as read from a history that ends now.
func Recorded() *election.Snapshot {
	s := Mixed()
	s.Loaded, s.RecordedUntil, s.Checks, s.Events = false, Now(), nil, nil
	s.Connection = election.Connection{State: election.Connecting, Since: Now()}
	for _, e := range s.Elections {
		e.RecordedUntil, e.Session, e.Events = Now(), nil, nil
		e.Pair.Value = nil
	}
	return s
}
