package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
)

// shown is what `show -o json` adds to an element of `list -o json`.
type shown struct {
	listed
	WhyVacant  string `json:"why_vacant"`
	Candidates []struct {
		Name, Reason string
		Weak         bool
		Session      struct{ ID string }
	}
	Semaphore *struct {
		Limit            int
		Holders, Waiters []struct {
			Session, Name, Node string
			Gone                bool
		}
	}
	Software *struct{ Name, Otherwise string }
	Advice   []struct {
		Code, Why, Do string
		Urgent        bool
	}
	Unread []string
	Probe  *struct {
		State, Session string
		Exists         bool
	}
}

func show1(t *testing.T, w *world, args ...string) shown {
	t.Helper()
	r := w.run(append([]string{"show", "-o", "json"}, args...)...).must(t, exitDone)
	var s shown
	if err := json.Unmarshal([]byte(r.out), &s); err != nil {
		t.Fatalf("%v: %s", err, r.out)
	}
	return s
}

// has fails the test unless the text holds all of the parts.
func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in:\n%s", part, text)
		}
	}
}

// patroni is a session as Patroni makes it.
func patroni(name string) func(*api.SessionEntry) {
	return func(s *api.SessionEntry) {
		s.Name, s.TTL, s.Behavior, s.LockDelay = name, "20s", api.SessionBehaviorDelete, time.Millisecond
	}
}

// cluster is a Patroni cluster of two, led by pg1.
func cluster(w *world, p string) (leader, replica string) {
	leader, replica = w.session(patroni("db-pg1")), w.session(patroni("db-pg2"))
	w.acquire(p+"/db/leader", leader, "pg1")
	w.acquire(p+"/db/members/pg1", leader, `{"conn_url":"postgres://10.0.0.1/postgres"}`)
	w.acquire(p+"/db/members/pg2", replica, `{"conn_url":"postgres://10.0.0.2/postgres"}`)
	return leader, replica
}

func TestShowKnowsPatroni(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		p := prefix(t)
		_, replica := cluster(w, p)
		s := show1(t, w, "db", "-k", p+"/*/leader")
		if len(s.Candidates) != 1 || s.Candidates[0].Name != "pg2" || s.Candidates[0].Session.ID != replica || s.Candidates[0].Weak {
			t.Errorf("%+v", s.Candidates)
		}
		if s.Software == nil || s.Software.Name != "Patroni" || len(s.Advice) != 0 || s.WhyVacant != "" {
			t.Errorf("%+v %+v %q", s.Software, s.Advice, s.WhyVacant)
		}
		if s.Session == nil || s.Leader != "pg1" {
			t.Errorf("what list tells is missing: %+v", s)
		}
		r := w.run("show", "db", "-k", p+"/*/leader").must(t, exitDone)
		has(t, r.out, "Likely next", "pg2 (holds "+p+"/db/members/pg2)", "patronictl switchover db", "Release  ", "Destroy  ")
	})
}

func TestShowSaysWhyNobodyLeads(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		p := prefix(t)
		key := p + "/billing/leader"
		s := w.session(func(s *api.SessionEntry) { s.Name = "something else" })
		w.acquire(key, s, "billing-1")
		w.unlock(key, s)
		got := show1(t, w, "billing", "-k", p+"/*/leader")
		has(t, got.WhyVacant, "No leader when electop started", "No candidate was seen.")
		w.session(func(s *api.SessionEntry) { s.Name = "billing-2" })
		got = show1(t, w, "billing", "-k", p+"/*/leader")
		has(t, got.WhyVacant, "A lock-delay may still be active.", "1 likely candidate seen")
		r := w.run("show", "billing", "-k", p+"/*/leader").must(t, exitDone)
		has(t, r.out, "Why ", "billing-2 on ", "named after the election: billing-2")
	})
}

func TestShowKnowsSemaphores(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		p := prefix(t)
		held, err := w.client.SemaphorePrefix(p+"/gpu", 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := held.Acquire(nil); err != nil {
			t.Fatal(err)
		}
		defer held.Release()
		waiter := w.session(func(s *api.SessionEntry) { s.Name, s.Behavior = "waiter", api.SessionBehaviorDelete })
		w.acquire(p+"/gpu/"+waiter, waiter, "")
		got := show1(t, w, p+"/gpu/.lock", "-k", p+"/*/.lock")
		s := got.Semaphore
		if s == nil || s.Limit != 1 || len(s.Holders) != 1 || s.Holders[0].Gone || len(s.Waiters) != 1 || s.Waiters[0].Session != waiter {
			t.Fatalf("%+v", s)
		}
		if len(got.Candidates) != 1 || got.Candidates[0].Session.ID != waiter {
			t.Errorf("%+v", got.Candidates)
		}
		has(t, got.WhyVacant, "1 of 1 slots are taken")
		if _, err := w.client.KV().DeleteTree(p+"/gpu/"+s.Holders[0].Session, nil); err != nil {
			t.Fatal(err)
		}
		r := w.run("show", "gpu", "-k", p+"/*/.lock").must(t, exitDone)
		has(t, r.out, "limit 1, 0 held, 1 gone, 1 waiting", "(gone: its slot is free for the next)", "waiter     "+waiter, "a semaphore has holders, no leader")
	})
}

func TestShowProbesTheLockDelay(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		p := prefix(t)
		key := p + "/web/leader"
		s := w.session(func(s *api.SessionEntry) { s.LockDelay = time.Minute })
		w.acquire(key, s, "web-1")
		// What the probe says replaces what was inferred before.
		probe := func(why string) (state, session string) {
			got := show1(t, w, "web", "--probe", "-k", p+"/*/leader")
			if got.Probe == nil {
				t.Fatal("no probe")
			}
			if !strings.Contains(got.WhyVacant, why) || (why == "") != (got.WhyVacant == "") || strings.Contains(got.WhyVacant, "may still be active") {
				t.Errorf("%s: %q", got.Probe.State, got.WhyVacant)
			}
			return got.Probe.State, got.Probe.Session
		}
		if state, session := probe(""); state != "held" || session != s {
			t.Error(state, session)
		}
		w.unlock(key, s)
		if state, _ := probe("No lock-delay is active: a candidate can acquire the key now."); state != "free" {
			t.Error(state)
		}
		w.acquire(key, s, "web-1")
		if _, err := w.client.Session().Destroy(s, nil); err != nil {
			t.Fatal(err)
		}
		if state, _ := probe("A lock-delay is active: Consul rejects every acquire."); state != "delayed" {
			t.Error(state)
		}
		r := w.run("show", "web", "--probe", "-k", p+"/*/leader").must(t, exitDone)
		has(t, r.out, "a lock-delay is active: Consul rejects every acquire")
		if got := show1(t, w, "web", "-k", p+"/*/leader"); got.Probe != nil {
			t.Error("a probe that nobody asked for")
		}
	})
}

func TestListAdvice(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		p := prefix(t)
		good := w.session(func(s *api.SessionEntry) { s.Name, s.TTL, s.LockDelay = "good", "20s", 15*time.Second })
		bad := w.session(func(s *api.SessionEntry) { s.Name, s.LockDelay = "bad", time.Millisecond })
		w.acquire(p+"/good/leader", good, "good")
		w.acquire(p+"/bad/leader", bad, "bad")
		if _, err := w.client.KV().Put(&api.KVPair{Key: p + "/bad/leader", Value: []byte("x")}, nil); err != nil {
			t.Fatal(err)
		}
		r := w.run("list", "--advice", "-o", "json", "-k", p+"/*/leader").must(t, exitDone)
		var all []struct {
			Election, Key, Code, Why, Do string
			Urgent                       bool
		}
		if err := json.Unmarshal([]byte(r.out), &all); err != nil {
			t.Fatalf("%v: %s", err, r.out)
		}
		var codes []string
		for _, a := range all {
			codes = append(codes, a.Election+" "+a.Code)
			if a.Key != p+"/"+a.Election+"/leader" || a.Why == "" || a.Do == "" {
				t.Errorf("%+v", a)
			}
		}
		if want := []string{"bad overwritten", "bad no_checks", "bad short_lock_delay", "good no_checks"}; !slices.Equal(codes, want) {
			t.Errorf("%v, want %v", codes, want)
		}
		table := w.run("list", "--advice", "bad", "-k", p+"/*/leader").must(t, exitDone)
		has(t, table.out, "ELECTION", "URGENT", "overwritten", "urgent")
		if strings.Contains(table.out, "good") {
			t.Errorf("an election that was not asked for: %s", table.out)
		}
	})
	w := onMemory(t)
	if r := w.run("list", "--advice", "-o", "json").must(t, exitDone); r.out != "[]\n" {
		t.Errorf("%q", r.out)
	}
	r := w.run("list", "--advice").must(t, exitDone)
	has(t, r.errOut, "nothing to advise")
}

// What could not be read is told in plain words, and never taken for nothing.
func TestInsightTellsWhatItDoesNotKnow(t *testing.T) {
	now := time.Now()
	e := &election.Election{Name: "web", Exists: true, Pair: election.Pair{Key: "service/web/leader"}, VacantSince: now}
	s := &election.Snapshot{At: now, Elections: []*election.Election{e}}
	in := newInsight(s, e, election.Surroundings{Key: e.Key(), SessionsErr: "sessions: not readable\x1b[2J"})
	var b bytes.Buffer
	if err := writeElection(&b, e, nil, in, now); err != nil {
		t.Fatal(err)
	}
	has(t, b.String(), "No candidate has acquired the key.", "not known: sessions: not readable␛[2J")
	if strings.Contains(in.why, "candidate seen") {
		t.Error(in.why)
	}
	if got := in.next(); !strings.Contains(got, "not known") {
		t.Errorf("%q", got)
	}
	text, err := json.Marshal(in)
	if err != nil || !strings.Contains(string(text), `"candidates":[]`) || !strings.Contains(string(text), `"advice":[]`) {
		t.Errorf("%v %s", err, text)
	}
}

func TestSemaphoreWhoseContendersWereNotRead(t *testing.T) {
	in := assessment{semaphore: &election.Semaphore{Limit: 2}}
	var text strings.Builder
	in.semaphoreRows(func(label, format string, args ...any) { fmt.Fprintf(&text, label+": "+format+"\n", args...) })
	has(t, text.String(), "limit 2", ": Unknown: waiters and holders that are gone.\n")
}

func TestProbeText(t *testing.T) {
	for _, tt := range []struct {
		probe consulx.ProbeResult
		want  string
	}{
		{consulx.ProbeResult{State: consulx.LockHeld, Session: "a\x1bb"}, "held by session a␛b"},
		{consulx.ProbeResult{State: consulx.LockDelayed}, "a lock-delay is active: Consul rejects every acquire"},
		{consulx.ProbeResult{State: consulx.LockFree}, "free: no lock-delay is active; the next candidate that acquires the key creates it and leads"},
		{consulx.ProbeResult{State: consulx.LockFree, Exists: true}, "free: no lock-delay is active; the next candidate that acquires the key leads"},
	} {
		if text := probeText(tt.probe); text != tt.want {
			t.Errorf("%q, want %q", text, tt.want)
		}
	}
}

// Between the read and the probe the lock may have moved.
func TestAProbeAfterTheLockMoved(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	led := &election.Election{Exists: true, Pair: election.Pair{Key: "k", Session: "s"}}
	vacant := &election.Election{Exists: true, Pair: election.Pair{Key: "k"}}
	for _, tt := range []struct {
		e     *election.Election
		found consulx.ProbeResult
		why   string
	}{
		{led, consulx.ProbeResult{State: consulx.LockHeld, Session: "s"}, ""},
		{led, consulx.ProbeResult{State: consulx.LockFree, Exists: true}, "The leader lost the key after electop read it: free: no lock-delay is active"},
		{vacant, consulx.ProbeResult{State: consulx.LockHeld, Session: "s2"}, "There was no leader when electop read the key; it is now held by session s2."},
	} {
		in := newInsight(&election.Snapshot{At: at, Elections: []*election.Election{tt.e}}, tt.e, election.Surroundings{Key: "k"})
		in.probed(tt.found)
		if !strings.HasPrefix(in.why, tt.why) || (tt.why == "") != (in.why == "") {
			t.Errorf("%s: %q, want %q", tt.found.State, in.why, tt.why)
		}
	}
}
