package board_test

import (
	"cmp"
	"fmt"
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
	var action scene.Action
	d.m, action = d.m.Update(msg, d.s)
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

// click clicks what is drawn at a cell.
func (d *driver) click(x, y int) scene.Action {
	p := uitest.Painter()
	p.Areas = true
	area := kit.AreaAt(d.m.View(d.s, p)[y], x)
	if area == (kit.Area{}) {
		return nil
	}
	return d.send(scene.Clicked{Area: area})
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

func TestFirstSnapshotSelectsAProblem(t *testing.T) {
	if d := drive(t, uitest.Mixed(), 80, 20); d.selected() != "mail" {
		t.Errorf("selected %q", d.selected())
	}
	if d := drive(t, uitest.Crowd(12), 80, 20); d.selected() != "svc-00000" {
		t.Errorf("selected %q of a board without problems, want svc-00000", d.selected())
	}
}

// Parts of the board, such as datacenters, may be read one after the other.
func TestTheCompleteBoardSelectsTheFirstRow(t *testing.T) {
	part := uitest.Crowd(12)
	part.Loaded, part.Elections = false, part.Elections[6:]
	for _, c := range []struct{ keys, want string }{{"", "svc-00000"}, {"j", "svc-00007"}} {
		d := drive(t, part, 80, 20)
		d.keys(strings.Fields(c.keys)...)
		d.show(uitest.Crowd(12), uitest.Now())
		if d.selected() != c.want {
			t.Errorf("after the keys %q: %s is selected, want %s", c.keys, d.selected(), c.want)
		}
	}
}

// An election whose candidates were not searched is not a problem yet.
func TestTheEndOfTheSearchSelectsAProblem(t *testing.T) {
	unsearched := func(s *election.Snapshot, e *election.Election) *election.Election {
		changed := *e
		changed.Unsearched = s.Find(e.ID()).Pair.Session == ""
		return &changed
	}
	s := uitest.Mixed()
	for i, e := range s.Elections {
		s.Elections[i] = unsearched(s, e)
	}
	s.Elections = slices.DeleteFunc(s.Elections, func(e *election.Election) bool { return e.Name == "search" }) // a lock-delay
	d := drive(t, s, 80, 20)
	if d.selected() != "auth" || d.m.Counts().Vacant != 0 {
		t.Errorf("selected %q, %+v", d.selected(), d.m.Counts())
	}
	d.show(uitest.Mixed(), uitest.Now())
	if d.selected() != "mail" || d.m.Counts().Vacant != 1 {
		t.Errorf("selected %q, %+v", d.selected(), d.m.Counts())
	}
}

func TestMovement(t *testing.T) {
	d := drive(t, uitest.Crowd(300), 80, 20)
	for _, c := range []struct{ keys, want string }{
		{"g", "svc-00000"}, {"j j k", "svc-00001"}, {"G", "svc-00299"}, {"home", "svc-00000"}, {"end", "svc-00299"},
		{"g pgdown pgup", "svc-00000"}, {"ctrl+d ctrl+u", "svc-00000"}, {"n", "svc-00013"}, {"n", "svc-00110"},
		{"N", "svc-00013"}, {"down up", "svc-00013"},
	} {
		if d.keys(strings.Fields(c.keys)...); d.selected() != c.want {
			t.Errorf("after %s: %s, want %s", c.keys, d.selected(), c.want)
		}
		d.row(c.want)
	}
	d = drive(t, uitest.Crowd(5), 80, 20)
	d.wantsNote(d.keys("n"), "No election has a problem.")
	if _, zooms := d.keys("enter").(scene.Zoom); !zooms {
		t.Error("enter does not open the election")
	}
}

func TestMouse(t *testing.T) {
	d := drive(t, uitest.Crowd(300), 120, 20)
	if d.click(10, 3); d.selected() != "svc-00002" {
		t.Errorf("clicked: %s", d.selected())
	}
	if d.send(scene.Wheeled{Step: 3}); d.selected() != "svc-00005" {
		t.Errorf("wheel: %s", d.selected())
	}
	x := strings.Index(d.lines()[0], "FOR")
	d.wantsNote(d.click(x, 0), "Sorted by for.")
	d.wantsNote(d.click(x, 0), "Sorted by for, reversed.")
	before := d.selected()
	if d.click(10, 19); d.selected() != before {
		t.Error("a click on the line about hidden rows selects a row")
	}
}

func TestFilter(t *testing.T) {
	d := drive(t, uitest.Mixed(), 120, 20)
	for _, c := range []struct{ text, want string }{
		{"", "auth billing mail orders search shop users web"},
		{"s", "auth billing mail orders search shop users web"}, // every key has "service"
		{"BILL", "billing"},
		{"!node-1 !node-2", "billing shop"},
		{"state:vacant", "mail"},
		{"state:lock_delay", "search"},
		{"!state:led", "mail search web"},
		{"state:led node:node-1", "orders users"},
		{"node:node-3", "billing shop"},
		{"leader:auth-2", "auth"},
		{"key:service/web/", "web"},
		{"session:4f5ada57", "auth"},
		{`"foo:bar"`, ""},
		{"/^(auth|mail)$/", "auth mail"},
		{"!/e/", ""}, // every key has "service"
		{"for:<10m", "billing mail search shop"},
		{"advice:overwritten", "orders"},
		{"foo:bar web", "web"}, // an unknown word hides nothing
		{"!", "auth billing mail orders search shop users web"},
	} {
		if d.send(scene.Filtered{Text: c.text}); d.names() != c.want {
			t.Errorf("%q gives %q, want %q", c.text, d.names(), c.want)
		}
	}
	if err := d.m.Filter().Err; err != nil {
		t.Errorf("error of a valid filter: %v", err)
	}
	d.send(scene.Filtered{Text: "nothing"})
	if lines := d.lines(); !strings.Contains(lines[2], "No election matches the filter.") {
		t.Errorf("%q", lines)
	}
}

func TestBackUndoesOneStepAtATime(t *testing.T) {
	d := drive(t, uitest.Mixed(), 120, 20)
	d.send(scene.Filtered{Text: "o"})
	d.keys("space")
	marks := func() int { visible, hidden := d.m.Marks(d.s); return visible + hidden }
	if d.send(scene.Back{}); !d.m.Filter().Empty() || marks() != 1 {
		t.Error("the first step did not clear the filter, or it removed the mark")
	}
	if d.send(scene.Back{}); marks() > 0 {
		t.Error("the second step did not clear the marks")
	}
	if _, passes := d.send(scene.Back{}).(scene.Pass); !passes {
		t.Error("the third step does not return Pass")
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
	if !ok || ask.Kind != election.ActionDestroy || len(ask.Visible) != 1 || ask.Visible[0].Target != d.m.Selected().Target() {
		t.Errorf("nothing marked: %+v", ask)
	}
	d.keys("g", "space", "space", "space") // auth, billing, mail
	d.send(scene.Filtered{Text: "!auth"})
	ask, _ = d.send(scene.Choose{Kind: election.ActionRelease}).(scene.Ask)
	if len(ask.Visible) != 1 || ask.Visible[0].Election != "billing" || len(ask.Hidden) != 1 || !ask.Hidden[0].Hidden ||
		!slices.Equal(ask.Leaderless, []string{"mail"}) {
		t.Errorf("three marked: %+v", ask)
	}
	d.send(scene.Filtered{Text: "shop"})
	if ask, _ = d.choose(election.ActionRelease).(scene.Ask); ask.Unmarked != "shop" || len(ask.Visible) > 0 {
		t.Errorf("all hidden: %+v", ask)
	}
	d.send(scene.Unmark{Targets: ask.Hidden})
	if visible, hidden := d.m.Marks(d.s); visible != 0 || hidden != 1 {
		t.Errorf("%d visible and %d hidden marks after the action, want only that of the vacant election", visible, hidden)
	}
	d.s.ReadOnly = true
	d.wantsNote(d.choose(election.ActionRelease), "Read-only")
}

func TestSort(t *testing.T) {
	snap := uitest.Crowd(200)
	d := drive(t, snap, 120, 300)
	for word, by := range map[string]func(a, b *election.Election) int{
		"election": func(a, b *election.Election) int { return cmp.Compare(a.Name, b.Name) },
		"leader":   func(a, b *election.Election) int { return cmp.Compare(a.Leader, b.Leader) },
		"term":     func(a, b *election.Election) int { return cmp.Compare(b.Term, a.Term) },
		"changes": func(a, b *election.Election) int {
			return cmp.Compare(b.Changes(uitest.Now(), time.Hour), a.Changes(uitest.Now(), time.Hour))
		},
		"problems": func(a, b *election.Election) int {
			facts := query.Facts{At: uitest.Now(), Checks: snap.ChecksOf}
			return cmp.Compare(facts.ProblemRank(a), facts.ProblemRank(b))
		},
	} {
		d.wantsNote(d.send(scene.SortBy{Text: word[:3]}), "Sorted by "+word+".")
		up := slices.Clone(d.m.Visible())
		if !slices.IsSortedFunc(up, by) || len(up) != 200 {
			t.Errorf("not sorted by %s: %s", word, d.names())
		}
		d.send(scene.SortBy{Text: word + " reverse"})
		down := func(a, b *election.Election) int { return by(b, a) }
		if !slices.IsSortedFunc(d.m.Visible(), down) {
			t.Errorf("not sorted by %s, reversed: %s", word, d.names())
		}
	}
	d.wantsNote(d.send(scene.SortBy{Text: "x"}), "Keys: election, problems, state")
}

// Rows with equal sort values are sorted by name, regardless of the previous order.
func TestSortIsTotal(t *testing.T) {
	words := query.OrderKeys()
	d := drive(t, uitest.Crowd(60), 120, 300)
	for _, word := range words {
		d.send(scene.SortBy{Text: word})
		want := d.names()
		for _, other := range words {
			d.send(scene.SortBy{Text: other + " rev"})
			if d.send(scene.SortBy{Text: word}); d.names() != want {
				t.Errorf("%s after %s: %s, want %s", word, other, d.names(), want)
			}
		}
	}
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
	for w := 40; w <= 240; w++ {
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

// A row must not move when its node is no longer watched. Otherwise rows would move when they leave the screen.
func TestOrderDoesNotDependOnWhatIsWatched(t *testing.T) {
	for _, by := range []string{"state", "checks"} {
		now, then := drive(t, uitest.Mixed(), 120, 20), drive(t, outdated(time.Hour), 120, 20)
		now.send(scene.SortBy{Text: by})
		then.send(scene.SortBy{Text: by})
		if now.names() != then.names() {
			t.Errorf("sorted by %s: %s, with outdated checks: %s", by, now.names(), then.names())
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

func TestChecksThatAreNotWatchedShowTheirAge(t *testing.T) {
	for age, want := range map[time.Duration]string{
		-time.Second: "0s ago", 59 * time.Second: "59s ago", 12*time.Minute + 59*time.Second: "12m ago",
		23*time.Hour + 59*time.Minute: "23h ago", 50 * time.Hour: "2d ago",
	} {
		for _, width := range []int{80, 120, 160} {
			d := drive(t, outdated(age), width, 20)
			if row := d.row("billing"); !strings.Contains(row, want) || strings.Contains(row, "! 1 ") {
				t.Errorf("%d columns: %q lacks %s", width, row, want)
			}
			if c := d.m.Counts(); c.Warning+c.Critical > 0 {
				t.Errorf("old checks put %d leaders at risk", c.Warning+c.Critical)
			}
		}
	}
	if c := drive(t, uitest.Mixed(), 120, 20).m.Counts(); c.Warning+c.Critical != 2 {
		t.Errorf("%+v", c)
	}
}

func TestViewChangesNothing(t *testing.T) {
	d := drive(t, uitest.Crowd(300), 120, 20)
	d.keys("G", "space", "k")
	before := fmt.Sprintf("%#v", d.m)
	first := strings.Join(d.lines(), "\n")
	if again := strings.Join(d.lines(), "\n"); again != first {
		t.Errorf("drawn twice:\n%s\nthen\n%s", first, again)
	}
	if fmt.Sprintf("%#v", d.m) != before {
		t.Error("drawing changed the board")
	}
}

// The columns do not move when leaders are lost: they remain wide enough for the last leaders.
func TestColumnsDoNotMoveWhenLeadersAreLost(t *testing.T) {
	led := func() *election.Snapshot {
		snap := uitest.Mixed()
		snap.Elections = []*election.Election{uitest.Led(1, "api", 1, time.Hour), uitest.Led(2, "billing", 2, time.Hour)}
		for i, e := range snap.Elections {
			label, node := fmt.Sprintf("%s-with-a-long-name-%d 10.0.0.%d:900%[2]d", e.Name, i, i+5), fmt.Sprintf("server-in-rack-%d", i)
			e.Leader, e.Session.Node, e.Terms[0].Leader, e.Terms[0].Node = label, node, label, node
			e.Term, e.Terms[0].Number, e.Pair.LockIndex = 1234567, 1234567, 1234567
		}
		return snap
	}
	lost := func(e *election.Election) {
		e.Terms[0].End, e.VacantSince, e.VacantSinceKnown = uitest.Now(), uitest.Now(), true
		e.Leader, e.Session, e.Pair.Session = "", nil, ""
	}
	for what, change := range map[string]func(*election.Election){
		"vacant":      lost,
		"lock-delay":  func(e *election.Election) { lost(e); e.LockDelayUntil = uitest.Now().Add(time.Minute) },
		"deleted":     func(e *election.Election) { held := e.Pair; lost(e); e.Exists, e.Pair = false, held },
		"overwritten": func(e *election.Election) { e.Pair.LockIndex = 0 },
		"unreadable":  func(e *election.Election) { e.Unreadable = true },
	} {
		for w := 40; w <= 240; w++ {
			d := drive(t, led(), w, 5)
			before := d.lines()[0]
			after := led()
			for _, e := range after.Elections {
				change(e)
			}
			if d.show(after, uitest.Now()); d.lines()[0] != before {
				t.Errorf("%s, at %d the columns move:\n%s\n%s", what, w, before, d.lines()[0])
				break
			}
		}
	}
}
