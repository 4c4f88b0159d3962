package tracker

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"electop/election"
)

// until is when the recorded elections were last observed.
var until = t0.Add(-20 * time.Minute)

// recordedWeb returns the election web from a history. If session is empty, the term ended five minutes before until.
func recordedWeb(session string, lock, create, modify uint64) *election.Election {
	start, end := until.Add(-time.Hour), until.Add(-5*time.Minute)
	term := election.Term{Number: lock, CreateIndex: create, Session: session, Leader: "web-1", Node: "n1", Start: start, StartKnown: true}
	e := &election.Election{
		Name: "web", Datacenter: "dc1", Exists: true, RecordedUntil: until, Term: lock,
		Pair: election.Pair{Key: "service/web/leader", Session: session, LockIndex: lock, CreateIndex: create, ModifyIndex: modify},
	}
	if session != "" {
		e.Leader, e.Since, e.SinceKnown = term.Leader, term.Start, true
	} else {
		term.Session, term.End, term.Cause, term.Evidence = "old", end, election.CheckCritical, "HTTP GET … 503"
		e.VacantSince, e.VacantSinceKnown, e.LockDelayUntil = end, true, t0.Add(time.Minute)
	}
	e.Terms = []election.Term{term}
	return e
}

func (s *scene) recall(es ...*election.Election) {
	s.observe(election.HistoryRead{At: s.now, Elections: es})
}

func TestRecordedElectionsContinue(t *testing.T) {
	const none = ""
	changed := func(e *election.Election, change func(*election.Election)) *election.Election { change(e); return e }
	deleted := func(e *election.Election) { e.Exists = false }
	unreadable := func(e *election.Election) { e.Unreadable = true }
	semaphore := func(value string) election.Pair {
		return election.Pair{Key: "service/web/leader", Flags: election.SemaphoreFlag, Value: []byte(value), CreateIndex: 10, ModifyIndex: 50}
	}
	recordedSemaphore := func(e *election.Election) {
		e.Terms, e.Pair = nil, semaphore(`{"Limit":2,"Holders":{"a":true}}`)
		e.VacantSince, e.VacantSinceKnown, e.LockDelayUntil = time.Time{}, false, time.Time{}
	}
	one := func(p election.Pair) []election.Pair { return []election.Pair{p} }
	since, vacant := until.Add(-time.Hour), until.Add(-5*time.Minute)
	type want struct {
		events  string
		state   election.State
		since   time.Time // start of the term or the vacancy
		known   bool
		changes int // number of terms, including those that have ended
	}
	now := t0.Add(time.Second)
	tests := []struct {
		name     string
		recorded *election.Election
		read     []election.Pair
		want     want
	}{
		{"the same term", recordedWeb("a", 3, 10, 20), one(web("a", 3, 10, 25, "v")), want{"elected(3)", election.Led, since, true, 1}},
		{"overwritten since", recordedWeb("a", 3, 10, 20), one(web("a", 0, 10, 25, "v")), want{"overwritten(3)", election.Led, since, true, 1}},
		{
			"overwritten before", changed(recordedWeb("a", 3, 10, 20), func(e *election.Election) { e.Pair.LockIndex = 0 }), one(web("a", 0, 10, 25, "v")),
			want{"elected(3)", election.Led, since, true, 1},
		},
		{"another holder", recordedWeb("a", 3, 10, 20), one(web("b", 4, 10, 30, "v")), want{"vacated(3) elected(4)", election.Led, now, false, 2}},
		{"vacant now", recordedWeb("a", 3, 10, 20), one(web(none, 3, 10, 30, "v")), want{"vacated(3)", election.Vacant, now, false, 1}},
		{"still vacant", recordedWeb(none, 3, 10, 20), one(web(none, 3, 10, 30, "v")), want{"vacated(3)", election.InLockDelay, vacant, true, 1}},
		{"led again", recordedWeb(none, 3, 10, 20), one(web("b", 4, 10, 30, "v")), want{"elected(4)", election.Led, now, false, 2}},
		{"deleted", recordedWeb("a", 3, 10, 20), nil, want{"vacated(3) deleted(3)", election.Vacant, now, false, 1}},
		{"deleted before", changed(recordedWeb(none, 3, 10, 20), deleted), nil, want{"", election.InLockDelay, vacant, true, 1}},
		{"deleted and created again", recordedWeb("a", 3, 10, 20), one(web("b", 1, 40, 40, "v")), want{"vacated(3) deleted(3) elected(1)", election.Led, now, false, 2}},
		{"restored", recordedWeb("a", 9, 10, 90), one(web("b", 3, 10, 20, "v")), want{"vacated(9) elected(3)", election.Led, now, false, 2}},
		{"readable again", changed(recordedWeb("a", 3, 10, 20), unreadable), one(web("a", 3, 10, 20, "v")), want{"readable(3)", election.Led, since, true, 1}},
		{"a semaphore", changed(recordedWeb(none, 0, 10, 20), recordedSemaphore), one(semaphore(`{"Limit":2,"Holders":{"a":true}}`)), want{"entered(0)", election.OfSemaphore, time.Time{}, false, 0}},
		{
			"a semaphore with another holder", changed(recordedWeb(none, 0, 10, 20), recordedSemaphore), one(semaphore(`{"Limit":2,"Holders":{"b":true}}`)),
			want{"left(0) entered(0)", election.OfSemaphore, time.Time{}, false, 0},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			s.observe(election.DatacenterRead{At: s.now, Datacenter: "dc1"})
			s.recall(tt.recorded)
			if e := s.web(); !e.Recorded() || !s.tracker.Snapshot(s.now).RecordedUntil.Equal(until) || s.tracker.Loaded() {
				t.Fatalf("before the first read: got %+v, want a recorded election in a snapshot that is not loaded", e)
			}
			events := s.read(tt.read...)
			e := s.web()
			if got := brief(events); got != tt.want.events {
				t.Errorf("events %q, want %q", got, tt.want.events)
			}
			from, known := e.Since, e.SinceKnown
			if e.Leader == "" {
				from, known = e.VacantSince, e.VacantSinceKnown
			}
			if got := (want{brief(events), e.State(s.now), from, known, len(e.Terms)}); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if snap := s.tracker.Snapshot(s.now); e.Recorded() || !snap.RecordedUntil.IsZero() || !snap.Loaded {
				t.Errorf("after the first read: RecordedUntil is %s in the election, %s in the snapshot; want zero", e.RecordedUntil, snap.RecordedUntil)
			}
			for _, ev := range events {
				if !ev.Initial && ev.Type != election.Readable && !ev.Gap {
					t.Errorf("the event %s after the recorded state has no Gap", ev.Type)
				}
			}
			for _, ev := range s.read(tt.read...) {
				if ev.Type != election.Explained {
					t.Errorf("a second read without a change caused the event %s", ev.Type)
				}
			}
		})
	}
}

// The history also contains the settings of a session that ended while no observer was running.
func TestRecordedTermThatEndedUnobserved(t *testing.T) {
	s := newScene(t)
	past := recordedWeb("a", 3, 10, 20)
	past.Session = session(func(s *election.Session) { s.TTL = time.Minute })
	past.Leader = "" // an event must name the session without a label, too
	s.recall(past)
	events := s.read(web("", 3, 10, 30, "web-1"))
	if events[0].Session != "a" || events[0].Leader == "" {
		t.Errorf("the event lacks the session or the leader: %+v", events[0])
	}
	e, ended := s.web(), s.web().LastTerm()
	if ended.SeenUntil != until || ended.End != s.now || ended.Held(s.now) != time.Hour || !events[0].Gap || events[0].HeldKnown {
		t.Errorf("got the term %+v and the event %+v; want a term of 1h that ended in a gap", ended, events[0])
	}
	if e.LastSession == nil || e.LastSession.ID != "a" {
		t.Errorf("LastSession is %+v, want session a", e.LastSession)
	}
	s.observe(election.TermEvidence{At: s.now, Event: events[0], Outcome: election.Evidence{
		SessionRead: true, SessionsIndex: 30, ChecksRead: true, NodeExists: true, Checks: checks(election.StatusPassing, election.StatusPassing),
	}})
	if cause := s.web().LastTerm().Cause; cause != election.SessionExpiredOrDestroyed {
		t.Errorf("cause %q", cause)
	}
}

// The terms of a key that was created while no observer was running are counted.
func TestAKeyCreatedWhileNoObserverWasRunning(t *testing.T) {
	for name, tt := range map[string]struct {
		create uint64
		want   string
	}{
		"after the recorded observation": {200, "[missed 2 elected 0]"}, "before": {50, "[elected 0]"},
	} {
		s := newScene(t)
		ps, err := election.ParsePatterns(nil)
		if err != nil {
			t.Fatal(err)
		}
		s.observe(election.HistoryRead{At: s.now, Parts: []election.RecordedPart{{Patterns: ps, Until: s.now.Add(-time.Minute), Newest: 100}}})
		var got []string
		for _, e := range s.observe(election.KeysRead{At: s.now, Range: election.PrefixRange("service/"), Pairs: []election.Pair{
			{Key: "service/new/leader", Session: "s1", CreateIndex: tt.create, LockIndex: 3, ModifyIndex: 300},
		}}) {
			got = append(got, fmt.Sprint(e.Type, " ", e.Count))
			if e.Initial == (name != "before") || e.Gap != (name != "before") {
				t.Errorf("%s: %+v", name, e)
			}
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%s: %v, want %s", name, got, tt.want)
		}
	}
}

func TestRecordedTextsAreSafe(t *testing.T) {
	const evil = "a\x1b[2J\u202e"
	e := recordedWeb("", 3, 10, 20)
	e.Leader, e.Session = evil, &election.Session{ID: "a", Name: evil, Node: evil}
	term := &e.Terms[0]
	term.Leader, term.Evidence, term.Node, term.Cause = evil, evil, evil, election.Cause(evil)
	s := newScene(t)
	s.recall(e)
	s.read(web("a", 4, 10, 21, ""))
	got := s.web()
	if text := fmt.Sprintf("%s %+v %+v", got.Leader, got.Terms, got.Session); strings.ContainsAny(text, "\x1b\u202e") || got.Session == nil {
		t.Errorf("%q", text)
	}
}
