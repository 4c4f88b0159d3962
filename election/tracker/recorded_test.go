package tracker

import (
	"fmt"
	"math/rand/v2"
	"slices"
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
		{"the same write", recordedWeb("a", 3, 10, 20), one(web("a", 3, 10, 20, "")), want{"elected(3)", election.Led, since, true, 1}},
		{"overwritten since", recordedWeb("a", 3, 10, 20), one(web("a", 0, 10, 25, "v")), want{"overwritten(3)", election.Led, since, true, 1}},
		{
			"overwritten before", changed(recordedWeb("a", 3, 10, 20), func(e *election.Election) { e.Pair.LockIndex = 0 }), one(web("a", 0, 10, 25, "v")),
			want{"elected(3)", election.Led, since, true, 1},
		},
		{"another holder", recordedWeb("a", 3, 10, 20), one(web("b", 4, 10, 30, "v")), want{"vacated(3) elected(4)", election.Led, now, false, 2}},
		{"another holder, terms missed", recordedWeb("a", 3, 10, 20), one(web("b", 9, 10, 30, "v")), want{"vacated(3) missed(×5) elected(9)", election.Led, now, false, 2}},
		{"the same session again", recordedWeb("a", 3, 10, 20), one(web("a", 4, 10, 30, "v")), want{"vacated(3) elected(4)", election.Led, now, false, 2}},
		{"vacant now", recordedWeb("a", 3, 10, 20), one(web(none, 3, 10, 30, "v")), want{"vacated(3)", election.Vacant, now, false, 1}},
		{"still vacant", recordedWeb(none, 3, 10, 20), one(web(none, 3, 10, 30, "v")), want{"vacated(3)", election.InLockDelay, vacant, true, 1}},
		{"vacant, terms missed", recordedWeb(none, 3, 10, 20), one(web(none, 5, 10, 30, "v")), want{"missed(×2)", election.Vacant, now, false, 1}},
		{"led again", recordedWeb(none, 3, 10, 20), one(web("b", 4, 10, 30, "v")), want{"elected(4)", election.Led, now, false, 2}},
		{"deleted", recordedWeb("a", 3, 10, 20), nil, want{"vacated(3) deleted(3)", election.Vacant, now, false, 1}},
		{"deleted before", changed(recordedWeb(none, 3, 10, 20), deleted), nil, want{"", election.InLockDelay, vacant, true, 1}},
		{"deleted and created again", recordedWeb("a", 3, 10, 20), one(web("b", 1, 40, 40, "v")), want{"vacated(3) deleted(3) elected(1)", election.Led, now, false, 2}},
		{"created again after its deletion", changed(recordedWeb(none, 3, 10, 20), deleted), one(web("b", 1, 40, 40, "v")), want{"elected(1)", election.Led, now, false, 2}},
		{"restored", recordedWeb("a", 9, 10, 90), one(web("b", 3, 10, 20, "v")), want{"vacated(9) elected(3)", election.Led, now, false, 2}},
		{"restored, the same term", recordedWeb("a", 9, 10, 90), one(web("a", 9, 10, 80, "v")), want{"elected(9)", election.Led, since, true, 1}},
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

func TestRecordedTermThatEndedUnobserved(t *testing.T) {
	s := newScene(t)
	s.recall(recordedWeb("a", 3, 10, 20))
	s.sessions(&election.Session{ID: "a", Name: "web", Node: "n1", LockDelay: 15 * time.Second})
	events := s.read(web("", 3, 10, 30, "web-1"))
	e, ended := s.web(), s.web().LastTerm()
	if ended.SeenUntil != until || ended.End != s.now || ended.Held(s.now) != time.Hour || !events[0].Gap || events[0].HeldKnown {
		t.Errorf("got the term %+v and the event %+v; want a term of 1h that ended in a gap", ended, events[0])
	}
	if e.LastSession == nil || e.LastSession.ID != "a" {
		t.Errorf("LastSession is %+v, want session a", e.LastSession)
	}
	s.observe(election.TermEvidence{At: s.now, Event: events[0], Outcome: election.Evidence{SessionRead: true, SessionExists: true}})
	if cause := s.web().LastTerm().Cause; cause != election.Released {
		t.Errorf("cause %q", cause)
	}
}

func TestRecordedHolderIsNamedByItsSession(t *testing.T) {
	s := newScene(t)
	s.recall(recordedWeb("a", 3, 10, 20))
	s.read(web("a", 3, 10, 25, ""))
	s.sessions(&election.Session{ID: "a", Name: "web", Node: "n2"})
	if e := s.web(); e.Session == nil || e.Leader != "web on n2" || e.Terms[0].Node != "n2" {
		t.Errorf("%+v", e)
	}
}

func TestRecordedElectionsThatAreNotShown(t *testing.T) {
	other := recordedWeb("a", 3, 10, 20)
	other.Pair.Key = "other/web"
	elsewhere := recordedWeb("a", 3, 10, 20)
	elsewhere.Datacenter = "dc2"
	timeless := recordedWeb("a", 3, 10, 20)
	timeless.RecordedUntil = time.Time{}
	s := newScene(t)
	s.observe(election.DatacenterRead{At: s.now, Datacenter: "dc1"})
	s.recall(other, elsewhere, timeless)
	if snap := s.tracker.Snapshot(s.now); len(snap.Elections) > 0 {
		t.Errorf("%+v", snap.Elections[0])
	}
}

func TestRecordedDatacenter(t *testing.T) {
	s := newScene(t)
	newer := recordedWeb("b", 5, 11, 21)
	newer.Datacenter, newer.RecordedUntil = "dc2", until.Add(time.Minute)
	s.recall(recordedWeb("a", 3, 10, 20), newer)
	if e := s.web(); e.Datacenter != "dc2" {
		t.Errorf("before the datacenter is known: got the datacenter %s, want dc2", e.Datacenter)
	}
	s.observe(election.DatacenterRead{At: s.now, Datacenter: "dc1"})
	if snap := s.tracker.Snapshot(s.now); len(snap.Elections) != 1 || snap.Elections[0].Datacenter != "dc1" || !snap.RecordedUntil.Equal(until) {
		t.Errorf("%+v", snap)
	}
}

func TestRecordedElectionsAfterTheFirstRead(t *testing.T) {
	s := newScene(t)
	s.read(web("b", 5, 10, 30, "web-2"))
	s.recall(recordedWeb("a", 3, 10, 20))
	if e := s.web(); e.Recorded() || e.Pair.Session != "b" || len(s.tracker.Snapshot(s.now).Elections) != 1 {
		t.Errorf("%+v", e)
	}
}

// A filtered response does not prove that a key was deleted.
func TestRecordedElectionThatTheTokenMayNotRead(t *testing.T) {
	s := newScene(t)
	s.recall(recordedWeb("a", 3, 10, 20))
	events := s.observe(election.KeysRead{At: s.now, Range: election.PrefixRange("service/"), Filtered: true})
	if snap := s.tracker.Snapshot(s.now); len(snap.Elections) > 0 || len(events) > 0 || !snap.RecordedUntil.IsZero() {
		t.Errorf("%+v, %s", snap, brief(events))
	}
}

func TestRecordedElectionsThatWereDeletedLongAgo(t *testing.T) {
	long := until.Add(-2 * keepDeleted)
	old, gone := recordedWeb("a", 3, 10, 20), recordedWeb("", 3, 10, 20)
	old.RecordedUntil = long
	gone.Pair.Key, gone.Exists, gone.VacantSince = "service/mail/leader", false, long
	s := newScene(t)
	s.recall(gone, old)
	if snap := s.tracker.Snapshot(s.now); len(snap.Elections) != 1 {
		t.Errorf("%d elections, want only the election that was not deleted", len(snap.Elections))
	}
	events := s.read()
	if snap := s.tracker.Snapshot(s.now); len(snap.Elections) > 0 || !snap.RecordedUntil.IsZero() {
		t.Errorf("%+v", snap.Elections)
	}
	if got := brief(events); got != "vacated(3) deleted(3)" {
		t.Errorf("events %q", got)
	}
}

func TestRecordedTextsAreSafe(t *testing.T) {
	e := recordedWeb("", 3, 10, 20)
	e.Terms[0].Leader, e.Terms[0].Evidence, e.Terms[0].Node = "a\x1b[2J", "b\x1b]0;x\a", "n\u202e1"
	s := newScene(t)
	s.recall(e)
	if got := s.web().Terms[0]; got.Leader == e.Terms[0].Leader || got.Evidence == e.Terms[0].Evidence || got.Node == e.Terms[0].Node {
		t.Errorf("%+v", got)
	}
}

// A recorded election must continue like an election that was observed until the beginning of a gap.
func TestRecordedElectionsContinueLikeAfterAGap(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		pair, index, exists := web("a", 1, 10, 20, "v"), uint64(20), true
		change := func() {
			index += 1 + r.Uint64N(5)
			session := string(rune('a' + r.IntN(4)))
			switch n := r.IntN(7); {
			case !exists && n < 4:
				pair, exists = web(session, 1, index, index, "v"), true
			case !exists:
				pair, exists = web("", 0, index, index, "v"), true
			case n < 2 && pair.Session == "":
				pair.Session = session
				pair.LockIndex++
			case n < 4:
				pair.Session = ""
			case n == 4:
				pair.LockIndex = 0
			case n == 5:
				exists = false
			}
			pair.ModifyIndex = index
		}
		read := func(s *scene, afterGap bool) []election.Event {
			s.now = s.now.Add(time.Minute)
			o := election.KeysRead{At: s.now, Range: election.PrefixRange("service/"), AfterGap: afterGap}
			if exists {
				o.Pairs = []election.Pair{pair}
			}
			return s.observe(o)
		}
		a := newScene(t)
		a.observe(election.LinkUp{At: a.now, Source: "probe"})
		for range 1 + r.IntN(4) {
			read(a, false)
			change()
		}
		for range r.IntN(3) {
			change()
		}
		seen := a.tracker.Snapshot(a.now).Elections
		b := newScene(t)
		b.now = a.now
		var recorded []*election.Election
		for _, e := range seen {
			n := *e
			n.Pair.Value, n.Session, n.LastSession, n.Events, n.RecordedUntil = nil, nil, nil, nil, a.now
			recorded = append(recorded, &n)
		}
		b.recall(recorded...)
		a.observe(election.LinkUp{At: a.now, Source: "probe"})
		a.observe(election.LinkLost{At: a.now, Source: "probe", Error: "x", RetryAt: a.now})
		a.observe(election.LinkUp{At: a.now, Source: "probe"})
		was, is := live(read(a, true)), live(read(b, false))
		if len(seen) > 0 && (was != is || row(a) != row(b)) {
			t.Fatalf("seed %d\nafter a gap: %s, %s\nrecorded:    %s, %s", seed, was, row(a), is, row(b))
		}
	}
}

// live formats the events that are not initial.
func live(events []election.Event) string {
	return brief(slices.DeleteFunc(slices.Clone(events), func(e election.Event) bool { return e.Initial || e.Type == election.Explained }))
}

// row formats the data that the dashboard shows.
func row(s *scene) string {
	e := s.web()
	text := fmt.Sprint(e.State(s.now), e.Exists, e.Leader, e.Term, e.Since, e.SinceKnown, e.VacantSince, e.VacantSinceKnown, e.Pair.Session, e.Pair.LockIndex, e.Pair.CreateIndex)
	for _, t := range e.Terms {
		text += fmt.Sprint("; ", t.Number, t.CreateIndex, t.Leader, t.Start, t.StartKnown, t.End, t.SeenUntil)
	}
	return text
}

// The settings of a session that ended while no observer was running are known from the history.
func TestARecordedSessionExplainsALoss(t *testing.T) {
	s := newScene(t)
	past := election.Election{
		Name: "web", Exists: true, Pair: election.Pair{Key: "service/web/leader", Session: "s1", CreateIndex: 10, LockIndex: 1, ModifyIndex: 20},
		Session: &election.Session{ID: "s1", Name: "web", Node: "node-1", Behavior: election.BehaviorRelease, TTL: 10 * time.Second},
		Terms:   []election.Term{{Number: 1, CreateIndex: 10, Session: "s1", Leader: "web", Start: s.now, StartKnown: true}}, RecordedUntil: s.now,
	}
	s.observe(election.HistoryRead{At: s.now, Elections: []*election.Election{&past}})
	s.now = s.now.Add(time.Minute)
	var vacated, explained election.Event
	for _, e := range s.observe(election.KeysRead{At: s.now, Range: election.PrefixRange("service/"), Pairs: []election.Pair{{Key: "service/web/leader", CreateIndex: 10, LockIndex: 1, ModifyIndex: 30}}}) {
		if e.Type == election.Vacated {
			vacated = e
		}
	}
	for _, e := range s.observe(election.TermEvidence{At: s.now, Event: vacated, Outcome: election.Evidence{SessionRead: true, SessionsIndex: 30, ChecksRead: true, NodeExists: true, ChecksIndex: 1}}) {
		explained = e
	}
	if explained.Type != election.Explained || strings.Contains(explained.Evidence, "never read") || explained.Cause == election.Unknown {
		t.Errorf("%+v", explained)
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
