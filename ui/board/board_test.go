package board_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/election/query"
	"electop/ui"
	"electop/ui/board"
	"electop/ui/internal/uitest"
	"electop/ui/scene"
)

// driver sends messages to a board and builds its scenes.
// show sends a snapshot to the board.
// driver sends messages to a board and builds its scenes.
type driver struct {
	*uitest.View
	m *board.Model
}

func drive(t testing.TB, snap *election.Snapshot, w, h int) *driver {
	t.Helper()
	m := board.New(ui.NewKeys(false, nil))
	v := uitest.Drive(t, m, &election.Snapshot{At: uitest.Now()}, w, h)
	v.Select = func(s *scene.Scene) { s.Selected = m.Selected() }
	v.Show(snap)
	return &driver{v, m}
}

func (d *driver) selected() string { return d.m.Selected().Name }

// names lists the visible elections, top first.
func (d *driver) names() string {
	var all []string
	for _, e := range d.m.Visible() {
		all = append(all, e.Name)
	}
	return strings.Join(all, " ")
}

func TestGoToShowsWhatTheFilterHides(t *testing.T) {
	d := drive(t, uitest.Mixed(), 120, 20)
	d.Send(scene.Filtered{Text: "web"})
	if d.Send(scene.GoTo{ID: "service/auth/leader"}); d.selected() != "web" {
		t.Errorf("the cursor moved to %s, want web", d.selected())
	}
	if d.Send(scene.GoTo{ID: "service/auth/leader", Reveal: true}); d.selected() != "auth" || !d.m.Filter.Empty() {
		t.Errorf("the cursor is on %s with the filter %q, want auth without a filter", d.selected(), d.m.Filter.Text)
	}
	d.Says(d.Send(scene.GoTo{ID: "service/gone", Reveal: true}), "not on the board")
}

// The cursor stays on its election while the filter shows it. The rows depend only on the latest snapshot.
func TestCursorStaysOnItsElection(t *testing.T) {
	filters := []string{"", "state:lock", "!state:vacant", "node-2", "!new"}
	words := query.OrderKeys()
	for seed := range 8 * len(filters) {
		h := uitest.NewHistory(uint64(seed), 60)
		d := drive(t, h.Snap, 200, 100)
		filter, by := scene.Filtered{Text: filters[seed%len(filters)]}, scene.SortBy{Text: words[seed%len(words)] + []string{" reverse", "", ""}[seed%3]}
		d.Send(filter)
		d.Send(by)
		for range 40 {
			h.Step()
			d.Keys([]string{"j", "k", "G", "g", "space"}[h.Rnd.IntN(5)])
			was := d.m.Selected()
			d.S.Now = h.Now
			d.Show(h.Snap)
			shown := was != nil && slices.ContainsFunc(d.m.Visible(), func(e *election.Election) bool { return e.ID() == was.ID() })
			if got := d.m.Selected(); shown && (got == nil || got.ID() != was.ID()) {
				t.Fatalf("seed %d, %+v, %+v: the cursor left %q", seed, filter, by, was.ID())
			}
			if h.Rnd.IntN(8) > 0 {
				continue
			}
			fresh := drive(t, h.Snap, 200, 100)
			fresh.S.Now = h.Now
			fresh.Show(h.Snap)
			fresh.Send(filter)
			fresh.Send(by)
			if d.names() != fresh.names() || d.m.Counts != fresh.m.Counts {
				t.Fatalf("seed %d, %+v, %+v: %s, want %s as on a new board", seed, filter, by, d.names(), fresh.names())
			}
		}
	}
}

// outdated returns a snapshot whose checks are as old as since.
// Rows with equal sort values are sorted by name, regardless of the previous order. A row must not move when its node
// is no longer watched, as when it leaves the screen.
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
		if before, after := drive(t, one(false), w, 5).Lines()[0], drive(t, one(true), w, 5).Lines()[0]; before != after {
			t.Errorf("at %d:\n%s\n%s", w, before, after)
		}
	}
}
