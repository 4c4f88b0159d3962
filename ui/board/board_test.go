package board_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/query"
	"electop/ui"
	"electop/ui/board"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
	"electop/ui/scene"
)

// driver sends messages to a board and builds its scenes.
type driver struct {
	t    testing.TB
	m    *board.Model
	s    *scene.Scene
	rect kit.Rect
}

func drive(t testing.TB, snap *election.Snapshot, w, h int) *driver {
	t.Helper()
	d := &driver{
		t: t, m: board.New(ui.NewKeys(false, ui.Keys{})), rect: kit.Rect{W: w, H: h},
		s: uitest.Scene(&election.Snapshot{At: uitest.Now()}, uitest.Now()),
	}
	d.send(scene.Resized{Rect: d.rect})
	d.show(snap, uitest.Now())
	return d
}

// show sends a snapshot to the board.
func (d *driver) show(snap *election.Snapshot, now time.Time) {
	before := d.s
	d.s = uitest.Scene(snap, now)
	d.send(scene.Changed{Before: before})
}

func (d *driver) send(msg tea.Msg) scene.Action {
	action := d.m.Update(msg, d.s)
	d.s.Selected = d.m.Selected()
	return action
}

func (d *driver) keys(names ...string) (action scene.Action) {
	for _, name := range names {
		action = d.send(uitest.Press(name))
	}
	return action
}

func (d *driver) choose(kind election.ActionKind) scene.Action {
	return d.send(scene.Choose{Kind: kind})
}

func (d *driver) lines() []string {
	d.t.Helper()
	lines := d.m.View(d.s, uitest.Painter())
	if len(lines) != d.rect.H {
		d.t.Errorf("%d lines, want %d", len(lines), d.rect.H)
	}
	for _, line := range lines {
		if w := kit.Width(line); w != d.rect.W {
			d.t.Errorf("%d cells, want %d: %q", w, d.rect.W, line)
		}
	}
	return lines
}

func (d *driver) row(name string) string {
	d.t.Helper()
	for _, line := range d.lines() {
		if strings.Contains(line, " "+name+" ") {
			return line
		}
	}
	d.t.Fatalf("%s is not visible", name)
	return ""
}

func (d *driver) selected() string {
	if e := d.m.Selected(); e != nil {
		return e.Name
	}
	return ""
}

// names lists the visible elections, top first.
func (d *driver) names() string {
	var all []string
	for _, e := range d.m.Visible() {
		all = append(all, e.Name)
	}
	return strings.Join(all, " ")
}

func (d *driver) wantsNote(action scene.Action, text string) {
	d.t.Helper()
	if say, ok := action.(scene.Say); !ok || !strings.Contains(say.Text, text) {
		d.t.Errorf("the note is %+v, want %q", action, text)
	}
}

func TestCursorFollowsTheElection(t *testing.T) {
	d := drive(t, uitest.Mixed(), 120, 20)
	d.keys("G", "k") // users
	steps := []struct {
		what string
		do   func()
	}{
		{"sorted by state", func() { d.keys("s") }},
		{"reversed", func() { d.keys("S") }},
		{"sorted by leader", func() { d.keys("s") }},
		{"elections inserted before the cursor's", func() {
			s := uitest.Mixed()
			s.Elections = append([]*election.Election{uitest.Led(20, "aaa", 1, time.Minute)}, s.Elections...)
			d.show(s, uitest.Now())
		}},
		{"elections deleted", func() {
			s := uitest.Mixed()
			s.Elections = s.Elections[3:]
			d.show(s, uitest.Now())
		}},
		{"filtered", func() { d.send(scene.Filtered{Text: "us"}) }},
		{"filter cleared", func() { d.send(scene.Back{}) }},
		{"resized", func() { d.rect = kit.Rect{W: 60, H: 4}; d.send(scene.Resized{Rect: d.rect}) }},
	}
	for _, s := range steps {
		if s.do(); d.selected() != "users" {
			t.Errorf("%s: the cursor is on %q", s.what, d.selected())
		}
		d.row("users")
	}
}

func TestCursorAfterItsElectionWasDeleted(t *testing.T) {
	d := drive(t, uitest.Mixed(), 120, 20)
	d.keys("g", "j") // billing
	s := uitest.Mixed()
	s.Elections = slices.Delete(s.Elections, 1, 2)
	d.show(s, uitest.Now())
	if d.selected() != "mail" {
		t.Errorf("the cursor is on %q, want the next row, mail", d.selected())
	}
	d.show(&election.Snapshot{Loaded: true}, uitest.Now())
	d.show(uitest.Mixed(), uitest.Now())
	if d.selected() == "" {
		t.Error("no election is selected after the board was empty")
	}
}

func TestFilter(t *testing.T) {
	d := drive(t, uitest.Mixed(), 120, 20)
	for _, c := range []struct{ text, want string }{
		{"", "auth billing mail orders search shop users web"},
		{"state:led node:node-1", "orders users"},
		{"advice:overwritten", "orders"},
	} {
		if d.send(scene.Filtered{Text: c.text}); d.names() != c.want {
			t.Errorf("%q gives %q, want %q", c.text, d.names(), c.want)
		}
	}
	d.send(scene.Filtered{Text: "nothing"})
	if lines := d.lines(); !strings.Contains(lines[2], "No election matches the filter.") {
		t.Errorf("%q", lines)
	}
}

func TestGoToShowsWhatTheFilterHides(t *testing.T) {
	d := drive(t, uitest.Mixed(), 120, 20)
	d.send(scene.Filtered{Text: "web"})
	if d.send(scene.GoTo{ID: "service/auth/leader"}); d.selected() != "web" {
		t.Errorf("the cursor moved to %s, want web", d.selected())
	}
	if d.send(scene.GoTo{ID: "service/auth/leader", Reveal: true}); d.selected() != "auth" || !d.m.Filter().Empty() {
		t.Errorf("the cursor is on %s with the filter %q, want auth without a filter", d.selected(), d.m.Filter().Text)
	}
	d.wantsNote(d.send(scene.GoTo{ID: "service/gone", Reveal: true}), "not on the board")
}

func TestChosenAreTheMarkedOrElseTheSelected(t *testing.T) {
	d := drive(t, uitest.Mixed(), 120, 20)
	d.wantsNote(d.choose(election.ActionRelease), "mail has no leader: there is nothing to release.")
	d.keys("g", "j")
	ask, ok := d.choose(election.ActionDestroy).(scene.Ask)
	if !ok || ask.Kind != election.ActionDestroy || len(ask.Targets) != 1 || ask.Targets[0].Target != d.m.Selected().Target() {
		t.Errorf("nothing marked: %+v", ask)
	}
	d.keys("g", "space", "space", "space") // auth, billing, mail
	d.send(scene.Filtered{Text: "!auth"})
	ask, _ = d.send(scene.Choose{Kind: election.ActionRelease}).(scene.Ask)
	if len(ask.Targets) != 1 || ask.Targets[0].Election != "billing" || !slices.Equal(ask.Hidden, []string{"auth"}) ||
		!slices.Equal(ask.Leaderless, []string{"mail"}) {
		t.Errorf("three marked: %+v", ask)
	}
	d.send(scene.Filtered{Text: "shop"})
	d.wantsNote(d.choose(election.ActionRelease), scene.AllHidden)
	d.send(scene.Unmark{Targets: ask.Targets})
	if visible, hidden := d.m.Marks(); visible != 0 || hidden != 2 {
		t.Errorf("%d visible and %d hidden marks after the action, want two hidden", visible, hidden)
	}
	d.s.ReadOnly = true
	d.wantsNote(d.choose(election.ActionRelease), "Read-only")
}

// The cursor stays on its election while the filter shows it. The rows depend only on the latest snapshot.
func TestCursorStaysOnItsElection(t *testing.T) {
	filters := []string{"", "state:lock", "!state:vacant", "node-2", "!new"}
	words := query.OrderKeys()
	for seed := range 8 * len(filters) {
		h := uitest.NewHistory(uint64(seed), 60)
		d := drive(t, h.Snap, 200, 100)
		filter, by := scene.Filtered{Text: filters[seed%len(filters)]}, scene.SortBy{Text: words[seed%len(words)] + []string{" reverse", "", ""}[seed%3]}
		d.send(filter)
		d.send(by)
		for range 40 {
			h.Step()
			d.keys([]string{"j", "k", "G", "g", "space"}[h.Rnd.IntN(5)])
			was := d.m.Selected()
			d.show(h.Snap, h.Now)
			shown := was != nil && slices.ContainsFunc(d.m.Visible(), func(e *election.Election) bool { return e.ID() == was.ID() })
			if got := d.m.Selected(); shown && (got == nil || got.ID() != was.ID()) {
				t.Fatalf("seed %d, %+v, %+v: the cursor left %q", seed, filter, by, was.ID())
			}
			if h.Rnd.IntN(8) > 0 {
				continue
			}
			fresh := drive(t, h.Snap, 200, 100)
			fresh.show(h.Snap, h.Now)
			fresh.send(filter)
			fresh.send(by)
			if d.names() != fresh.names() || d.m.Counts() != fresh.m.Counts() {
				t.Fatalf("seed %d, %+v, %+v: %s, want %s as on a new board", seed, filter, by, d.names(), fresh.names())
			}
		}
	}
}

func TestColumnsByWidth(t *testing.T) {
	snap := uitest.Mixed()
	snap.Elections = []*election.Election{uitest.Led(1, "auth-token", 1, time.Hour)}
	for w := 40; w <= 240; w += 7 {
		drive(t, snap, w, 5).lines()
	}
	for w, want := range map[int]string{
		40:  "ELECTION LEADER FOR",
		80:  "ELECTION LEADER NODE FOR CHECKS 15 MIN CHG/h",
		120: "ELECTION LEADER NODE FOR TERM SESSION CHECKS LAST 15 MIN CHANGES/h",
	} {
		head := strings.ReplaceAll(drive(t, snap, w, 5).lines()[0], "▲", "")
		if got := strings.Join(strings.Fields(head), " "); got != want {
			t.Errorf("at %d: %s, want %s", w, got, want)
		}
	}
	for w, want := range map[int]bool{120: false, 159: true} { // a whole ID is shown wherever there is room
		if row := drive(t, snap, w, 5).row("auth-token"); strings.Contains(row, uitest.SessionID(1)) != want {
			t.Errorf("at %d: %s", w, row)
		}
	}
}

// outdated returns a snapshot whose checks are as old as since.
func outdated(since time.Duration) *election.Snapshot {
	s := uitest.Mixed()
	for node, known := range s.Checks {
		known.Until = uitest.Now().Add(-since)
		s.Checks[node] = known
	}
	return s
}

// Rows with equal sort values are sorted by name, regardless of the previous order. A row must not move when its node
// is no longer watched, as when it leaves the screen.
func TestSort(t *testing.T) {
	for word, want := range map[string]string{
		"changes":  "billing shop search web auth mail orders users",
		"checks":   "shop billing web auth mail orders search users",
		"election": "auth billing mail orders search shop users web",
		"for":      "search shop billing mail web orders users auth",
		"leader":   "mail search auth billing orders shop users web",
		"node":     "mail search orders users auth web billing shop",
		"problems": "mail search web shop orders billing auth users",
		"state":    "mail search auth billing orders shop users web",
		"term":     "web users shop search orders mail billing auth",
	} {
		for _, snap := range []*election.Snapshot{uitest.Mixed(), outdated(time.Hour)} {
			d := drive(t, snap, 120, 20)
			d.send(scene.SortBy{Text: "checks rev"})
			d.wantsNote(d.send(scene.SortBy{Text: word[:3]}), "Sorted by "+word+".")
			if d.names() != want && (word != "problems" || snap.Checks["node-1"].Current()) {
				t.Errorf("%q: %q,", word, d.names())
			}
		}
	}
	d := drive(t, uitest.Mixed(), 120, 20)
	d.send(scene.SortBy{Text: "term rev"})
	if want := "auth"; !strings.HasPrefix(d.names(), want) {
		t.Errorf("reversed: %s", d.names())
	}
	d.wantsNote(d.send(scene.SortBy{Text: "x"}), "Keys: election, problems, state")
}

// The columns remain wide enough for the last leaders.
func TestColumnsDoNotMoveWhenLeadersAreLost(t *testing.T) {
	one := func(lost bool) *election.Snapshot {
		e := uitest.Led(1, "api", 1, time.Hour)
		e.Leader, e.Terms[0].Leader, e.Terms[0].Node, e.Session.Node = "api-in-rack-17 10.0.0.5:9001", "api-in-rack-17 10.0.0.5:9001", "server-in-rack-17", "server-in-rack-17"
		if lost {
			e.Terms[0].End, e.VacantSince, e.Leader, e.Session, e.Pair.Session = uitest.Now(), uitest.Now(), "", nil, ""
		}
		return &election.Snapshot{Loaded: true, Elections: []*election.Election{e}}
	}
	for w := 40; w <= 240; w += 7 {
		if before, after := drive(t, one(false), w, 5).lines()[0], drive(t, one(true), w, 5).lines()[0]; before != after {
			t.Errorf("at %d:\n%s\n%s", w, before, after)
		}
	}
}
