package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"electop/election"
	"electop/election/query"
	"electop/ui/internal/uitest"
	"electop/ui/shell"
)

func testNow() time.Time                { return uitest.Now() }
func ago(d time.Duration) time.Time     { return testNow().Add(-d) }
func sessionID(n int) string            { return uitest.SessionID(n) }
func keyOf(name string) string          { return "service/" + name + "/leader" }
func mixedSnapshot() *election.Snapshot { return uitest.Mixed() }

// snapshotOf returns the snapshot that the words of a script describe: its name and then its changes.
func snapshotOf(words ...string) *election.Snapshot {
	name, arg, _ := strings.Cut(words[0], ":")
	n, _ := strconv.Atoi(arg)
	s := mixedSnapshot()
	switch name {
	case "mixed":
	case "queues":
		s = uitest.Queues()
	case "studied":
		s = uitest.Studied("")
	case "failed":
		s = uitest.Failed()
	case "hostile":
		s = uitest.Hostile()
	case "recorded":
		s = uitest.Recorded()
	case "crowd":
		s = uitest.Crowd(n)
	case "federated":
		s = uitest.Federated()
	case "without-second":
		s = uitest.WithoutSecond()
	case "twins":
		s = uitest.Twins()
	case "clusters":
		s = uitest.Clusters(arg == "lost")
	case "eleven":
		s = uitest.Eleven(n)
	case "lost":
		change(s, "lost", "")
	case "empty":
		s.Elections, s.Events = nil, nil
	case "unreachable":
		change(s, "lost", "")
		s = &election.Snapshot{At: testNow(), Connection: s.Connection}
	case "stale": // two shards do not respond
		s = uitest.Crowd(312)
		s.Connection.Stale = []election.LinkLost{stalePart("service/svc-0000", 14*time.Second, 3*time.Second), stalePart("service/svc-0011", 12*time.Second, 5*time.Second)}
	case "idle": // two finished jobs
		for i, name := range []string{"job-1", "job-2"} {
			job := uitest.Vacant(20+i, name, 1, time.Hour, 10*time.Minute, 0, election.Unknown, "")
			job.Terms, job.Candidateless, job.VacantSinceKnown = nil, true, false
			s.Elections = append(s.Elections, job)
		}
		slices.SortFunc(s.Elections, election.Compare)
	default:
		panic("no snapshot " + name)
	}
	for _, word := range words[1:] {
		what, arg, _ := strings.Cut(word, ":")
		if !change(s, what, arg) && !changeElections(s, what, arg) {
			panic("no change " + word)
		}
	}
	return s
}

func stalePart(prefix string, age, retry time.Duration) election.LinkLost {
	return election.LinkLost{
		Part:  election.Part{Kind: election.PartKeys, Range: election.PrefixRange(prefix)},
		Since: ago(age), Error: "cannot reach Consul at 127.0.0.1:8500: request timed out", RetryAt: testNow().Add(retry),
	}
}

// change changes the connection, the checks or the sessions of a snapshot.
func change(s *election.Snapshot, what, arg string) bool {
	c := &s.Connection
	switch what {
	case "lost":
		*c = election.Connection{
			State: election.Lost, Since: ago(3 * time.Second), LastContact: ago(4 * time.Second),
			Error: "cannot reach Consul at 127.0.0.1:8500: connection refused", RetryAt: testNow().Add(8 * time.Second),
		}
	case "never": // no connection since electop started
		change(s, "lost", "")
		c.Since, c.LastContact = testNow().Add(18*time.Minute-3*time.Second), time.Time{}
	case "refused":
		c.Refused = true
	case "stale": // a kind of part that makes no election stale
		c.Stale = []election.LinkLost{{
			Part: election.Part{Kind: election.PartKind(arg), Range: election.PrefixRange("service/")}, Since: ago(27 * time.Second), Error: "request timed out",
		}}
	case "stale-key":
		c.Stale = []election.LinkLost{stalePart(keyOf(arg), 14*time.Second, 0)}
	case "all-stale":
		c.Stale = []election.LinkLost{stalePart("service/", 14*time.Second, 0)}
	case "filtered":
		s.Filtered = true
	case "loading":
		s.Loaded = false
	case "partly": // two elections are from the history, the others were read
		live := mixedSnapshot()
		live.Elections = append(slices.Clone(s.Elections[:2]), live.Elections[2:]...)
		live.Loaded, live.RecordedUntil = false, s.RecordedUntil
		*s = *live
	case "around":
		s.Surroundings = uitest.Surroundings(s, keyOf(arg))
	case "blind":
		s.Surroundings.Sessions, s.Surroundings.SessionsErr = nil, "sessions: not readable with this token"
	case "unsurveyed":
		s.Surroundings = &election.Surroundings{Key: keyOf(arg), SiblingsErr: "sibling keys: refused", SessionsErr: "sessions: refused"}
	case "no-sessions":
		s.SessionList = &election.SessionList{At: testNow(), Err: "sessions: not readable with this token"}
	case "ended": // a session
		list := s.SessionList
		list.Sessions = election.Without(list.Sessions, func(x *election.Session) bool {
			if x.Name == arg {
				delete(list.FirstSeen, x.ID)
			}
			return x.Name == arg
		})
	case "departed": // a candidate
		s.Surroundings.Ended = []election.EndedSession{{Session: uitest.Session(601, arg, "node-2"), Seen: testNow()}}
	case "partial":
		s.SessionList.Partial = true
	case "unread-checks":
		for node := range s.Checks {
			s.Checks[node] = election.NodeChecks{Err: "not readable with this token"}
		}
	case "old-checks":
		age, _ := time.ParseDuration(arg)
		for node, known := range s.Checks {
			known.Until = ago(age)
			s.Checks[node] = known
		}
	case "hidden-check": // of auth
		s.Checks["node-2"] = election.NodeChecks{At: testNow(), Checks: uitest.Passing("node-2", "other", "passing", "")[:1], Partial: true}
	case "critical": // a node of dc2
		s.In("dc2").Checks[arg] = election.NodeChecks{At: testNow(), Checks: uitest.Passing(arg, "billing-2", "critical", "down")}
	case "unanswered": // the second datacenter, which has a history
		s.Parts[1].Connection.LastContact, s.Parts[1].RecordedUntil = time.Time{}, ago(98*time.Second)
	case "old-event":
		s.Events = []election.Event{{Time: testNow(), Type: election.Deleted, Election: "old", Key: keyOf("old")}}
	case "semaphore-events":
		at := func(e election.Event) {
			e.Time, e.Election, e.Key = testNow(), "gpu", "jobs/gpu/.lock"
			s.Events = append(s.Events, e)
		}
		at(election.Event{Type: election.Entered, Session: sessionID(1), Leader: "job-1", Node: "node-1", Holders: 1, Limit: 2})
		at(election.Event{Type: election.Left, Session: sessionID(1), Holders: 0, Limit: 2})
		at(election.Event{Type: election.Unreadable})
	case "unsearched": // no candidate was searched for
		for _, e := range s.Elections {
			if e.Unsearched = !e.Pair.Held(); e.Unsearched {
				e.LockDelayUntil = time.Time{}
			}
		}
	case "added":
		s.Elections = append([]*election.Election{uitest.Led(20, arg, 1, time.Minute)}, s.Elections...)
	case "no-elections":
		s.Elections, s.Parts[0].Elections, s.Parts[1].Elections = nil, nil, nil
	default:
		return false
	}
	return true
}

// changeElections changes the elections that arg names.
func changeElections(s *election.Snapshot, what, arg string) bool {
	for _, name := range strings.Split(arg, ",") {
		i := slices.IndexFunc(s.Elections, func(e *election.Election) bool { return e.Name == name || e.Datacenter+":"+e.Name == name })
		if i < 0 {
			return false
		}
		n := *s.Elections[i]
		e := &n
		s.Elections[i] = e
		if e.Session != nil {
			session := *e.Session
			e.Session = &session
		}
		switch what {
		case "taken": // by another leader
			*e = *takenOver(e)
		case "released", "again": // again: the same session acquires the key 3 ms later
			*e = *released(e, what == "again")
		case "node-1", "node-2", "node-3", "node-9": // of the leader's session
			e.Session.Node = what
		case "joined": // the session of the first election leads all
			first := s.Find(election.KeyID(keyOf(strings.Split(arg, ",")[0])))
			e.Session, e.Pair.Session = first.Session, first.Pair.Session
		case "gone":
			s.Elections = slices.Delete(s.Elections, i, i+1)
		case "vacant":
			*e = *uitest.Vacant(1, name, 3, time.Minute, time.Second, 0, election.Released, "")
		case "alone":
			e.Candidateless = true
		case "relocked": // in the same session
			e.Pair.LockIndex++
		case "lock-delay":
			e.LockDelayUntil = testNow().Add(15 * time.Second)
		case "gone-key":
			e.Exists, e.Session, e.Leader, e.Pair = false, nil, "", election.Pair{Key: e.Pair.Key}
		case "silent": // its leader does not renew its lease
			e.Session.Expires = e.Session.Read.Add(time.Second)
		case "long-delay":
			e.Session.LockDelay = time.Minute
		case "deletes":
			e.Session.Behavior = election.BehaviorDelete
		case "hidden": // its session
			e.Session = nil
		case "only": // the only session
			s.SessionList.Sessions = []*election.Session{e.Session}
		case "new":
			e.Since = testNow()
		case "unknown-start":
			e.SinceKnown = false
		case "odd": // a session that is not like one of Patroni
			e.Session.Behavior, e.Session.LockDelay, e.Session.Name = election.BehaviorRelease, 0, "odd"
			s.SessionList.Sessions = slices.DeleteFunc(s.SessionList.Sessions, func(x *election.Session) bool { return x.ID == e.Session.ID })
			s.SessionList.Sessions = append(s.SessionList.Sessions, e.Session)
			s.Surroundings = &election.Surroundings{Key: e.Key(), Siblings: []election.Pair{{Key: "service/pg/config", Value: []byte(`{"loop_wait":10}`)}}}
		case "flags":
			e.Pair.Flags, e.LastSession = 42, &election.Session{ID: sessionID(601), Name: "Consul API Lock"}
		case "bidi":
			e.Name, e.Pair.Key = "a\u202eb", "service/a\u202eb/leader"
		default:
			return false
		}
	}
	return true
}

func takenOver(e *election.Election) *election.Election {
	n := *e
	n.Pair.Session, n.Pair.ModifyIndex, n.Pair.LockIndex = sessionID(500), e.Pair.ModifyIndex+3, e.Pair.LockIndex+1
	n.Session = uitest.Session(500, n.Name, "node-9")
	n.Term, n.Leader, n.Since = e.Term+1, n.Name+"-9", testNow()
	n.Terms = slices.Clone(e.Terms)
	n.Terms[len(n.Terms)-1].End = ago(1300 * time.Millisecond)
	n.Terms = append(n.Terms, election.Term{
		Number: n.Term, CreateIndex: 40, Session: n.Pair.Session, Leader: n.Leader, Node: "node-9", Start: n.Since, StartKnown: true,
	})
	return &n
}

// released ends the current term of an election. If again is set, the same session acquires the key 3 ms later.
func released(e *election.Election, again bool) *election.Election {
	n := *e
	n.Terms = slices.Clone(e.Terms)
	n.Terms[len(n.Terms)-1].End = testNow()
	n.Pair.Session, n.Session, n.Leader, n.LastSession = "", nil, "", e.Session
	n.VacantSince, n.VacantSinceKnown = testNow(), true
	if again {
		n.Pair.Session, n.Session, n.Leader = e.Pair.Session, e.Session, e.Leader
		n.Pair.LockIndex, n.Pair.ModifyIndex, n.Term = e.Pair.LockIndex+1, e.Pair.ModifyIndex+2, e.Term+1
		n.Since, n.VacantSince = testNow().Add(3*time.Millisecond), time.Time{}
		n.Terms = append(n.Terms, election.Term{
			Number: n.Term, CreateIndex: 40, Session: n.Pair.Session, Leader: n.Leader, Node: "node-2", Start: n.Since, StartKnown: true,
		})
	}
	return &n
}

// optionOf returns the option that a word of a script names, or nil.
func optionOf(word string) func(*Options) {
	name, arg, _ := strings.Cut(word, ":")
	return map[string]func(*Options){
		"searches": searches, "studies": studies, "scanned": scanned(true), "scanned-partly": scanned(false),
		"drain": func(o *Options) { fake(o).drainKind = arg }, "commands": runnable(&runs{}),
		"fix":       func(o *Options) { fake(o).diagnosis = diagnosisOf(arg) },
		"incident":  func(o *Options) { o.History = uitest.Incident() },
		"yesterday": func(o *Options) { o.History = uitest.Yesterday() },
		"vaulted":   func(o *Options) { o.History = vaulted() },
		"failing-search": func(o *Options) {
			searches(o)
			fake(o).onHoldings = func(context.Context, string, []string, func(int, int)) ([]election.Pair, bool, error) {
				return nil, false, errors.New("boom\x1b[2J")
			}
		},
		"every-key": func(o *Options) { o.Patterns = []string{"**"} },
		"jobs":      func(o *Options) { o.Patterns = append(o.Patterns, "jobs/*/.lock") },
		"keys": func(o *Options) {
			o.Keys, _ = ParseKeys(map[string][]string{
				"release": {"ctrl+r"}, "help": {"f1"}, "down": {"e"}, "up": {"i"}, "mark-all": {"I"}, "report": {"ctrl+e"}, "next-problem": {"ctrl+n"}, "results": {"U"}, "open": {"o"},
			})
		},
		"two": func(o *Options) { o.Datacenters = []string{"dc1", "dc2"} },
		"contexts-of-both": func(o *Options) {
			o.Datacenters, o.Context, o.Contexts = []string{"consul", "etcd"}, "consul,etcd", []string{"consul", "etcd", "test"}
			o.Address = "10.0.0.1:8500,http://10.0.0.2:2379"
		},
		"eleven-names": func(o *Options) {
			for n := range 11 {
				o.Datacenters = append(o.Datacenters, fmt.Sprint("dc", n+1))
			}
		},
		"read-only": func(o *Options) { o.ReadOnly = true },
		"demo": func(o *Options) {
			o.Demo, o.ReadOnly = "8 services with 3 candidates each; a simulated failure every 15 s", true
		},
		"shell": func(o *Options) { o.CanSuspend = true },
		"url": func(o *Options) {
			fake(o).cluster = shell.Cluster{Flags: [][2]string{{"http-addr", "http://127.0.0.1:8500"}}}
		},
		"contexts": func(o *Options) {
			o.Contexts, o.ContextHint = []string{"production", "staging"}, "the config file has the contexts"
		},
		"context": func(o *Options) {
			o.Context = "production"
			o.SwitchContext = func(name string) { fake(o).d.called("context", name) }
		},
		"by-problems": func(o *Options) { o.Filter, o.Sort = "!node:node-1", query.Order{Key: query.ByProblems} },
	}[name]
}
