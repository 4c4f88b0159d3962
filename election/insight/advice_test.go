package insight

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/election/sanitize"
)

// codes formats advice as its code, with "!" if it is urgent.
func codes(all []Finding) string {
	parts := make([]string, len(all))
	for i, a := range all {
		parts[i] = a.Code
		if a.Urgent {
			parts[i] += "!"
		}
	}
	return strings.Join(parts, " ")
}

// terms returns n terms that began one minute apart. The last one has not ended.
func terms(n int, known bool, cause election.Cause) []election.Term {
	var all []election.Term
	for i := range n {
		start := t0.Add(-time.Duration(n-i) * time.Minute)
		t := election.Term{Number: uint64(i), Session: fmt.Sprint("s", i), Start: start, StartKnown: known}
		if i < n-1 {
			t.End, t.Cause = start.Add(30*time.Second), cause
		}
		all = append(all, t)
	}
	return all
}

func TestAdvise(t *testing.T) {
	good := func(s *election.Session) { s.TTL = 15 * time.Second }
	noChecks := func(s *election.Session) { s.NodeChecks = nil }
	delay := func(d time.Duration) func(*election.Session) { return func(s *election.Session) { s.LockDelay = d } }
	deletes := func(s *election.Session) { s.Behavior = election.BehaviorDelete }
	web := func(change ...func(*election.Session)) *election.Election {
		return led("web", "service/web/leader", newSession("w1", "web-1", "n1", change...))
	}
	with := func(e *election.Election, change func(*election.Election)) *election.Election { change(e); return e }
	tests := []struct {
		name string
		e    *election.Election
		want string
	}{
		{"no advice", web(good), ""},
		{"no advice for a service check and a node check", web(service("service:web-1")), ""},
		{"no checks and no TTL", web(noChecks), "no_checks!"},
		{"no checks", web(noChecks, good), "no_checks"},
		{"node checks only", web(), "node_checks_only"},
		{"a node check that may watch the process", web(func(s *election.Session) { s.NodeChecks = []string{"serfHealth", "web-alive"} }), ""},
		{"service checks only", web(noChecks, service("service:web-1")), "service_checks_only"},
		{"no lock-delay", web(good, delay(0)), "short_lock_delay"},
		{"a lock-delay of 1 ms", web(good, delay(time.Millisecond)), "short_lock_delay"},
		{"no lock-delay, but the key is deleted", web(good, delay(0), deletes), ""},
		{"overwritten", with(web(good), func(e *election.Election) { e.Pair.LockIndex = 0 }), "overwritten!"},
		{"urgent advice is first", with(web(), func(e *election.Election) { e.Pair.LockIndex = 0 }), "overwritten! node_checks_only"},
		{"vacant", with(web(), func(e *election.Election) { e.LastSession, e.Session, e.Pair.Session = e.Session, nil, "" }), ""},
		{"a session that was not read", with(web(), func(e *election.Election) { e.Session = nil }), ""},
		{"the key no longer exists", with(web(), func(e *election.Election) { e.Exists = false }), ""},
		{"4 leaders in 10 minutes", with(web(good), func(e *election.Election) { e.Terms = terms(4, true, election.CheckCritical) }), "flapping!"},
		{"3 leaders in 10 minutes", with(web(good), func(e *election.Election) { e.Terms = terms(3, true, election.CheckCritical) }), ""},
		{"4 changes by an operator", with(web(good), func(e *election.Election) { e.Terms = terms(5, true, election.OperatorRelease) }), ""},
		{"12 leaders, 3 of them in the window", with(web(good), func(e *election.Election) {
			e.Terms = terms(12, true, "")
			for i := range 9 {
				e.Terms[i].Start = e.Terms[i].Start.Add(-time.Hour)
			}
		}), ""},
		{"Patroni's design", led("db", "service/db/leader", newSession("p", "db-db-1", "n", patroni)), ""},
		{"a Patroni cluster that flaps", with(led("db", "service/db/leader", newSession("p", "db-db-1", "n", patroni)), func(e *election.Election) {
			e.Terms = terms(5, true, "")
		}), "flapping!"},
		{"a semaphore", semaphore(`{"Limit":1}`), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all := advise(tt.e, nil, []*election.Election{tt.e}, t0)
			if got := codes(all); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			for _, a := range all {
				if a.Why == "" || a.Do == "" || strings.Contains(a.Why+a.Do, "\n") {
					t.Errorf("%+v", a)
				}
			}
		})
	}
}

func TestAdviceCorrectsFlagsWithoutAStepDown(t *testing.T) {
	lock := newSession("695bfbd0-6350", "Consul API Lock", "n", ttl(15*time.Second))
	key := func(key, value, session string) *election.Election {
		e := held(key, value, lock)
		e.Pair.Session = session
		if session == "" {
			e.Session, e.LastSession = nil, lock
		}
		return e
	}
	const s = "695bfbd0-6350"
	for _, tt := range []struct {
		name string
		e    *election.Election
		want string
	}{
		{"held", key("service/web/leader", "web-1\n", s), "without a step-down, while this session holds the key: consul kv put -acquire -session=695bfbd0-6350 -flags=3304740253564472344 -base64 service/web/leader d2ViLTEK"},
		{"held, no value", key("p/.lock", "", s), "without a step-down, while this session holds the key: consul kv put -acquire -session=695bfbd0-6350 -flags=3304740253564472344 p/.lock"},
		{"free", key("service/web/leader", "web-1\n", ""), "while the key is free: consul kv put -cas -modify-index=2 -flags=3304740253564472344 -base64 service/web/leader d2ViLTEK"},
		{"a key that a shell would execute", key("service/$(x)/leader", "v", s), "without a step-down, while this session holds the key: write the same value with ?acquire=695bfbd0-6350&flags=3304740253564472344"},
		{"a key that Consul normalizes to another path", key("service//web/../leader", "v", s), "without a step-down, while this session holds the key: write the same value with ?acquire=695bfbd0-6350&flags=3304740253564472344"},
		{"a key that looks like a flag", key("-http-addr=evil", "v", s), "without a step-down, while this session holds the key: write the same value with ?acquire=695bfbd0-6350&flags=3304740253564472344"},
		{"a long value", key("k", strings.Repeat("v", 121), s), "without a step-down, while this session holds the key: write the same value with ?acquire=695bfbd0-6350&flags=3304740253564472344"},
		{"a long value, free", key("k", strings.Repeat("v", 121), ""), "while the key is free: write the same value with ?cas=2&flags=3304740253564472344"},
	} {
		a := advise(tt.e, nil, nil, t0)[0]
		if want := "find the client that sets these flags, and correct them " + tt.want; a.Code != "lock_flags" || a.Do != want || len(a.Do) > 300 {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, a.Do, want)
		}
		if !strings.Contains(a.Why, "fails immediately") || !strings.Contains(a.Why, "even while the key is held") {
			t.Errorf("%q", a.Why)
		}
	}
}

func TestAdviseOrphans(t *testing.T) {
	both := service("service:web")
	e := led("web", "service/web/leader", newSession("w", "web", "n1", both))
	crowd := func(n int, name, node string, change ...func(*election.Session)) (all []*election.Session) {
		for i := range n {
			all = append(all, newSession(fmt.Sprint(name, node, i), name, node, append(change, both)...))
		}
		return all
	}
	generic := led("x", "service/x/leader", newSession("w", "electop campaign", "n1", both))
	tests := []struct {
		name     string
		e        *election.Election
		sessions []*election.Session
		siblings []election.Pair
		want     string
	}{
		{"three sessions without a key", e, crowd(3, "web", "n1"), nil, "orphaned_sessions"},
		{"two, which may be candidates", e, crowd(2, "web", "n1"), nil, ""},
		{"the leader's session is not an orphan", e, append(crowd(2, "web", "n1"), e.Session), nil, ""},
		{"sessions on other nodes", e, crowd(3, "web", "n2"), nil, ""},
		{"sessions with another name", e, crowd(3, "mail", "n1"), nil, ""},
		{"sessions with a TTL end by themselves", e, crowd(3, "web", "n1", ttl(time.Minute)), nil, ""},
		{"each of two holds a sibling key", e, crowd(4, "web", "n1"), []election.Pair{sibling("service/web/a", "webn10"), sibling("service/web/b", "webn11")}, ""},
		{"one holds two sibling keys", e, crowd(4, "web", "n1"), []election.Pair{sibling("service/web/a", "webn10"), sibling("service/web/b", "webn10")}, "orphaned_sessions"},
		{"a generic name", generic, crowd(5, "electop campaign", "n1"), nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := codes(advise(tt.e, around(tt.e, tt.siblings, tt.sessions...), []*election.Election{tt.e}, t0)); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if got := codes(advise(tt.e, nil, []*election.Election{tt.e}, t0)); got != "" {
				t.Errorf("without sessions: got advice %q, want none", got)
			}
		})
	}
	busy := led("mail", "service/mail/leader", newSession("webn10", "web", "n1", both))
	if got := codes(advise(e, around(e, nil, crowd(3, "web", "n1")...), []*election.Election{e, busy}, t0)); got != "" {
		t.Errorf("advice %q, although one of the three sessions leads another election", got)
	}
}

// The advice must not contain unsanitized text from Consul.
func FuzzAdviceIsSafe(f *testing.F) {
	f.Add("service/web/leader", "web-1", "n\x1b[2J", "service:web\u202e", `{"Limit":2,"Holders":{"\u001b]0;x":true}}`, uint64(0))
	f.Add("jobs/\x1bc/.lock", "Consul API Lock\n", "n1", "c\x00", `{"Holders":{"a":true}}`, election.SemaphoreFlag)
	f.Add("service/x\u200b/leader", "x\u200b-1", "\xff", "", "v", election.LockFlag)
	f.Fuzz(func(t *testing.T, key, name, node, check, value string, flags uint64) {
		s := newSession("a"+name, name, node, service(check))
		e := led(name, key, s)
		e.Pair.Value, e.Pair.Flags, e.Leader = []byte(value), flags, election.LeaderLabel(e.Pair, s)
		e.Terms = terms(5, true, election.Cause(name))
		free := led(name, key, s)
		free.Session, free.LastSession, free.Pair.Session, free.Terms, free.Pair.Flags = nil, s, "", e.Terms, flags
		free.Pair.Value = []byte(value)
		crowd := []*election.Session{s}
		for i := range 4 {
			crowd = append(crowd, newSession(fmt.Sprint(node, i), name, node, service(check+"-2")))
		}
		var out []string
		for _, e := range []*election.Election{e, free} {
			around := around(e, []election.Pair{sibling(election.Parent(key)+name, fmt.Sprint(node, 1)), sibling(election.Parent(key)+node+"2", fmt.Sprint(node, 2))}, crowd...)
			candidates := candidatesOf(e, around, []*election.Election{e, led(check, check, crowd[1])})
			for _, c := range candidates {
				out = append(out, c.Name, c.Reason)
			}
			for _, a := range advise(e, around, []*election.Election{e}, t0) {
				out = append(out, a.Code, a.Why, a.Do)
			}
			if s := election.ReadSemaphore(e, around); s != nil {
				for _, h := range slices.Concat(s.Holders, s.Waiters) {
					out = append(out, h.Session, h.Name, h.Node)
				}
			}
			if s := DetectSoftware(e, around); s != nil {
				out = append(out, s.Name, s.StepDown, s.Otherwise)
			}
			for _, f := range []Effect{
				EffectOf(election.ActionRelease, e, around, len(candidates)), EffectOf(election.ActionDestroy, e, around, len(candidates)),
				EffectOfSession(e.Session, append(around.Siblings, e.Pair), false),
			} {
				out = append(append(out, f.Software), f.sentences()...)
			}
			out = append(out, WhyVacant(e, Facts{Now: t0, Connection: election.Connection{Error: name}}, len(candidates)))
		}
		for _, text := range out {
			if sanitize.Text(text) != text {
				t.Errorf("%q", text)
			}
		}
	})
}

// Advice about a failed leader requires current checks. If its session has a TTL, the advice is to wait.
func TestAdviseFailedLeader(t *testing.T) {
	bare := func(s *election.Session) { s.NodeChecks = nil }
	ttl := func(s *election.Session) { bare(s); s.TTL = 15 * time.Second }
	failed := []election.Check{{ID: "serfHealth", Node: "n1", Status: election.StatusCritical}}
	for _, tt := range []struct {
		change func(*election.Session)
		known  election.NodeChecks
		want   string // the beginning of Why and of Do, empty without this advice
	}{
		{bare, election.NodeChecks{Checks: failed}, "the leader's node n1 has failed; make sure that the leader is not running"},
		{ttl, election.NodeChecks{Checks: failed}, "the leader's node n1 has failed; wait until the session expires"},
		{bare, election.NodeChecks{Checks: failed, Until: t0}, ""},
		{bare, election.NodeChecks{}, ""},
	} {
		e := led("web", "service/web/leader", newSession("w1", "web-1", "n1", tt.change))
		all := NewBoard(nil, nil).WithChecks(map[string]election.NodeChecks{"n1": tt.known}).Advise(e, nil, t0)
		why, do, _ := strings.Cut(tt.want, "; ")
		if got := codes(all); strings.HasPrefix(got, "leader_failed! ") != (why != "") {
			t.Errorf("%+v: %s", tt.known, got)
		} else if why != "" && (!strings.HasPrefix(all[0].Why, why) || !strings.HasPrefix(all[0].Do, do)) {
			t.Errorf("%+v", all[0])
		}
	}
}

func advise(e *election.Election, s *election.Surroundings, board []*election.Election, now time.Time) []Finding {
	var sessions []*election.Session
	if s != nil {
		sessions = s.Sessions
	}
	return NewBoard(board, sessions).Advise(e, s, now)
}
