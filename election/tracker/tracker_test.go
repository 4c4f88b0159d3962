package tracker

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/internal/consultest"
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
	return &scene{t: t, tracker: New(Options{Patterns: consultest.Patterns(t, patterns...)}), now: t0}
}

func (s *scene) observe(o election.Observation) []election.Event {
	events := s.tracker.Observe(o)
	s.events = append(s.events, events...)
	return events
}

// configure begins again with other options and the same patterns.
func (s *scene) configure(o Options) {
	o.Patterns = s.tracker.Patterns
	s.tracker = New(o)
}

// explain observes the evidence for the end of a term.
func (s *scene) explain(lost election.Event, evidence election.Evidence) []election.Event {
	return s.observe(election.TermEvidence{At: s.now, Event: lost, Outcome: evidence})
}

func (s *scene) read(pairs ...election.Pair) []election.Event {
	s.now = s.now.Add(time.Second)
	return s.readIn(election.PrefixRange("service/"), pairs...)
}

// readIn reads the keys of a range at the present time of the scene.
func (s *scene) readIn(r election.Range, pairs ...election.Pair) []election.Event {
	return s.observe(election.KeysRead{At: s.now, Range: r, Pairs: election.Pairs(pairs...)})
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

var web = consultest.Pair

// key reads a state of the key, or its absence if text is empty.
func (s *scene) key(text string) []election.Event {
	rest, semaphore := strings.CutPrefix(text, "slots ")
	switch {
	case text == "":
		return s.read()
	case semaphore:
		return s.read(slots(rest))
	}
	return s.read(web(text))
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
	tests := []struct {
		name, first, then, want string
		state                   election.State
	}{
		{"first read of a held key", "unread", "a 3 10 20 v", "", election.Led},
		{"no change", "a 3 10 20 v", "a 3 10 20 v", "", election.Led},
		{"holder writes another value", "a 3 10 20 v", "a 3 10 21 w", "updated(3)", election.Led},
		{"a client writes without the lock", "a 3 10 20 v", "a 0 10 21 w", "overwritten(3)", election.Led},
		{"released, the value stays", "a 3 10 20 v", "- 3 10 21 v", "vacated(3)", election.Vacant},
		{"acquired", "- 3 10 20 v", "a 4 10 21 v", "elected(4)", election.Led},
		{"handed over between two reads", "a 3 10 20 v", "b 4 10 22 v", "vacated(3) elected(4)", election.Led},
		{"the same session again", "a 3 10 20 v", "a 4 10 22 v", "vacated(3) elected(4)", election.Led},
		{"terms passed, then led", "a 3 10 20 v", "b 9 10 40 v", "vacated(3) missed(×5) elected(9)", election.Led},
		{"terms passed, then vacant", "a 3 10 20 v", "- 5 10 40 v", "vacated(3) missed(×2)", election.Vacant},
		{"terms passed while vacant", "- 3 10 20 v", "- 5 10 40 v", "missed(×2)", election.Vacant},
		{"overwritten while vacant", "- 3 10 20 v", "- 0 10 21 w", "overwritten(3)", election.Vacant},
		{"released after an overwrite", "a 0 10 20 v", "- 0 10 21 v", "vacated(0)", election.Vacant},
		{"overwritten and released between two reads", "a 3 10 20 v", "- 0 10 22 v", "vacated(3) overwritten(3)", election.Vacant},
		{"overwritten, released, acquired between two reads", "a 3 10 20 v", "b 1 10 23 v", "vacated(3) overwritten(1) elected(1)", election.Led},
		{"acquired and overwritten between two reads", "- 3 10 20 v", "a 0 10 23 v", "elected(0) overwritten(0)", election.Led},
		{"first holder after an overwrite", "- 0 10 20 v", "a 1 10 23 v", "elected(1)", election.Led},
		{"deleted while led", "a 3 10 20 v", "", "vacated(3) deleted(3)", election.Vacant},
		{"deleted and created again between two reads", "a 3 10 20 v", "b 1 30 30 v", "vacated(3) deleted(3) elected(1)", election.Led},
		{"created again by the same session", "a 1 10 10 v", "a 1 30 30 v", "vacated(1) deleted(1) elected(1)", election.Led},
		{"created again, terms passed", "a 3 10 20 v", "b 3 30 35 v", "vacated(3) deleted(3) missed(×2) elected(3)", election.Led},
		{"restored from an older state", "a 9 10 90 v", "b 3 10 20 v", "vacated(9) elected(3)", election.Led},
		{"created with a leader", "", "a 1 30 30 v", "elected(1)", election.Led},
		{"created, terms passed", "", "a 3 30 35 v", "missed(×2) elected(3)", election.Led},
		{"created without a leader", "", "- 0 30 30 v", "", election.Vacant},
		{"created again without the lock", "a 3 10 20 v", "- 0 30 30 v", "vacated(3) deleted(3) overwritten(0)", election.Vacant},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			if tt.first != "unread" {
				s.key(tt.first)
				s.events = nil
			}
			if got := brief(s.key(tt.then)); tt.first != "unread" && got != tt.want {
				t.Errorf("events %q, want %q", got, tt.want)
			}
			if got := s.web().State(s.now); got != tt.state {
				t.Errorf("state %s, want %s", got, tt.state)
			}
		})
	}
}

func TestVacancyAndHoldAreMeasured(t *testing.T) {
	s := newScene(t)
	s.key("- 3 10 20 v")
	if e := s.key("a 4 10 21 v")[0]; e.VacancyKnown {
		t.Error("the duration of a vacancy is known, although it began before the first read")
	}
	if e := s.key("- 4 10 22 v")[0]; e.Held != time.Second || !e.HeldKnown {
		t.Errorf("held %v, known %v; want 1s, known", e.Held, e.HeldKnown)
	}
	s.now = s.now.Add(2 * time.Second)
	if e := s.key("b 5 10 23 v")[0]; e.Vacancy != 3*time.Second || !e.VacancyKnown {
		t.Errorf("vacancy %v, known %v; want 3s, known", e.Vacancy, e.VacancyKnown)
	}
	events := s.key("c 6 10 25 v")
	if e := events[1]; e.Vacancy != 0 || !e.VacancyKnown {
		t.Errorf("vacancy of a change between two reads: %v, known: %v; want 0, known", e.Vacancy, e.VacancyKnown)
	}
}

func TestRecentEventsAreBoundedAndOldSnapshotsKeepTheirs(t *testing.T) {
	s := newScene(t)
	var first *election.Snapshot
	for i := range 10 * recentEvents {
		s.key(fmt.Sprintf("%s %d 1 %d v", [...]string{"s", "-"}[i%2], i/2+1, i+1))
		if i == 3 {
			first = s.tracker.Snapshot(t0)
		}
	}
	if n := len(s.tracker.Snapshot(t0).Events); n != recentEvents {
		t.Errorf("the snapshot contains %d recent events, want %d", n, recentEvents)
	}
	if got := brief(first.Events); got != "elected(1) vacated(1) elected(2) explained(1 unknown) vacated(2)" {
		t.Errorf("the events of an earlier snapshot changed to %s", got)
	}
}

func TestHoldThatEndedInAGapLastedAtLeastUntilTheLastContact(t *testing.T) {
	s := newScene(t)
	s.observe(election.LinkUp{At: s.now, Source: "keys"})
	s.read()
	s.key("a 1 10 20 v")
	s.observe(election.LinkUp{At: s.now.Add(time.Second), Source: "probe"})
	s.observe(election.LinkLost{At: s.now.Add(2 * time.Second), Source: "keys", Error: "refused"})
	s.observe(election.LinkUp{At: s.now.Add(3 * time.Second), Source: "probe"})
	s.now = s.now.Add(time.Minute)
	s.observe(election.LinkUp{At: s.now, Source: "keys"})
	events := s.observe(election.KeysRead{At: s.now, Range: election.PrefixRange("service/"), AfterGap: true, Pairs: election.Pairs(web("- 1 10 21 v"))})
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
		"a client writes the value":          func(s *scene, _ *election.Election) { s.key("- 1 1 9 x") },
		"the key is deleted":                 func(s *scene, _ *election.Election) { s.read() },
		"led and released":                   func(s *scene, _ *election.Election) { s.key("a 2 1 9"); s.key("- 2 1 10") },
		"a candidate is seen":                func(s *scene, e *election.Election) { s.observe(election.CandidatesRead{At: s.now, Found: e}) },
		"led and released between two reads": func(s *scene, _ *election.Election) { s.key("- 2 1 10") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.key("- 1 1 5")
			found := s.web()
			if found.State(s.now) != election.Vacant {
				t.Fatalf("%v %+v", found.State(s.now), found)
			}
			if events := s.observe(election.CandidatesRead{At: s.now, None: []*election.Election{found}}); len(events) > 0 {
				t.Errorf("%v", events)
			}
			e := s.web()
			if e.State(s.now) != election.Idle || found.State(s.now) != election.Vacant {
				t.Errorf("state %v, in the earlier snapshot %v; want idle, vacant", e.State(s.now), found.State(s.now))
			}
			s.key("- 1 1 5")
			if e = s.web(); e.State(s.now) != election.Idle {
				t.Errorf("after a read without a change: state %v, want idle", e.State(s.now))
			}
			change(s, e)
			if e = s.web(); e.State(s.now) != election.Vacant {
				t.Errorf("%v", e.State(s.now))
			}
			s.observe(election.CandidatesRead{At: s.now, None: []*election.Election{found}}) // a late result
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
		"no result":                  func(s *scene) { s.observe(election.CandidatesRead{At: s.now}) },
		"idle":                       func(s *scene) { s.observe(election.CandidatesRead{At: s.now, None: []*election.Election{s.web()}}) },
		"a session acquires the key": func(s *scene) { s.key("a 2 1 9") },
		"the key is deleted":         func(s *scene) { s.read() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.configure(Options{Searches: true})
			s.key("- 1 1 5")
			if e := s.web(); !e.Unsearched || e.State(s.now) != election.Vacant {
				t.Fatalf("%+v", e)
			}
			if end(s); s.web().Unsearched {
				t.Error("the election is still marked as unsearched")
			}
		})
	}
	s := newScene(t)
	s.configure(Options{Searches: true})
	s.read()
	if s.key("- 0 7 7"); s.web().Unsearched {
		t.Error("a new key is marked as unsearched, although no search follows")
	}
	s = leases(t)
	s.configure(Options{Searches: true})
	s.change("-12 b13", 20)
	if e := s.tracker.Snapshot(s.now).Find("election/web"); e.Unsearched {
		t.Error("a blocked queue is marked as unsearched, although its candidates are known")
	}
}

func TestDeletedElectionIsDroppedAfterADay(t *testing.T) {
	s := newScene(t)
	s.key("a 1 10 20 v")
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
