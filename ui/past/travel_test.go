package past_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/internal/history"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
	"electop/ui/past"
	"electop/ui/scene"
)

// visit carries out a jump or a step. It returns the moment or the note.
func visit(t *testing.T, source history.Source, ask func(*past.Traveler) tea.Cmd) (*scene.Past, string) {
	t.Helper()
	var moment *scene.Past
	note := ""
	tr := &past.Traveler{Reader: past.Reader{Ctx: context.Background(), Source: source}, Do: func(a scene.Action) tea.Cmd {
		switch a := a.(type) {
		case scene.Say:
			note = a.Text
		case scene.Visit:
			moment = a.Past
		}
		return nil
	}}
	if cmd := ask(tr); cmd != nil {
		cmd().(kit.TaskMsg).Apply()
	}
	return moment, note
}

func TestMomentsThatUsersType(t *testing.T) {
	berlin := time.FixedZone("CET", 3600)
	now := time.Date(2026, 11, 20, 12, 1, 9, 0, berlin)
	s := uitest.Scene(uitest.Mixed(), now)
	for text, want := range map[string]string{
		"2026-11-20T03:12":          "2026-11-20 03:12:00",
		"2026-11-20 03:12:05":       "2026-11-20 03:12:05",
		"2026-11-20T03:12:05":       "2026-11-20 03:12:05",
		"2026-11-20T03:12:05Z":      "2026-11-20 04:12:05",
		"2026-11-19":                "2026-11-19 00:00:00",
		"03:12":                     "2026-11-20 03:12:00",
		"03:12:05":                  "2026-11-20 03:12:05",
		"23:50":                     "2026-11-19 23:50:00", // yesterday
		"-2h":                       "2026-11-20 10:01:09",
		"-1h30m":                    "2026-11-20 10:31:09",
		"-3d":                       "2026-11-17 12:01:09",
		"":                          ":at requires a time of day",
		"soon":                      "Invalid time: soon.",
		"25:00":                     "Invalid time: 25:00.",
		"--2h":                      "Invalid time",
		"-999999999d":               "Invalid time",
		"2026-11-21T03:12":          "2026-11-21 03:12:00 is in the future.",
		"\x1b[2J":                   "Invalid time",
		"2h":                        "2026-11-20 10:01:09",
		"2026-11-20T03:12:05+01:00": "2026-11-20 03:12:05",
	} {
		moment, note := visit(t, uitest.Incident(), func(tr *past.Traveler) tea.Cmd { return tr.Jump(text, s) })
		got := note
		if moment != nil {
			got = moment.At.Format(time.DateTime)
		}
		if !strings.HasPrefix(got, want) || strings.ContainsRune(got, 0x1b) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func period(datacenter, from, to string) (o history.Observation) {
	o.Datacenter = datacenter
	o.From, _ = time.Parse(time.DateTime, "2026-11-20 "+from)
	o.To, _ = time.Parse(time.DateTime, "2026-11-20 "+to)
	return o
}

func TestTimesWithoutAnObserver(t *testing.T) {
	s := uitest.Scene(uitest.Mixed(), uitest.Now())
	day := func(from, to string) history.Observation { return period("dc1", from, to) }
	lasting := day("04:00:00", "12:01:07")
	lasting.Lasting = true
	other := period("dc2", "02:00:00", "12:01:00")
	short := []history.Observation{day("02:00:00", "03:12:04"), day("03:12:08", "11:00:00")}
	for _, c := range []struct {
		at, want string
		observed []history.Observation
	}{
		{"03:00", "", []history.Observation{day("02:00:00", "03:30:00"), lasting}},
		{"03:45", "03:30:00 04:00:00", []history.Observation{day("02:00:00", "03:30:00"), lasting}},
		{"03:30:05", "03:30:00 04:00:00", []history.Observation{day("02:00:00", "03:30:00"), lasting}},
		{"03:45", "03:30:00 04:00:00", []history.Observation{day("02:00:00", "03:30:00"), lasting, other}},
		{"01:00", "- 02:00:00", []history.Observation{day("02:00:00", "03:30:00"), lasting}},
		{"03:12:06", "03:12:04 03:12:08", short},
		{"11:30", "11:00:00 -", short},
		{"11:30", "", []history.Observation{lasting}},
		{"03:00", "- -", nil},
	} {
		source := uitest.Incident()
		source.Observed = c.observed
		moment, note := visit(t, source, func(tr *past.Traveler) tea.Cmd { return tr.Jump(c.at, s) })
		if moment == nil {
			t.Fatal(note)
		}
		text := func(at time.Time) string {
			if at.IsZero() {
				return "-"
			}
			return at.Format(time.TimeOnly)
		}
		got := ""
		if moment.Unobserved() {
			got = text(moment.Gap.Since) + " " + text(moment.Gap.Until)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.at, got, c.want)
		}
		// An observation may begin some milliseconds after its first event.
		if event, _ := visit(t, source, func(tr *past.Traveler) tea.Cmd { return tr.Step(-1, s, nil) }); event.Unobserved() {
			t.Errorf("%s: an event was not observed", c.at)
		}
	}
}

// If one datacenter was not observed, the board is the last known state.
func TestADatacenterThatWasNotObserved(t *testing.T) {
	s := uitest.Scene(uitest.Federated(), uitest.Now())
	source := uitest.Incident()
	source.Observed = []history.Observation{period("dc1", "02:00:00", "12:00:00"), period("dc2", "02:00:00", "03:30:00")}
	moment, note := visit(t, source, func(tr *past.Traveler) tea.Cmd { return tr.Jump("03:45", s) })
	if moment == nil {
		t.Fatal(note)
	}
	s.Past, s.AsOf = moment, moment.At
	if want := "No observer in dc2 since 03:30:00; last known state."; !moment.Unobserved() || s.GapText() != want {
		t.Errorf("observed %v: %s, want %s", moment.Observed, s.GapText(), want)
	}
}

// The history filters by some elections; this package filters by many. An election without stored events is not an
// error.
func TestStepsOfManyElections(t *testing.T) {
	s := uitest.Scene(uitest.Mixed(), uitest.Now())
	source := &strict{Moments: uitest.Incident()}
	many := make([]string, 0, 500)
	for i := range 500 {
		many = append(many, fmt.Sprintf("service/x%d/leader", i))
	}
	for name, keys := range map[string][]string{
		"many": append(many, "service/billing/leader"), "few": {"service/billing/leader"}, "one unknown": {"service/billing/leader", "service/new/leader"},
	} {
		moment, note := visit(t, source, func(tr *past.Traveler) tea.Cmd { return tr.Step(-1, s, listed(keys)) })
		if moment == nil || moment.Event.Key != "service/billing/leader" || moment.Event.Type != election.Elected {
			t.Errorf("%s: %s %+v", name, note, moment)
		}
	}
}

// listed are elections of the board with these keys.
func listed(keys []string) []*election.Election {
	var all []*election.Election
	for _, key := range keys {
		all = append(all, &election.Election{Datacenter: "dc1", Pair: election.Pair{Key: key}})
	}
	return all
}

// strict is a history that returns an error if a query names an election without events.
type strict struct{ *uitest.Moments } // fails if it knows none of the names

func (s *strict) Events(ctx context.Context, q history.EventQuery) (history.EventPage, error) {
	if len(q.Names) == 0 && q.Limit <= 100 {
		return history.EventPage{}, errors.New("a step reads the events of all elections")
	}
	if len(q.Names) > 0 && !slices.ContainsFunc(q.Names, func(name string) bool { return !strings.Contains(name, "new") }) {
		return history.EventPage{}, history.ErrNoElection
	}
	return s.Moments.Events(ctx, q)
}

// The past of a board of two datacenters contains the elections of both, and of no other datacenter.
func TestThePastOfTwoDatacenters(t *testing.T) {
	source := uitest.Incident()
	for i := range source.All {
		switch e := &source.All[i]; e.Election {
		case "shop":
			e.Datacenter = "dc2"
		case "mail":
			e.Datacenter = "dc3"
		}
	}
	s := uitest.Scene(uitest.Federated(), uitest.Now())
	moment, note := visit(t, source, func(tr *past.Traveler) tea.Cmd { return tr.Jump("03:15", s) })
	if moment == nil {
		t.Fatal(note)
	}
	var got []string
	for _, e := range moment.Snapshot.Elections {
		got = append(got, e.Datacenter+" "+e.Name)
		if moment.Snapshot.Find(e.ID()) != e {
			t.Errorf("Find(%q) returns another election", e.ID())
		}
	}
	if want := []string{"dc1 auth", "dc1 billing", "dc2 shop"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	shop := []*election.Election{{Datacenter: "dc2", Pair: election.Pair{Key: "service/shop/leader"}}}
	elsewhere := []*election.Election{{Datacenter: "dc1", Pair: election.Pair{Key: "service/shop/leader"}}}
	step := func(listed []*election.Election) *scene.Past {
		moment, _ := visit(t, source, func(tr *past.Traveler) tea.Cmd { return tr.Step(-1, s, listed) })
		return moment
	}
	if moment := step(shop); moment == nil || moment.Event.Datacenter != "dc2" {
		t.Errorf("%+v", moment)
	}
	if moment := step(elsewhere); moment != nil {
		t.Errorf("a step to an event of another datacenter: %+v", moment.Event)
	}
}

// The lanes read only the elections near the screen, once a minute, and no state of the board.
func TestLanesReadTheRowsOnTheScreen(t *testing.T) {
	source := &counted{Moments: uitest.Incident()}
	var shown *scene.Lanes
	tr := &past.Traveler{Reader: past.Reader{Ctx: context.Background(), Source: source}, Do: func(a scene.Action) tea.Cmd {
		shown = a.(*scene.Lanes)
		return nil
	}}
	s := uitest.Scene(uitest.Mixed(), uitest.Now())
	rows := listed([]string{"service/auth/leader", "service/billing/leader", "service/shop/leader"})
	read := func(visible, near []*election.Election) bool {
		s.Lanes = shown
		cmd := tr.Lanes(s, 12*time.Hour, visible, near)
		if cmd != nil {
			cmd().(kit.TaskMsg).Apply()
		}
		return cmd != nil
	}
	for _, c := range []struct {
		visible []*election.Election
		read    bool
		after   time.Duration
	}{{rows[:1], true, 0}, {rows[:1], false, time.Second}, {rows[1:2], false, 0}, {rows[2:], true, 0}, {rows[2:], true, time.Hour}} {
		s.Now = s.Now.Add(c.after)
		if got := read(c.visible, rows[:2]); got != c.read {
			t.Errorf("%s: read %v", c.visible[0].Key(), got)
		}
	}
	for _, names := range source.names {
		if !slices.Equal(names, []string{"service/auth/leader", "service/billing/leader"}) || source.states > 0 {
			t.Errorf("the lanes read %q and %d states", names, source.states)
		}
	}
	if terms, observed, known := shown.Of(rows[1]); !known || len(terms) != 2 || len(observed) != 2 || terms[0].Leader != "billing-1" {
		t.Errorf("%v %v %v", known, observed, terms)
	}
}

// counted is a history that counts the reads of terms and states.
type counted struct {
	*uitest.Moments
	names  [][]string
	states int
}

func (c *counted) Terms(ctx context.Context, q history.TermQuery) (history.TermPage, error) {
	c.names = append(c.names, q.Names)
	return c.Moments.Terms(ctx, q)
}

func (c *counted) State(ctx context.Context, at time.Time) (history.State, error) {
	c.states++
	return c.Moments.State(ctx, at)
}
