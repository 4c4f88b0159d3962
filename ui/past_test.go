package ui

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
)

// recall shows the mixed board with a history whose lanes were read.
func recall(t *testing.T, source history.Source, w, h int, change ...func(*Options)) *driver {
	t.Helper()
	closed := make(chan *election.Snapshot)
	close(closed)
	d := drive(t, nil, w, h, append(change, func(o *Options) { o.History, o.Snapshots = source, closed })...)
	d.run(d.send(snapshotMsg{mixedSnapshot()}))
	return d
}

// run runs the reads among commands and the reads that they cause.
func (d *driver) run(cmd tea.Cmd) {
	d.t.Helper()
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			d.run(c)
		}
	case kit.TaskMsg:
		d.run(d.send(msg))
	}
}

// travels presses keys one by one. It completes the reads of the history after each.
func (d *driver) travels(names ...string) {
	d.t.Helper()
	for _, name := range names {
		d.run(d.keys(name))
	}
}

// at runs the command :at with a moment.
func (d *driver) at(text string) { d.travels(":", "'at "+text, "enter") }

func inThePast(w, h int, change ...func(*Options)) func(*testing.T, ...string) *driver {
	return func(t *testing.T, names ...string) *driver {
		d := recall(t, uitest.Incident(), w, h, change...)
		for _, name := range names {
			if text, ok := strings.CutPrefix(name, "at "); ok {
				d.at(text)
				continue
			}
			d.travels(name)
		}
		return d
	}
}

// pastScenes are screens of the past.
func pastScenes() map[string][]string {
	return map[string][]string{
		"past":            {"at 03:12:06"},
		"past-step":       {"at 03:12:20", "[", "["},
		"past-led":        {"at 03:15", "]", "["},
		"past-gap":        {"at 03:45"},
		"past-before":     {"at 2026-11-19"},
		"past-filter":     {"/", "'billing", "enter", "at 03:12:06"},
		"past-typing":     {"at 03:12:06", ":", "'at 03:1"},
		"past-zoom":       {"at 03:12:06", "enter"},
		"past-raw":        {"at 03:12:25", "shift+tab"},
		"past-candidates": {"at 03:12:25", "tab"},
		"past-sessions":   {"at 03:12:25", "3"},
		"past-events":     {"at 03:12:21", "2"},
		"past-history":    {"at 03:12:06", "n", "tab", "tab"},
		"past-lanes":      {"at 04:30", "-", "-", "-"},
		"lanes":           {"-", "-"},
	}
}

func TestScreensOfThePast(t *testing.T) {
	for name, keys := range pastScenes() {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, s := range sizes() {
				b.WriteString("=== " + fmt.Sprintf("%dx%d", s[0], s[1]) + "\n")
				b.WriteString(trimLines(inThePast(s[0], s[1])(t, keys...).text()) + "\n")
			}
			golden(t, name, b.String())
		})
	}
}

func TestThePastShowsAgesAsOfTheMoment(t *testing.T) {
	d := inThePast(160, 45)(t, "at 03:12:06", "n")
	d.wants("PAST  2026-11-20 03:12:06 · 8h49m ago", "lock-delay ~15s", "0s ago", "≥1h12m", "check of its session went critical", "not stored")
	d.lacks("Likely next", "Port", "Advice")
	if c := d.m.board.Counts(); c.Of[0] != 3 || c.Of[2] != 1 {
		t.Errorf("%+v", c)
	}
	d.at("03:12:18")
	d.wants("lock-delay ~3s", "12s ago")
	d.at("25:00")
	d.wants("Invalid time")
	d.at("-8h48m")
	d.wants("2026-11-20 03:13:09", "billing-3", "48s")
}

func TestStepsFollowEvents(t *testing.T) {
	d := inThePast(160, 45)(t)
	var seen []string
	for range 6 {
		d.travels("[")
		seen = append(seen, d.m.past.At.Format("15:04:05.000")+" "+d.m.scene.Selected.Name)
	}
	want := []string{"03:20:00.000 shop", "03:12:20.300 billing", "03:12:05.180 billing", "03:12:05.120 billing", "02:00:00.000 shop", "02:00:00.000 shop"}
	if !slices.Equal(seen, want) {
		t.Errorf("%q", seen)
	}
	d.wants("The history contains no earlier event for this board.")
	d.travels("]", "]")
	d.wants("03:12:05.180", "billing", "explained")
	d.travels("]", "]", "]")
	d.wants("03:20:00.000", "and 1 other event", "The history contains no later event for this board. Press esc to return to now.")
	d.travels("esc", "]")
	d.wants("The board shows the present: there is no later event.")
}

func TestStepsFollowTheFilter(t *testing.T) {
	d := inThePast(160, 45)(t, "/", "'billing", "enter", "[")
	d.wants("03:12:20.300", "elected", "1 of 4 elections")
	d.travels("]")
	d.wants("The history contains no later event of the elections that the filter shows")
	d.travels("esc", "/", "ctrl+u", "'zebra", "enter", "[")
	d.wants("No election matches the filter, so there is no event to step to.")
}

func TestActionsAreDisabledInThePast(t *testing.T) {
	for name, keys := range map[string][]string{
		"release is disabled": {"r"}, "destroy is disabled": {"x"}, "marks are disabled": {"space"}, "pause is disabled": {"p"},
		"release is disabled ": {":", "'release", "enter"}, "destroy is disabled ": {"3", ":", "'destroy", "enter"},
	} {
		d := inThePast(160, 45)(t, append([]string{"at 03:12:25"}, keys...)...)
		d.wants(strings.TrimSpace(name), "sc to return to now")
		if d.m.overlay != nil || d.m.paused || d.marks() > 0 {
			t.Errorf("%v had an effect in the past", keys)
		}
	}
	d := inThePast(160, 45)(t, "at 03:12:25", "c", "v")
	d.wants("The history does not store values.")
}

func TestEscReturnsToNowAtOnce(t *testing.T) {
	for _, keys := range [][]string{{}, {"enter"}, {"/", "'billing", "enter"}, {"2"}, {"3"}, {"tab"}} {
		d := inThePast(160, 45)(t, append([]string{"at 03:12:25"}, keys...)...)
		d.wants("PAST")
		d.travels("r", "esc")
		d.lacks("PAST", "This is the past")
		if d.m.scene.Shown != d.m.live || !d.m.scene.AsOf.Equal(d.now) {
			t.Errorf("%v, r, esc: the board does not show the present", keys)
		}
	}
}

func TestTheFeedContinuesInThePast(t *testing.T) {
	d := inThePast(160, 45)(t, "g", "space", "at 03:12:25")
	before := d.m.scene.Shown
	d.now = d.now.Add(time.Minute)
	d.send(snapshotMsg{takenOver(mixedSnapshot(), "service/billing/leader")})
	if d.m.scene.Shown != before {
		t.Error("the board in the past changed")
	}
	d.wants("8h49m ago", "billing-3")
	d.travels("esc")
	d.wants("billing-9")
	if d.marks() != 1 {
		t.Errorf("%d marks", d.marks())
	}
}

func TestALostConnectionIsShownBesideThePast(t *testing.T) {
	d := inThePast(160, 45)(t, "at 03:12:25")
	d.send(snapshotMsg{lostSnapshot()})
	d.wants("PAST", "✗ lost")
	d.lacks("The board is", "unreachable")
	d.travels("esc")
	d.wants("Consul is unreachable")
}

// slowHistory counts the reads of states and, as lanes, of terms.
type slowHistory struct {
	*uitest.Moments
	asked, lanes int
}

func (h *slowHistory) Terms(ctx context.Context, q history.TermQuery) (history.TermPage, error) {
	h.lanes++
	return h.Moments.Terms(ctx, q)
}

func (h *slowHistory) State(ctx context.Context, at time.Time) (history.State, error) {
	h.asked++
	return h.Moments.State(ctx, at)
}

func TestAHeldKeyQueuesNoReads(t *testing.T) {
	h := &slowHistory{Moments: uitest.Incident()}
	d := recall(t, h, 120, 36)
	h.asked = 0
	first := d.keys("[")
	for range 50 {
		if d.keys("[") != nil {
			t.Fatal("another read began before the first one ended")
		}
	}
	d.wants("Reading the history")
	d.run(first)
	if h.asked != 1 || d.m.past.At.Format("15:04:05") != "03:20:00" {
		t.Errorf("%d reads, at %s", h.asked, d.m.past.At)
	}
}

func TestEscAndDialogsCancelARead(t *testing.T) {
	for _, name := range []string{"esc", "r"} {
		d := recall(t, uitest.Incident(), 120, 36)
		d.keys("k")
		read := d.keys("[")
		d.keys(name)
		d.run(read)
		if d.m.past != nil {
			t.Errorf("%s: the past is shown after the read was cancelled", name)
		}
	}
}

func TestAHistoryThatCannotBeRead(t *testing.T) {
	h := uitest.Incident()
	h.Err = errors.New("history /x.db: disk I/O error\x1b[2J")
	d := recall(t, h, 160, 45)
	d.travels("[")
	d.wants("Reading the history failed: history /x.db: disk I/O error")
	if d.m.past != nil || d.m.travel.Busy() {
		t.Error("the board shows the past although the read failed")
	}
	d = drive(t, mixedSnapshot(), 160, 45)
	d.travels("[")
	d.wants("Viewing the past requires a history (--history).")
	d.at("03:12")
	d.wants("Viewing the past requires a history (--history).")
}

// A change of the board must not cause a read of the lanes.
func TestLanesAreReadAtAMeasuredPace(t *testing.T) {
	h := uitest.Incident()
	d := recall(t, h, 160, 45)
	for range 180 {
		d.now = d.now.Add(time.Second)
		d.run(d.send(tea.ResumeMsg{}))
	}
	if h.Reads < 2 || h.Reads > 4 {
		t.Errorf("%d reads in three minutes, want 2 to 4", h.Reads)
	}
	reads := h.Reads
	d.travels("-")
	if h.Reads != reads+1 {
		t.Errorf("another window caused %d reads, want 1", h.Reads-reads)
	}
	d.wants("LAST 1 H")
	h.Err = errors.New("history: no route to host")
	d.travels("-")
	d.wants("The lanes may be incomplete. Reading the history failed: history: no route to host")
	for range 20 {
		d.now = d.now.Add(time.Second)
		d.run(d.send(tea.ResumeMsg{}))
	}
	if more := h.Reads - reads; more > 4 {
		t.Errorf("%d failed reads in 20 s, want at most 4", more)
	}
}

// The moment may change while another view is open.
func TestTheEventsViewFollowsAMomentOfAnotherView(t *testing.T) {
	d := inThePast(160, 45)(t, "at 03:12:06", "2", "1", "]", "]", "2")
	d.wants("03:20:00.000", "03:20:00  shop", "until the moment shown")
	d.travels("1", "esc", "2")
	d.wants("follows the newest", "12:01:03")
	d.travels("j", "1")
	d.at("03:12:06")
	d.travels("2")
	d.wants("03:12:05  billing  vacated", "until the moment shown")
	d.lacks("billing-3", "12:01:03")
}

// The window of the lanes does not move the cursor of the Events view, nor a step whose read is in progress.
func TestTheWindowOfTheLanesChangesOnlyTheLanes(t *testing.T) {
	d := inThePast(160, 45)(t, "at 03:15", "2", "j", "j")
	before := d.text()
	d.travels("1", "-", "2")
	if got := d.text(); got != before {
		t.Errorf("the view changed:\n%s", got)
	}
	d.travels("1")
	step := d.keys("[")
	d.travels("-")
	d.run(step)
	d.wants("03:12:20.300", "LAST 6 H")
}

// vaulted returns a history with the lock of Vault, which changed 40 minutes after the other elections.
func vaulted() *uitest.Moments {
	h := uitest.Incident()
	found := h.All[0]
	found.Election, found.Key, found.Leader = "vault/core/lock", "vault/core/lock", "vault-1"
	won := found
	won.Time, won.Leader, won.Session, won.Term, won.Initial, won.Gap = found.Time.Add(2*time.Hour), "vault-2", sessionID(90), 70, false, false
	h.All = append([]election.Event{found}, append(h.All, won)...)
	return h
}

func patternsChange(o *Options) { fake(o).onSetPatterns = func(election.Patterns) {} }

// The past shows the elections of the current patterns.
func TestThePastFollowsThePatterns(t *testing.T) {
	d := recall(t, vaulted(), 160, 45, patternsChange)
	d.travels(":", "'watch vault/core/lock", "enter", "[")
	d.wants("04:00:00.000", "vault-2", "billing")
	d.travels(":", "'unwatch service/*/leader", "enter") // the displayed moment is read again
	d.wants("04:00:00.000", "vault-2")
	d.lacks("billing")
	d.travels("[")
	d.wants("02:00:00.000", "vault-1")
}
