package events_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui"
	"electop/ui/events"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
	"electop/ui/past"
	"electop/ui/scene"
)

// driver drives the view as the program does.
type driver struct {
	t testing.TB
	m *events.Model
	s *scene.Scene
	// open is the open event. It is nil if none is open.
	open *scene.Overlay
}

func drive(t testing.TB, snap *election.Snapshot) *driver {
	t.Helper()
	d := &driver{t: t, m: events.New(ui.NewKeys(false, ui.Keys{}), past.NewReader(t.Context(), nil)), s: uitest.Scene(snap, uitest.Now())}
	d.send(scene.Resized{Rect: kit.Rect{W: 80, H: 20}})
	d.send(scene.Opened{})
	return d
}

func (d *driver) show(snap *election.Snapshot) {
	before := d.s
	d.s = uitest.Scene(snap, uitest.Now())
	d.send(scene.Changed{Before: before})
}

func (d *driver) send(msg tea.Msg) scene.Action {
	var action scene.Action
	if press, ok := msg.(tea.KeyPressMsg); ok && d.open != nil {
		return d.do(d.open.Key(press, d.s.Now))
	}
	action = d.m.Update(msg, d.s)
	return d.do(action)
}

// do opens and closes overlays, as the dashboard does. It returns the last action.
func (d *driver) do(action scene.Action) scene.Action {
	switch a := action.(type) {
	case scene.Open:
		d.open = a.Overlay
	case scene.Close:
		d.open.End()
		d.open = nil
	case scene.All:
		for _, one := range a {
			action = d.do(one)
		}
	}
	return action
}

func (d *driver) keys(names ...string) (action scene.Action) {
	for _, name := range names {
		action = d.send(uitest.Press(name))
	}
	return action
}

func (d *driver) text() string {
	lines := d.m.View(d.s, uitest.Painter())
	if d.open != nil {
		d.open.Update(d.s)
		d.open.Fit(d.s.Sym, 80, len(lines), d.s.Now)
		d.open.View(uitest.Painter(), lines, 80)
	}
	return strings.Join(lines, "\n")
}

func (d *driver) wants(texts ...string) {
	d.t.Helper()
	for _, text := range texts {
		if got := d.text(); !strings.Contains(got, text) {
			d.t.Errorf("%q is not on the screen:\n%s", text, got)
		}
	}
}

// eventful returns a snapshot with n events, a second apart. The last event is the newest.
func eventful(n int) *election.Snapshot {
	s := uitest.Mixed()
	s.Events = nil
	for i := range n {
		s.Events = append(s.Events, election.Event{
			Time: uitest.Now().Add(time.Duration(i-1000) * time.Second), Type: election.Elected, Election: "web", Key: "service/web/leader",
			Term: uint64(i), CreateIndex: 40, Leader: fmt.Sprintf("web-%03d", i), Session: uitest.SessionID(i),
		})
	}
	return s
}

// leaders returns the leaders of the events on the screen, from the top. marked is the leader of the event under the
// cursor, row its line.
func (d *driver) leaders() (all []string, marked string, row int) {
	for y, text := range strings.Split(d.text(), "\n") {
		i := strings.Index(text, "web-")
		if i < 0 {
			continue
		}
		name := text[i : i+len("web-000")]
		if all = append(all, name); strings.HasPrefix(text, kit.Unicode().Cursor) {
			marked, row = name, y
		}
	}
	return all, marked, row
}

func TestCursorStaysOnItsEvent(t *testing.T) {
	for name, away := range map[string]func(*driver){
		"j":      func(d *driver) { d.keys("j", "j") },
		"ctrl+d": func(d *driver) { d.keys("ctrl+d", "ctrl+d") },
		"G":      func(d *driver) { d.keys("G") },
		"click":  func(d *driver) { d.send(scene.Clicked{Area: kit.Area{Item: kit.Row, Index: 7}}) },
		"wheel":  func(d *driver) { d.send(scene.Wheeled{Step: 3}) },
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, eventful(100))
			away(d)
			d.wants("g follows the newest")
			all, marked, row := d.leaders()
			for n := 101; n < 140; n += 3 {
				d.show(eventful(n))
				if now, still, at := d.leaders(); still != marked || n > 120 && at != row || len(now) != len(all) {
					t.Fatalf("with %d events the cursor is on %s in row %d, was on %s in row %d", n, still, at, marked, row)
				}
			}
			d.keys("j", "g")
			if _, marked, _ := d.leaders(); marked != "web-136" {
				t.Errorf("g goes to %s", marked)
			}
			d.show(eventful(150))
			if _, marked, _ := d.leaders(); marked != "web-149" {
				t.Errorf("the view does not follow the newest event: cursor on %s", marked)
			}
		})
	}
}

func TestFilterKeepsTheCursorOnItsEvent(t *testing.T) {
	d := drive(t, eventful(100))
	d.keys("j", "j", "j")
	for _, msg := range []tea.Msg{scene.Filtered{Text: "web"}, scene.Back{}} {
		d.send(msg)
		if _, marked, _ := d.leaders(); marked != "web-096" {
			t.Errorf("after %#v: %s", msg, marked)
		}
	}
	if _, passes := d.send(scene.Back{}).(scene.Pass); !passes {
		t.Error("Back without a filter did not return Pass")
	}
	d.send(scene.Filtered{Text: "nothing"})
	d.wants("No event matches nothing")
	if got := d.m.Result(d.s); got != "0 events" {
		t.Error(got)
	}
}

func TestOpenShowsTheWholeEvent(t *testing.T) {
	snap := eventful(3)
	cause := strings.Repeat("a long output of a check, ", 40) + "end"
	lost := election.Event{
		Time: uitest.Now(), Type: election.Vacated, Election: "web", Key: "service/web/leader", Session: uitest.SessionID(7), Node: "node-1", Leader: "web-1", Term: 9,
	}
	snap.Events = append(snap.Events, lost)
	d := drive(t, snap)
	d.keys("enter")
	d.wants("Event", "service/web/leader", uitest.SessionID(7))
	explained := lost
	explained.Type, explained.Cause, explained.Evidence = election.Explained, election.CheckCritical, cause
	later := *snap
	later.Events = append(slices.Clone(snap.Events), explained, election.Event{Time: uitest.Now().Add(time.Second), Type: election.Elected, Election: "mail"})
	d.show(&later)
	d.wants("check_critical", "a long output", "Close")
	d.open.Wheel(30)
	d.wants("end")
	if d.keys("esc"); strings.Contains(d.text(), "Close") {
		t.Error("esc does not close the event")
	}
	for _, line := range strings.Split(d.text(), "\n") {
		if strings.HasPrefix(line, kit.Unicode().Cursor) && !strings.Contains(line, "vacated") {
			t.Errorf("the cursor left the event that was open: %s", line)
		}
	}
}

// A narrow line omits the number of the term and the evidence, but not the cause.
func TestTheCausePrecedesTheLengthOfTheTerm(t *testing.T) {
	snap := eventful(0)
	lost := election.Event{
		Time: uitest.Now(), Type: election.Vacated, Election: "reports", Key: "service/reports/leader", Session: uitest.SessionID(7), Leader: "web-003", Term: 9,
		Held: 8 * time.Second, HeldKnown: true,
	}
	why := lost
	why.Type, why.Cause, why.Evidence = election.Explained, election.NodeGone, "node node-3 is no longer registered"
	snap.Events = append(snap.Events, lost, why)
	d := drive(t, snap)
	for width, want := range map[int]string{
		80:  "web-003 · node_gone · led for 8s",
		120: "web-003, term 9 · node_gone · node node-3 is no longer registered · led for 8s",
	} {
		d.send(scene.Resized{Rect: kit.Rect{W: width, H: 20}})
		d.wants(want)
		if strip := events.Strip(d.s, uitest.Painter(), kit.Rect{W: width, H: 4}); !strings.Contains(strip[1], want) {
			t.Errorf("%q is not in the latest events:\n%s", want, strip[1])
		}
	}
}

// Live and recorded events are those of the watched keys, also after a change of the patterns.
func TestEventsFollowThePatterns(t *testing.T) {
	event := func(at time.Duration, datacenter, key, leader string) election.Event {
		return election.Event{Time: uitest.Now().Add(at), Type: election.Elected, Election: key, Key: key, Datacenter: datacenter, Term: 1, CreateIndex: 40, Leader: leader}
	}
	snap := uitest.Mixed()
	snap.Events = []election.Event{event(-time.Minute, "dc1", "service/auth/leader", "live-auth"), event(-time.Second, "dc1", "vault/core/lock", "live-vault")}
	d := remember(t, snap, &uitest.Past{Recorded: []election.Event{
		event(-5*time.Hour, "dc1", "service/auth/leader", "old-auth"),
		event(-4*time.Hour, "dc2", "service/auth/leader", "other-cluster"),
		event(-3*time.Hour, "dc1", "vault/core/lock", "old-vault"),
		{Time: uitest.Now().Add(-2 * time.Hour), Type: election.ConnectionLost, Datacenter: "dc1", Error: "refused"},
	}})
	watch := func(patterns ...string) {
		before, now := d.s, *d.s
		now.Patterns = patterns
		d.s = &now
		d.answer(scene.Changed{Before: before})
	}
	watch("service/*/leader")
	d.wants("live-auth", "old-auth", "lost: refused")
	for _, text := range []string{"live-vault", "old-vault", "other-cluster"} {
		d.lacks(text)
	}
	watch("service/*/leader", "vault/core/lock")
	d.wants("live-auth", "live-vault", "old-vault", "lost: refused", "old-auth")
	watch("vault/core/lock")
	d.wants("live-vault", "old-vault", "lost: refused")
	d.lacks("auth")
	if strip := strings.Join(events.Strip(d.s, uitest.Painter(), kit.Rect{W: 120, H: 8}), "\n"); strings.Contains(strip, "live-auth") || !strings.Contains(strip, "live-vault") {
		t.Errorf("the latest events are not those of the patterns:\n%s", strip)
	}
	d.answer(scene.Filtered{Text: "old"})
	watch("service/*/leader", "!service/a*/leader")
	d.lacks("old-")
	watch("service/*/leader")
	d.wants("old-auth")
}
