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
	for _, tt := range []struct{ name, e, want string }{
		{"no advice", "WEB | a, web-1, n1, 15s", ""},
		{"no advice for a service check and a node check", "WEB | a, web-1, n1, service:web-1", ""},
		{"no checks and no TTL", "WEB | a, web-1, n1, unchecked", "no_checks!"},
		{"no checks", "WEB | a, web-1, n1, unchecked, 15s", "no_checks"},
		{"node checks only", "WEB | a, web-1, n1", "node_checks_only"},
		{"a node check that may watch the process", "WEB | a, web-1, n1, alive", ""},
		{"service checks only", "WEB | a, web-1, n1, unchecked, service:web-1", "service_checks_only"},
		{"no lock-delay", "WEB | a, web-1, n1, 15s, delay=0s", "short_lock_delay"},
		{"a lock-delay of 1 ms", "WEB | a, web-1, n1, 15s, delay=1ms", "short_lock_delay"},
		{"no lock-delay, but the key is deleted", "WEB | a, web-1, n1, 15s, delay=0s, delete", ""},
		{"overwritten", "WEB overwritten | a, web-1, n1, 15s", "overwritten!"},
		{"overwritten twice", "WEB overwritten:flags_3304740253564472344_→_5 | a, web-1, n1, 15s", "overwritten! lock_flags!"},
		{"urgent advice is first", "WEB overwritten | a, web-1, n1", "overwritten! node_checks_only"},
		{"vacant", "WEB ended | a, web-1, n1", ""},
		{"a session that was not read", "WEB", ""},
		{"the key no longer exists", "WEB gone | a, web-1, n1", ""},
		{"4 leaders in 10 minutes", "WEB terms:4 | a, web-1, n1, 15s", "flapping!"},
		{"3 leaders in 10 minutes", "WEB terms:3 | a, web-1, n1, 15s", ""},
		{"4 changes by an operator", "WEB released:5 | a, web-1, n1, 15s", ""},
		{"12 leaders, 3 of them in the window", "WEB terms:12 early:9 | a, web-1, n1, 15s", ""},
		{"Patroni's design", "service/db/leader db-1 | a, db-db-1, n, patroni", ""},
		{"a Patroni cluster that flaps", "service/db/leader db-1 terms:5 | a, db-db-1, n, patroni", "flapping!"},
		{"a semaphore", `jobs/gpu/.lock {"Limit":1} semaphore ended`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := heldOf(strings.Replace(tt.e, "WEB", "service/web/leader web-1", 1))
			all := advise(e, nil, []*election.Election{e}, t0)
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
	const (
		held = "without a step-down, while this session holds the key: "
		free = "while the key is free: "
		raw  = held + "write the same value with ?acquire=695bfbd0-6350&flags=3304740253564472344"
	)
	for _, tt := range []struct{ name, key, want string }{
		{"held", "service/web/leader web-1", held + "consul kv put -acquire -session=695bfbd0-6350 -flags=3304740253564472344 -base64 service/web/leader d2ViLTE="},
		{"held, no value", "p/.lock -", held + "consul kv put -acquire -session=695bfbd0-6350 -flags=3304740253564472344 p/.lock"},
		{"free", "service/web/leader web-1 ended", free + "consul kv put -cas -modify-index=2 -flags=3304740253564472344 -base64 service/web/leader d2ViLTE="},
		{"a key that a shell would execute", "service/$(x)/leader v", raw},
		{"a key that Consul normalizes to another path", "service//web/../leader v", raw},
		{"a key that looks like a flag", "-http-addr=evil v", raw},
		{"a long value", "k " + strings.Repeat("v", 121), raw},
		{"a long value, free", "k " + strings.Repeat("v", 121) + " ended", free + "write the same value with ?cas=2&flags=3304740253564472344"},
	} {
		a := advise(heldOf(tt.key+" | 695bfbd0-6350, Consul API Lock, n, 15s"), nil, nil, t0)[0]
		if want := "find the client that sets these flags, and correct them " + tt.want; a.Code != "lock_flags" || a.Do != want || len(a.Do) > 300 {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, a.Do, want)
		}
		if !strings.Contains(a.Why, "fails immediately") || !strings.Contains(a.Why, "even while the key is held") {
			t.Errorf("%q", a.Why)
		}
	}
}

func TestAdviseOrphans(t *testing.T) {
	const web, orphaned = "web service/web/leader | w, web, n1, service:web", "orphaned_sessions"
	for _, tt := range []struct{ name, e, sessions, want string }{
		{"three sessions without a key", web, "3 web, n1", orphaned},
		{"two, which may be candidates", web, "2 web, n1", ""},
		{"the leader's session is not an orphan", web, "2 web, n1; w, web, n1, service:web", ""},
		{"sessions on other nodes", web, "3 web, n2", ""},
		{"sessions with another name", web, "3 mail, n1", ""},
		{"sessions with a TTL end by themselves", web, "3 web, n1, 1m", ""},
		{"a generic name", "x service/x/leader | w, electop campaign, n1, service:web", "5 electop campaign, n1", ""},
		{"one leads another election", "web service/web/leader | w, web, n1, service:web; mail service/mail/leader | 0, web, n1, service:web", "3 web, n1", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var all []*election.Election
			for _, item := range items(tt.e) {
				all = append(all, electionOf(item))
			}
			like, others, _ := strings.Cut(tt.sessions, "; ")
			count, like, _ := strings.Cut(like, " ")
			sessions := sessionsOf(others)
			for i := range count[0] - '0' {
				sessions = append(sessions, sessionOf(fmt.Sprint(i, ", ", like, ", service:web")))
			}
			if got := codes(advise(all[0], around(all[0], nil, sessions...), all, t0)); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if got := codes(advise(all[0], nil, all, t0)); got != "" {
				t.Errorf("without sessions: got advice %q, want none", got)
			}
		})
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
			out = append(out, (*Board)(nil).WhyVacant(e, Facts{Now: t0, Connection: election.Connection{Error: name}}, len(candidates)))
		}
		for _, text := range out {
			if sanitize.Text(text) != text {
				t.Errorf("%q", text)
			}
		}
	})
}

func advise(e *election.Election, s *election.Surroundings, board []*election.Election, now time.Time) []Finding {
	var sessions []*election.Session
	if s != nil {
		sessions = s.Sessions
	}
	return NewBoard(board, sessions).Advise(e, s, now)
}
