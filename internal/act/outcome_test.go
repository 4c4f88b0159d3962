package act_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/election/sanitize"
	"electop/election/tracker"
	"electop/internal/act"
	"electop/internal/consultest"
)

var t0 = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// scene passes complete reads of one prefix to a tracker, one second apart.
type scene struct {
	t       *testing.T
	tracker *tracker.Tracker
	now     time.Time
	events  []election.Event
}

func newScene(t *testing.T, patterns ...string) *scene {
	t.Helper()
	return &scene{t: t, tracker: tracker.New(tracker.Options{Patterns: consultest.Patterns(t, patterns...)}), now: t0}
}

func (s *scene) observe(o election.Observation) []election.Event {
	events := s.tracker.Observe(o)
	s.events = append(s.events, events...)
	return events
}

// key reads a state of the key service/web/leader, or its absence if text is "gone".
func (s *scene) key(text string) {
	s.now = s.now.Add(time.Second)
	var pairs []election.Pair
	if text = strings.TrimSpace(text); text != "gone" {
		pairs = []election.Pair{consultest.Pair(text)}
	}
	s.observe(election.KeysRead{At: s.now, Range: election.PrefixRange("service/"), Pairs: election.Pairs(pairs...)})
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

// items splits text at semicolons.
func items(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ';' })
}

func led(name, key string, s *election.Session) *election.Election {
	return &election.Election{
		Name: name, Exists: true, Session: s, Leader: name + "-1", Term: 1, Since: t0,
		Pair: election.Pair{Key: key, Value: []byte(name + "-1"), Session: s.ID, LockIndex: 1, CreateIndex: 1, ModifyIndex: 2},
	}
}

// pastWeb observes the key service/web/leader. Sessions "a" and "a2" are on node n1, "b" is on n2. Session "c" on n3
// was not read.
func pastWeb(t *testing.T) *scene {
	s := newScene(t, "service/*/leader")
	s.sessions(session("a", "web", "n1"), session("a2", "web", "n1"), session("b", "web", "n2"), session("c", "web", "n3"))
	return s
}

func TestOutcomeFollow(t *testing.T) {
	const release, destroy = election.ActionRelease, election.ActionDestroy
	tests := []struct {
		name          string
		action        election.ActionKind
		before, after string // states of the key; the action is bound to the last hold before it
		want          string
	}{
		{
			"moved", release, "a 5 10 20 web-1",
			"- 5 10 21 web-1; b 6 10 22 web-2",
			"moved web-1 on n1 → web-2 on n2 after 1s",
		},
		{
			"moved between two reads", release, "a 5 10 20 web-1",
			"b 6 10 22 web-2",
			"moved web-1 on n1 → web-2 on n2 immediately",
		},
		{
			"not applied yet", release, "a 5 10 20 web-1", "a 5 10 20 web-1",
			"done web-1 on n1 was released; it may already lead again",
		},
		{
			"vacant so far", destroy, "a 5 10 20 web-1", "- 5 10 21 web-1",
			"done web-1 on n1: its session was destroyed",
		},
		{
			"the same session again", release, "a 5 10 20 web-1",
			"- 5 10 21 web-1; a 6 10 22 web-1",
			"same_leader web-1 on n1 leads again after 1s, with the same session",
		},
		{
			"the first term after the action counts", release, "a 5 10 20 web-1",
			"a 6 10 22 web-1; b 7 10 24 web-2; a 8 10 26 web-1",
			"same_leader web-1 on n1 leads again immediately, with the same session",
		},
		{
			"a much earlier term of the same session", release,
			"a 3 10 16 web-1; b 4 10 18 web-2; a 5 10 20 web-1", "a 5 10 20 web-1",
			"done web-1 on n1 was released; it may already lead again",
		},
		{
			"the same session after several terms", release, "a 5 10 20 web-1", "a 7 10 40 web-1",
			"same_leader web-1 on n1 leads again, with the same session: 1 term not observed",
		},
		{
			"an overwritten term, the same session again", release, "a 5 10 20 web-1; a 0 10 21 x",
			"- 0 10 22 x; a 1 10 23 x; b 2 10 25 web-2",
			"same_leader web-1 on n1 leads again after 1s, with the same session",
		},
		{
			"the leader corrects its value", release, "a 0 10 20 oops; a 0 10 21 web-1", "- 0 10 22 x; b 1 10 25 web-2",
			"moved web-1 on n1 → web-2 on n2 after 1s",
		},
		{
			"term numbers that repeat after an overwrite", release,
			"a 1 10 16 web-1; b 2 10 18 web-2; b 0 10 19 web-2; a 1 10 22 web-1",
			"a 1 10 22 web-1",
			"done web-1 on n1 was released; it may already lead again",
		},
		{
			"the key deleted and recreated", destroy, "a 5 10 20 web-1",
			"gone; b 1 30 30 web-2",
			"moved web-1 on n1 → web-2 on n2 after 1s, outage at least 1s",
		},
		{
			"recreated, several terms passed", destroy, "a 5 10 20 web-1", "gone; b 3 30 36 web-2",
			"moved web-1 on n1 → web-2 on n2: 2 terms not observed",
		},
		{
			"recreated by the same leader with a new session", destroy, "a 5 10 20 web-1",
			"gone; a2 1 30 30 web-1",
			"same_leader web-1 on n1 leads again after 1s, outage at least 1s, with a new session",
		},
		{
			"the same leader with a new session, the key kept", destroy, "a 5 10 20 web-1",
			"- 5 10 21 web-1; a2 6 10 22 web-1",
			"same_leader web-1 on n1 leads again after 1s, outage at least 1s, with a new session",
		},
		{
			"the same value on another node", destroy, "a 5 10 20 web-1", "gone; b 1 30 30 web-1",
			"moved web-1 on n1 → web-1 on n2 after 1s, outage at least 1s",
		},
		{
			"without a value, two processes of one node look the same", destroy, "a 5 10 20",
			"gone; a2 1 30 30",
			"moved web on n1 → web on n1 after 1s, outage at least 1s",
		},
		{
			"an overwritten term, another session of the node", release, "a 0 10 20 x",
			"- 0 10 25 x; a2 1 10 30 web-1",
			"same_leader x on n1 → web-1 on n1 after 1s, perhaps the same process",
		},
		{
			"the session led again before it was destroyed", destroy, "a 5 10 20 web-1",
			"a 6 10 22 web-1",
			"done web-1 on n1: its session was destroyed",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := pastWeb(t)
			for _, state := range items(tt.before) {
				s.key(state)
			}
			o := act.Outcome{Action: tt.action, Target: s.web().Target(), Kind: act.OutcomeDone}
			for _, state := range items(tt.after) {
				s.key(state)
				o = o.Follow(s.web())
			}
			if got := string(o.Kind) + " " + o.Summary(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			late := act.Outcome{Action: tt.action, Target: o.Target, Kind: act.OutcomeDone}.Follow(s.web())
			if late.Summary() != o.Summary() {
				t.Errorf("after each read:      %s\nafter the last read: %s", o.Summary(), late.Summary())
			}
		})
	}
}

func TestOutcomeJSON(t *testing.T) {
	s := pastWeb(t)
	s.key("a 5 10 20 web-1")
	target := s.web().Target()
	old := `"old":{"leader":"web-1","session":"a","node":"n1"}`
	follow := func(o act.Outcome, states string) act.Outcome {
		s := pastWeb(t)
		s.key("a 5 10 20 web-1")
		for _, state := range items(states) {
			s.key(state)
		}
		return o.Follow(s.web())
	}
	done := act.Outcome{Action: election.ActionRelease, Target: target, Kind: act.OutcomeDone}
	for _, tt := range []struct {
		o    act.Outcome
		want string
	}{
		{
			follow(done, "- 5 10 21; b 6 10 22 web-2"),
			`"result":"moved",` + old + `,"new":{"leader":"web-2","session":"b","node":"n2"},"vacancy_ms":1000,"outage_min_ms":1000,"outage_max_ms":1000`,
		},
		{
			follow(done, "a 6 10 22 web-1"),
			`"result":"same_leader",` + old + `,"new":{"leader":"web-1","session":"a","node":"n1"},"vacancy_ms":0,"outage_min_ms":0,"outage_max_ms":0`,
		},
		{
			follow(done, "b 9 10 22 web-2"),
			`"result":"moved",` + old + `,"new":{"leader":"web-2","session":"b","node":"n2"},"reason":"3 terms not observed"`,
		},
		{done, `"result":"done",` + old},
		{act.Outcome{Action: election.ActionRelease, Target: target, Kind: act.OutcomeDone, Note: "no index"}, `"result":"done",` + old + `,"note":"no index"`},
		{act.Outcome{Action: election.ActionRelease, Target: target, Kind: act.OutcomeRefused, Reason: "Patroni"}, `"result":"refused",` + old + `,"reason":"Patroni"`},
	} {
		got, err := json.Marshal(tt.o)
		want := `{"election":"web","key":"service/web/leader","action":"release",` + tt.want + `}`
		if err != nil || string(got) != want {
			t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
		}
	}
}

func TestSettledOutcomeDoesNotChange(t *testing.T) {
	s := pastWeb(t)
	s.key("a 5 10 20 web-1")
	target := s.web().Target()
	s.key("b 6 10 22 web-2")
	moved := s.web()
	for _, kind := range []act.OutcomeKind{act.OutcomeVacant, act.OutcomeChanged, act.OutcomeNoLeader, act.OutcomeRefused, act.OutcomeDenied, act.OutcomeFailed} {
		o := act.Outcome{Action: election.ActionRelease, Target: target, Kind: kind, Reason: "why"}.Follow(moved)
		if text := o.Summary(); !o.Settled() || text != "nothing was changed: why" && (kind != act.OutcomeVacant || text != "web-1 on n1 → no leader: why") {
			t.Errorf("%s: %q", kind, text)
		}
	}
	open := act.Outcome{Action: election.ActionDestroy, Target: target, Kind: act.OutcomeUnknown, Reason: "no answer"}
	for _, e := range []*election.Election{nil, led("mail", "service/mail/leader", session("b", "mail", "n2")), moved} {
		if got := open.Follow(e); got != open || got.Summary() != "unknown whether the destroy was applied: no answer" {
			t.Error(got.Summary())
		}
	}
	open.Action = election.ActionRelease
	if got := open.Follow(moved); got.Outage.Max != nil || got.Reason != "Consul did not confirm the release; perhaps the leader changed without it" {
		t.Error(got.Summary())
	}
	session := act.Outcome{Action: election.ActionDestroy, Target: election.Target{Session: "695bfbd0-6350"}, Kind: act.OutcomeDone}
	if got := session.Follow(moved); got != session || got.Summary() != "session 695bfbd0 was destroyed" {
		t.Error(got.Summary())
	}
}

func TestOutcomeTextsAreSafe(t *testing.T) {
	const evil = "x\x1b[2J\u202e\u200b\n"
	e := led(evil, "service/web/leader", session("a", evil, evil))
	target := election.Target{Election: evil, Key: e.Key(), Session: evil, Node: evil, CreateIndex: 1, LockIndex: 1, Term: 1}
	e.Terms = []election.Term{{Number: 1, CreateIndex: 1, Session: evil, End: t0}, {Number: 2, CreateIndex: 1, Session: evil + "b", Node: evil, Start: t0}}
	o := act.Outcome{Action: election.ActionRelease, Target: target, Kind: act.OutcomeDone, Reason: evil, Note: evil}
	moved := o.Follow(e)
	for _, text := range []string{o.Summary(), moved.Summary(), moved.New.Session, moved.New.Node, moved.Old().Session, moved.Old().Node} {
		if sanitize.Text(text) != text || !moved.Settled() {
			t.Errorf("%s: %q", moved.Kind, text)
		}
	}
}

func TestAVacancyAfterAGapIsABound(t *testing.T) {
	e := led("web", "service/web/leader", session("b", "web", "n2"))
	e.Terms = []election.Term{
		{Number: 1, CreateIndex: 1, Session: "a", SeenUntil: t0, End: t0.Add(2 * time.Second)},
		{Number: 2, CreateIndex: 1, Session: "b", Start: t0.Add(3 * time.Second), StartKnown: true},
	}
	target := election.Target{Key: e.Key(), Session: "a", CreateIndex: 1, LockIndex: 1, Term: 1}
	o := act.Outcome{Action: election.ActionRelease, Target: target, Kind: act.OutcomeDone}.Follow(e)
	if o.Kind != act.OutcomeMoved || o.VacancyKnown || o.Vacancy != 3*time.Second {
		t.Errorf("%+v", o)
	}
}

func TestOutcomeWhenAWaitEnds(t *testing.T) {
	for _, tt := range []struct {
		kind   act.OutcomeKind
		held   string
		state  election.ConnectionState
		want   act.OutcomeKind
		reason string
	}{
		{act.OutcomeDone, "", election.Lost, act.OutcomeDone, "Consul did not respond; the current leader is unknown"},
		{act.OutcomeDone, "s", election.Live, act.OutcomeDone, "no later term was observed within 1s"},
		{act.OutcomeUnknown, "", election.Live, act.OutcomeUnknown, "not confirmed; the election has no leader"},
	} {
		e := &election.Election{Exists: true, Pair: election.Pair{Key: "k", Session: tt.held}}
		last := &election.Snapshot{At: time.Now(), Elections: []*election.Election{e}, Connection: election.Connection{State: tt.state}}
		o := act.Outcome{Action: election.ActionRelease, Kind: tt.kind, Reason: "not confirmed", Target: election.Target{Key: "k"}}
		if got := o.Ended(last, t0, time.Second, false); got.Kind != tt.want || got.Reason != tt.reason {
			t.Errorf("%s %q, want %s %q", got.Kind, got.Reason, tt.want, tt.reason)
		}
	}
}
