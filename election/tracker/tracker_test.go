package tracker

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"electop/election"
)

var t0 = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// scene passes complete reads of one prefix to a tracker, one second apart.
type scene struct {
	t       *testing.T
	tracker *Tracker
	now     time.Time
	events  []election.Event
}

func newScene(t *testing.T, patterns ...string) *scene {
	t.Helper()
	ps, err := election.ParsePatterns(patterns)
	if err != nil {
		t.Fatal(err)
	}
	return &scene{t: t, tracker: New(Options{Patterns: ps}), now: t0}
}

func (s *scene) observe(o election.Observation) []election.Event {
	events := s.tracker.Observe(o)
	s.events = append(s.events, events...)
	return events
}

func (s *scene) read(pairs ...election.Pair) []election.Event {
	s.now = s.now.Add(time.Second)
	return s.observe(election.KeysRead{At: s.now, Range: election.PrefixRange("service/"), Pairs: pairs})
}

func (s *scene) web() *election.Election {
	s.t.Helper()
	e := s.tracker.Snapshot(s.now).Find("service/web/leader")
	if e == nil {
		s.t.Fatal("service/web/leader is not an election")
	}
	return e
}

func (s *scene) sessions(sessions ...*election.Session) {
	s.observe(election.SessionsRead{At: s.now, Sessions: sessions})
}

// web returns the key service/web/leader. The value is the leader's name.
func web(session string, lock, create, modify uint64, value string) election.Pair {
	return election.Pair{
		Key: "service/web/leader", Value: []byte(value), Session: session,
		LockIndex: lock, CreateIndex: create, ModifyIndex: modify,
	}
}

// brief formats events as "type(term)" or "missed(×count)".
func brief(events []election.Event) string {
	var parts []string
	for _, e := range events {
		switch e.Type {
		case election.Missed:
			parts = append(parts, fmt.Sprintf("missed(×%d)", e.Count))
		case election.Explained:
			parts = append(parts, fmt.Sprintf("explained(%d %s)", e.Term, e.Cause))
		default:
			parts = append(parts, fmt.Sprintf("%s(%d)", e.Type, e.Term))
		}
	}
	return strings.Join(parts, " ")
}

func TestMoves(t *testing.T) {
	const none = ""
	gone := []election.Pair{}
	one := func(p election.Pair) []election.Pair { return []election.Pair{p} }
	tests := []struct {
		name  string
		first []election.Pair
		then  []election.Pair
		want  string
		state election.State
	}{
		{"first read of a held key", nil, one(web("a", 3, 10, 20, "v")), "", election.Led},
		{"no change", one(web("a", 3, 10, 20, "v")), one(web("a", 3, 10, 20, "v")), "", election.Led},
		{"holder writes another value", one(web("a", 3, 10, 20, "v")), one(web("a", 3, 10, 21, "w")), "updated(3)", election.Led},
		{"a client writes without the lock", one(web("a", 3, 10, 20, "v")), one(web("a", 0, 10, 21, "w")), "overwritten(3)", election.Led},
		{"released, the value stays", one(web("a", 3, 10, 20, "v")), one(web(none, 3, 10, 21, "v")), "vacated(3)", election.Vacant},
		{"acquired", one(web(none, 3, 10, 20, "v")), one(web("a", 4, 10, 21, "v")), "elected(4)", election.Led},
		{"handed over between two reads", one(web("a", 3, 10, 20, "v")), one(web("b", 4, 10, 22, "v")), "vacated(3) elected(4)", election.Led},
		{"the same session again", one(web("a", 3, 10, 20, "v")), one(web("a", 4, 10, 22, "v")), "vacated(3) elected(4)", election.Led},
		{"terms passed, then led", one(web("a", 3, 10, 20, "v")), one(web("b", 9, 10, 40, "v")), "vacated(3) missed(×5) elected(9)", election.Led},
		{"terms passed, then vacant", one(web("a", 3, 10, 20, "v")), one(web(none, 5, 10, 40, "v")), "vacated(3) missed(×2)", election.Vacant},
		{"terms passed while vacant", one(web(none, 3, 10, 20, "v")), one(web(none, 5, 10, 40, "v")), "missed(×2)", election.Vacant},
		{"overwritten while vacant", one(web(none, 3, 10, 20, "v")), one(web(none, 0, 10, 21, "w")), "overwritten(3)", election.Vacant},
		{"released after an overwrite", one(web("a", 0, 10, 20, "v")), one(web(none, 0, 10, 21, "v")), "vacated(0)", election.Vacant},
		{"overwritten and released between two reads", one(web("a", 3, 10, 20, "v")), one(web(none, 0, 10, 22, "v")), "vacated(3) overwritten(3)", election.Vacant},
		{"overwritten, released, acquired between two reads", one(web("a", 3, 10, 20, "v")), one(web("b", 1, 10, 23, "v")), "vacated(3) overwritten(1) elected(1)", election.Led},
		{"acquired and overwritten between two reads", one(web(none, 3, 10, 20, "v")), one(web("a", 0, 10, 23, "v")), "elected(0) overwritten(0)", election.Led},
		{"first holder after an overwrite", one(web(none, 0, 10, 20, "v")), one(web("a", 1, 10, 23, "v")), "elected(1)", election.Led},
		{"deleted while led", one(web("a", 3, 10, 20, "v")), gone, "vacated(3) deleted(3)", election.Vacant},
		{"deleted and created again between two reads", one(web("a", 3, 10, 20, "v")), one(web("b", 1, 30, 30, "v")), "vacated(3) deleted(3) elected(1)", election.Led},
		{"created again by the same session", one(web("a", 1, 10, 10, "v")), one(web("a", 1, 30, 30, "v")), "vacated(1) deleted(1) elected(1)", election.Led},
		{"created again, terms passed", one(web("a", 3, 10, 20, "v")), one(web("b", 3, 30, 35, "v")), "vacated(3) deleted(3) missed(×2) elected(3)", election.Led},
		{"restored from an older state", one(web("a", 9, 10, 90, "v")), one(web("b", 3, 10, 20, "v")), "vacated(9) elected(3)", election.Led},
		{"created with a leader", gone, one(web("a", 1, 30, 30, "v")), "elected(1)", election.Led},
		{"created, terms passed", gone, one(web("a", 3, 30, 35, "v")), "missed(×2) elected(3)", election.Led},
		{"created without a leader", gone, one(web(none, 0, 30, 30, "v")), "", election.Vacant},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			if tt.first != nil {
				s.read(tt.first...)
				s.events = nil
				s.read(tt.then...)
				if got := brief(s.events); got != tt.want {
					t.Errorf("events %q, want %q", got, tt.want)
				}
			} else {
				s.read(tt.then...)
			}
			if got := s.web().State(s.now); got != tt.state {
				t.Errorf("state %s, want %s", got, tt.state)
			}
		})
	}
}

func TestInitialEventsDescribeTheFirstRead(t *testing.T) {
	s := newScene(t)
	vacant := web("", 4, 11, 21, "old")
	vacant.Key = "service/mail/leader"
	events := s.read(vacant, web("a", 3, 10, 20, "web-1"))
	if len(events) != 2 || events[0].Type != election.Vacated || events[1].Type != election.Elected {
		t.Fatalf("events %s", brief(events))
	}
	for _, e := range events {
		if !e.Initial {
			t.Errorf("the event %s of %s is not initial", e.Type, e.Election)
		}
	}
	if events[0].Leader != "" || events[1].Leader != "web-1" {
		t.Errorf("leaders %q and %q, want none and web-1", events[0].Leader, events[1].Leader)
	}
	if e := s.web(); e.SinceKnown || !e.Since.Equal(s.now) {
		t.Errorf("start of the term %v, known: %v; want the first read, unknown", e.Since, e.SinceKnown)
	}
	if mail := s.tracker.Snapshot(s.now).Find("service/mail/leader"); mail.VacantSinceKnown {
		t.Error("the start of a vacancy is known, although it was not observed")
	}
}

func TestVacancyAndHoldAreMeasured(t *testing.T) {
	s := newScene(t)
	s.read(web("", 3, 10, 20, "v"))
	if e := s.read(web("a", 4, 10, 21, "v"))[0]; e.VacancyKnown {
		t.Error("the duration of a vacancy is known, although it began before the first read")
	}
	if e := s.read(web("", 4, 10, 22, "v"))[0]; e.Held != time.Second || !e.HeldKnown {
		t.Errorf("held %v, known %v; want 1s, known", e.Held, e.HeldKnown)
	}
	s.now = s.now.Add(2 * time.Second)
	if e := s.read(web("b", 5, 10, 23, "v"))[0]; e.Vacancy != 3*time.Second || !e.VacancyKnown {
		t.Errorf("vacancy %v, known %v; want 3s, known", e.Vacancy, e.VacancyKnown)
	}
	events := s.read(web("c", 6, 10, 25, "v"))
	if e := events[1]; e.Vacancy != 0 || !e.VacancyKnown {
		t.Errorf("vacancy of a change between two reads: %v, known: %v; want 0, known", e.Vacancy, e.VacancyKnown)
	}
}

func TestRecentEventsAreBoundedAndOldSnapshotsKeepTheirs(t *testing.T) {
	ps, _ := election.ParsePatterns(nil)
	tr := New(Options{Patterns: ps})
	var first *election.Snapshot
	for i := range uint64(10 * recentEvents) {
		session := ""
		if i%2 == 0 {
			session = fmt.Sprint("s", i)
		}
		tr.Observe(election.KeysRead{At: t0, Range: election.PrefixRange("service/"), Pairs: []election.Pair{web(session, i/2+1, 1, i+1, "v")}})
		if i == 3 {
			first = tr.Snapshot(t0)
		}
	}
	if n := len(tr.Snapshot(t0).Events); n != recentEvents {
		t.Errorf("the snapshot contains %d recent events, want %d", n, recentEvents)
	}
	if got := brief(first.Events); got != "elected(1) vacated(1) elected(2) vacated(2)" {
		t.Errorf("the events of an earlier snapshot changed to %s", got)
	}
}

func TestHoldThatEndedInAGapLastedAtLeastUntilTheLastContact(t *testing.T) {
	s := newScene(t)
	s.observe(election.LinkUp{At: s.now, Source: "keys"})
	s.read()
	s.read(web("a", 1, 10, 20, "v"))
	s.observe(election.LinkUp{At: s.now.Add(time.Second), Source: "probe"})
	s.observe(election.LinkLost{At: s.now.Add(2 * time.Second), Source: "keys", Error: "refused"})
	s.observe(election.LinkUp{At: s.now.Add(3 * time.Second), Source: "probe"})
	s.now = s.now.Add(time.Minute)
	s.observe(election.LinkUp{At: s.now, Source: "keys"})
	events := s.observe(election.KeysRead{At: s.now, Range: election.PrefixRange("service/"), AfterGap: true, Pairs: []election.Pair{web("", 1, 10, 21, "v")}})
	if e := events[0]; e.Type != election.Vacated || e.Held != time.Second || e.HeldKnown {
		t.Errorf("%s, held %v, known %v; want vacated, 1s, unknown", e.Type, e.Held, e.HeldKnown)
	}
	if last := s.web().LastTerm(); last.HeldKnown() || last.Held(s.now) != time.Second {
		t.Errorf("%+v", last)
	}
}

// An election that was idle at the first read is vacant after any change.
func TestAnIdleElectionIsVacantAfterAnyChange(t *testing.T) {
	for name, change := range map[string]func(s *scene, e *election.Election){
		"a client writes the value":          func(s *scene, _ *election.Election) { s.read(web("", 1, 1, 9, "x")) },
		"the key is deleted":                 func(s *scene, _ *election.Election) { s.read() },
		"led and released":                   func(s *scene, _ *election.Election) { s.read(web("a", 2, 1, 9, "")); s.read(web("", 2, 1, 10, "")) },
		"a candidate is seen":                func(s *scene, e *election.Election) { s.observe(election.CandidateSeen{At: s.now, Key: e.Key()}) },
		"led and released between two reads": func(s *scene, _ *election.Election) { s.read(web("", 2, 1, 10, "")) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.read(web("", 1, 1, 5, ""))
			found := s.web()
			if !found.FoundVacant() || found.State(s.now) != election.Vacant {
				t.Fatalf("%v %+v", found.State(s.now), found)
			}
			if events := s.observe(election.NoCandidates{At: s.now, Elections: []*election.Election{found}}); len(events) > 0 {
				t.Errorf("%v", events)
			}
			e := s.web()
			if e.State(s.now) != election.Idle || found.State(s.now) != election.Vacant {
				t.Errorf("state %v, in the earlier snapshot %v; want idle, vacant", e.State(s.now), found.State(s.now))
			}
			s.read(web("", 1, 1, 5, ""))
			if e = s.web(); e.State(s.now) != election.Idle {
				t.Errorf("after a read without a change: state %v, want idle", e.State(s.now))
			}
			change(s, e)
			if e = s.web(); e.State(s.now) != election.Vacant {
				t.Errorf("%v", e.State(s.now))
			}
			s.observe(election.NoCandidates{At: s.now, Elections: []*election.Election{found}}) // a late result
			if e = s.web(); e.State(s.now) != election.Vacant {
				t.Errorf("after a late result of the search: state %v, want vacant", e.State(s.now))
			}
		})
	}
}

// An election that was vacant at the first read is unsearched until a search for candidates ends, with or without a
// result, or until the election changes.
func TestAnElectionFoundVacantIsUnsearchedUntilASearchEnds(t *testing.T) {
	for name, end := range map[string]func(s *scene){
		"no result":                  func(s *scene) { s.observe(election.NoCandidates{At: s.now}) },
		"idle":                       func(s *scene) { s.observe(election.NoCandidates{At: s.now, Elections: []*election.Election{s.web()}}) },
		"a session acquires the key": func(s *scene) { s.read(web("a", 2, 1, 9, "")) },
		"the key is deleted":         func(s *scene) { s.read() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.tracker = New(Options{Patterns: s.tracker.patterns, Searches: true})
			s.read(web("", 1, 1, 5, ""))
			if e := s.web(); !e.Unsearched || e.State(s.now) != election.Vacant {
				t.Fatalf("%+v", e)
			}
			if end(s); s.web().Unsearched {
				t.Error("the election is still marked as unsearched")
			}
		})
	}
	s := newScene(t)
	s.tracker = New(Options{Patterns: s.tracker.patterns, Searches: true})
	s.read()
	if s.read(web("", 0, 7, 7, "")); s.web().Unsearched {
		t.Error("a new key is marked as unsearched, although no search follows")
	}
}

func TestDeletedElectionIsDroppedAfterADay(t *testing.T) {
	s := newScene(t)
	s.read(web("a", 1, 10, 20, "v"))
	s.read()
	s.now = s.now.Add(23 * time.Hour)
	s.read()
	s.web()
	s.now = s.now.Add(2 * time.Hour)
	s.read()
	if e := s.tracker.Snapshot(s.now).Find("service/web/leader"); e != nil {
		t.Error("the snapshot still contains service/web/leader")
	}
}
