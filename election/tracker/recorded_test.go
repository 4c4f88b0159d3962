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

// recordedWeb returns the election web from a history, in the state that key parses. Without a session, the term ended
// five minutes before until.
func recordedWeb(text string) *election.Election {
	start, end := until.Add(-time.Hour), until.Add(-5*time.Minute)
	rest, semaphore := strings.CutPrefix(text, "slots ")
	e := &election.Election{Name: "web", Datacenter: "dc1", Exists: true, RecordedUntil: until}
	if semaphore {
		e.Pair = slots(rest)
		return e
	}
	e.Pair = web(text)
	term := election.Term{Number: e.Pair.LockIndex, CreateIndex: e.Pair.CreateIndex, Session: e.Pair.Session, Leader: "web-1", Node: "n1", Start: start, StartKnown: true}
	e.Term, e.Pair.Value = e.Pair.LockIndex, nil
	if e.Pair.Held() {
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
	for name, tt := range map[string]struct {
		recorded, read string
		want           string // events, state, start of the term or the vacancy, whether it is known, number of terms
	}{
		"the same term":                   {"a 3 10 20", "a 3 10 25 v", "elected(3) led -1h20m0s true 1"},
		"overwritten since":               {"a 3 10 20", "a 0 10 25 v", "overwritten(3) led -1h20m0s true 1"},
		"overwritten before":              {"a 0 10 20", "a 0 10 25 v", "elected(0) led -1h20m0s true 1"},
		"another holder":                  {"a 3 10 20", "b 4 10 30 v", "vacated(3) elected(4) led 1s false 2"},
		"vacant now":                      {"a 3 10 20", "- 3 10 30 v", "vacated(3) vacant 1s false 1"},
		"still vacant":                    {"- 3 10 20", "- 3 10 30 v", "vacated(3) lock_delay -25m0s true 1"},
		"led again":                       {"- 3 10 20", "b 4 10 30 v", "elected(4) led 1s false 2"},
		"deleted":                         {"a 3 10 20", "", "vacated(3) deleted(3) vacant 1s false 1"},
		"deleted before":                  {"- 3 10 20", "", " lock_delay -25m0s true 1"},
		"deleted and created again":       {"a 3 10 20", "b 1 40 40 v", "vacated(3) deleted(3) elected(1) led 1s false 2"},
		"restored":                        {"a 9 10 90", "b 3 10 20 v", "vacated(9) elected(3) led 1s false 2"},
		"readable again":                  {"a 3 10 20", "a 3 10 20 v", "readable(3) led -1h20m0s true 1"},
		"a semaphore":                     {"slots 10 50 2 a", "slots 10 50 2 a", "entered(0) semaphore 0s false 0"},
		"a semaphore with another holder": {"slots 10 50 2 a", "slots 10 51 2 b", "left(0) entered(0) semaphore 0s false 0"},
	} {
		t.Run(name, func(t *testing.T) {
			s, recorded := newScene(t), recordedWeb(tt.recorded)
			recorded.Exists, recorded.Unreadable = name != "deleted before", name == "readable again"
			s.observe(election.DatacenterRead{At: s.now, Datacenter: "dc1"})
			s.recall(recorded)
			if e := s.web(); !e.Recorded() || !s.tracker.Snapshot(s.now).RecordedUntil.Equal(until) || s.tracker.Loaded() {
				t.Fatalf("before the first read: got %+v, want a recorded election in a snapshot that is not loaded", e)
			}
			events := s.key(tt.read)
			e := s.web()
			from, known := e.Since, e.SinceKnown
			if e.Leader == "" {
				from, known = e.VacantSince, e.VacantSinceKnown
			}
			if from.IsZero() {
				from = t0
			}
			if got := fmt.Sprintf("%s %s %s %t %d", brief(events), e.State(s.now), from.Sub(t0), known, len(e.Terms)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if snap := s.tracker.Snapshot(s.now); e.Recorded() || !snap.RecordedUntil.IsZero() || !snap.Loaded {
				t.Errorf("after the first read: RecordedUntil is %s in the election, %s in the snapshot; want zero", e.RecordedUntil, snap.RecordedUntil)
			}
			for _, ev := range events {
				if !ev.Initial && ev.Type != election.Readable && !ev.Gap {
					t.Errorf("the event %s after the recorded state has no Gap", ev.Type)
				}
			}
			for _, ev := range s.key(tt.read) {
				if ev.Type != election.Explained {
					t.Errorf("a second read without a change caused the event %s", ev.Type)
				}
			}
		})
	}
}

func TestAFilteredReadDeletesNoRecordedElection(t *testing.T) {
	s := newScene(t)
	s.recall(recordedWeb("a 3 10 20"))
	if events := s.observe(election.KeysRead{At: s.now, Range: election.PrefixRange("service/"), Filtered: true}); len(events) > 0 {
		t.Errorf("events %s, although the token may hide the key", brief(events))
	}
}

// The history also contains the settings of a session that ended while no observer was running.
func TestRecordedTermThatEndedUnobserved(t *testing.T) {
	s := newScene(t)
	past := recordedWeb("a 3 10 20")
	past.Session = session(func(s *election.Session) { s.TTL = time.Minute })
	past.Leader = "" // an event must name the session without a label, too
	s.recall(past)
	events := s.key("- 3 10 30 web-1")
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
	s.explain(events[0], election.Evidence{
		SessionRead: true, SessionsIndex: 30, ChecksRead: true, NodeExists: true, Checks: checks(election.StatusPassing, election.StatusPassing),
	})
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
		s.observe(election.HistoryRead{At: s.now, Parts: []election.RecordedPart{{Patterns: s.tracker.Patterns, Until: s.now.Add(-time.Minute), Newest: 100}}})
		var got []string
		for _, e := range s.observe(election.KeysRead{At: s.now, Range: election.PrefixRange("service/"), Pairs: []*election.Pair{
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
	e := recordedWeb("- 3 10 20")
	e.Leader, e.Session, e.LastSession = evil, &election.Session{ID: "a", Name: evil, Node: evil}, &election.Session{ID: "old", Name: evil, Node: evil}
	term := &e.Terms[0]
	term.Leader, term.Evidence, term.Node, term.Cause = evil, evil, evil, election.Cause(evil)
	s := newScene(t)
	s.recall(e)
	s.key("a 4 10 21")
	got := s.web()
	if text := fmt.Sprintf("%s %+v %+v %+v", got.Leader, got.Terms, got.Session, got.LastSession); strings.ContainsAny(text, "\x1b\u202e") || got.Session == nil || got.LastSession == nil {
		t.Errorf("%q", text)
	}
}

// A snapshot may contain a session that was read before the history.
func TestAHistoryDoesNotChangeASession(t *testing.T) {
	s := newScene(t, "service/*/leader", "jobs/*")
	s.configure(Options{Recall: time.Minute})
	s.key("a 3 10 20 v")
	live := &election.Session{ID: "a", Name: "\x1b"}
	s.sessions(live)
	if s.recall(recordedWeb("a 3 10 20")); live.Name != "\x1b" {
		t.Error(live)
	}
}

// The name of the datacenter may be read after other patterns were selected.
func TestPatternsSelectRecordedElections(t *testing.T) {
	s, other := newScene(t, "**"), recordedWeb("b 3 10 20")
	other.Pair.Key = "jobs/x"
	s.recall(recordedWeb("a 3 10 20"), other)
	s.observe(election.PatternsSet{Patterns: newScene(t, "service/**").tracker.Patterns})
	s.observe(election.DatacenterRead{Datacenter: "dc1"})
	if s.web().Name != "web/leader" || len(s.tracker.elections) > 1 {
		t.Error(s.web())
	}
}

// A tracker that waits for the history shows what it observes, emits no events, and ends in the state of a tracker that
// received the history first.
func TestAHistoryMayArriveAfterTheKeys(t *testing.T) {
	for seed := range uint64(300) {
		r, kv := rand.New(rand.NewPCG(seed, 7)), &store{index: 20}
		before, at := newScene(t), until
		for range 1 + r.IntN(6) {
			kv.step(r, true)
			at = at.Add(time.Second)
			before.observe(kv.read(at))
		}
		past := election.HistoryRead{At: t0, Parts: []election.RecordedPart{{Datacenter: "dc1", Patterns: before.tracker.Patterns, Until: at, Newest: kv.index}}}
		for _, e := range before.tracker.Snapshot(at).Elections {
			e.RecordedUntil, e.Datacenter = at, "dc1"
			past.Elections = append(past.Elections, new(*e))
		}
		for range r.IntN(4) {
			kv.step(r, true)
		}
		live := []election.Observation{election.DatacenterRead{At: t0, Datacenter: "dc1"}, election.LinkUp{At: t0, Source: "probe"}}
		for i := range 6 {
			live = append(live, kv.read(t0.Add(time.Duration(i)*100*time.Millisecond)))
			kv.step(r, true)
		}
		arrives := r.IntN(len(live) + 1)
		early, late := newScene(t), newScene(t)
		late.configure(Options{Recall: time.Minute})
		early.observe(election.HistoryRead{At: t0, Parts: past.Parts, Elections: before.tracker.elections})
		for i := range len(live) + 1 {
			if i == arrives {
				past.At = t0.Add(time.Duration(i) * 100 * time.Millisecond)
				late.observe(past)
			}
			if i < len(live) {
				early.observe(live[i])
				late.observe(live[i])
			}
			a, b := states(early), states(late)
			switch {
			case late.tracker.Waits() && len(late.events) > 0:
				t.Fatalf("seed %d: events %s before the history was read", seed, brief(late.events))
			case late.tracker.Waits():
				checkBounds(t, early, late)
			case a != b:
				t.Fatalf("seed %d: the history arrived at %d; at %d\n got %s\nwant %s", seed, arrives, i, b, a)
			}
		}
		for _, e := range slices.Clone(early.events) {
			evidence := election.TermEvidence{At: t0.Add(900 * time.Millisecond), Event: e, Outcome: election.Evidence{SessionRead: true, SessionExists: true}}
			early.observe(evidence)
			late.observe(evidence)
		}
		if a, b := states(early), states(late); a != b {
			t.Fatalf("seed %d: after the evidence\n got %s\nwant %s", seed, b, a)
		}
	}
}

// states formats the elections and events of a scene.
func states(s *scene) string {
	var text strings.Builder
	snap := s.tracker.Snapshot(t0)
	for _, e := range snap.Elections {
		fmt.Fprintf(&text, "%+v\n", *e)
	}
	fmt.Fprintf(&text, "%+v\n%+v\n", snap.Events, s.events)
	return text.String()
}

// checkBounds fails if the second scene shows a longer term or vacancy than the first, or another beginning as known.
func checkBounds(t *testing.T, known, waiting *scene) {
	t.Helper()
	for _, e := range waiting.tracker.Snapshot(t0).Elections {
		want := known.tracker.Find(e.Key())
		if e.Since.Before(want.Since) || e.VacantSince.Before(want.VacantSince) || e.SinceKnown && !e.Since.Equal(want.Since) {
			t.Fatalf("since %s %s, want %s %s", e.Since, e.VacantSince, want.Since, want.VacantSince)
		}
	}
}

// Without a history, the events are delayed, and the evidence still has a second.
func TestAHistoryThatDoesNotArrive(t *testing.T) {
	s := newScene(t)
	s.configure(Options{Recall: 2500 * time.Millisecond})
	s.key("a 3 10 20 v")
	if s.key("- 3 10 21 v"); len(s.events) > 0 || s.web().Leader != "" {
		t.Fatalf("events %s, leader %q", brief(s.events), s.web().Leader)
	}
	at := s.tracker.Deadline()
	if want := t0.Add(3500 * time.Millisecond); !at.Equal(want) {
		t.Fatalf("the deadline is %s, want %s", at, want)
	}
	if s.observe(election.Clock{At: at}); brief(s.events) != "elected(3) vacated(3)" || s.tracker.Waits() {
		t.Errorf("events %s", brief(s.events))
	}
	if due := s.tracker.Deadline(); !due.Equal(at.Add(ExplainWithin)) {
		t.Errorf("the evidence is due at %s", due)
	}
	if s.recall(recordedWeb("a 2 10 15")); len(s.events) > 2 || s.web().Recorded() {
		t.Errorf("a late history changed the board: %s", brief(s.events))
	}
}
