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

// driver drives the view, which may have a history.
type driver struct {
	*uitest.View
	m *events.Model
}

func drive(t testing.TB, snap *election.Snapshot) *driver {
	t.Helper()
	m := events.New(ui.NewKeys(false, nil), past.Reader{Ctx: t.Context()})
	d := &driver{uitest.Drive(t, m, snap, 80, 20), m}
	d.Send(scene.Opened{})
	return d
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
	for y, text := range strings.Split(d.Text(), "\n") {
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
		"j":      func(d *driver) { d.Keys("j", "j") },
		"ctrl+d": func(d *driver) { d.Keys("ctrl+d", "ctrl+d") },
		"G":      func(d *driver) { d.Keys("G") },
		"click":  func(d *driver) { d.Send(scene.Clicked{Area: kit.Area{Item: kit.Row, Index: 7}}) },
		"wheel":  func(d *driver) { d.Send(scene.Wheeled{Step: 3}) },
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, eventful(100))
			away(d)
			d.Wants("g follows the newest")
			all, marked, row := d.leaders()
			for n := 101; n < 140; n += 3 {
				d.Show(eventful(n))
				if now, still, at := d.leaders(); still != marked || n > 120 && at != row || len(now) != len(all) {
					t.Fatalf("with %d events the cursor is on %s in row %d, was on %s in row %d", n, still, at, marked, row)
				}
			}
			d.Keys("j", "g")
			if _, marked, _ := d.leaders(); marked != "web-136" {
				t.Errorf("g goes to %s", marked)
			}
			d.Show(eventful(150))
			if _, marked, _ := d.leaders(); marked != "web-149" {
				t.Errorf("the view does not follow the newest event: cursor on %s", marked)
			}
		})
	}
}

func TestFilterKeepsTheCursorOnItsEvent(t *testing.T) {
	d := drive(t, eventful(100))
	d.Keys("j", "j", "j")
	for _, msg := range []tea.Msg{scene.Filtered{Text: "web"}, scene.Back{}} {
		d.Send(msg)
		if _, marked, _ := d.leaders(); marked != "web-096" {
			t.Errorf("after %#v: %s", msg, marked)
		}
	}
	if _, passes := d.Send(scene.Back{}).(scene.Pass); !passes {
		t.Error("Back without a filter did not return Pass")
	}
	d.Send(scene.Filtered{Text: "nothing"})
	d.Wants("No event matches nothing")
	if got := d.m.Result(d.S); got != "0 events" {
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
	d.Keys("enter")
	d.Wants("Event", "service/web/leader", uitest.SessionID(7))
	explained := lost
	explained.Type, explained.Cause, explained.Evidence = election.Explained, election.CheckCritical, cause
	later := *snap
	later.Events = append(slices.Clone(snap.Events), explained, election.Event{Time: uitest.Now().Add(time.Second), Type: election.Elected, Election: "mail"})
	d.Show(&later)
	d.Wants("check_critical", "a long output", "Close")
	d.Open.Wheel(30)
	d.Wants("end")
	if d.Keys("esc"); strings.Contains(d.Text(), "Close") {
		t.Error("esc does not close the event")
	}
	for _, line := range strings.Split(d.Text(), "\n") {
		if strings.HasPrefix(line, kit.Unicode().Cursor) && !strings.Contains(line, "vacated") {
			t.Errorf("the cursor left the event that was open: %s", line)
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
		before, now := d.S, *d.S
		now.Patterns = patterns
		d.S = &now
		d.Answer(scene.Changed{Before: before})
	}
	watch("service/*/leader")
	d.Wants("live-auth", "old-auth", "lost: refused")
	for _, text := range []string{"live-vault", "old-vault", "other-cluster"} {
		d.Lacks(text)
	}
	watch("service/*/leader", "vault/core/lock")
	d.Wants("live-auth", "live-vault", "old-vault", "lost: refused", "old-auth")
	watch("vault/core/lock")
	d.Wants("live-vault", "old-vault", "lost: refused")
	d.Lacks("auth")
	if strip := strings.Join(events.Strip(d.S, uitest.Painter(), kit.Rect{W: 120, H: 8}), "\n"); strings.Contains(strip, "live-auth") || !strings.Contains(strip, "live-vault") {
		t.Errorf("the latest events are not those of the patterns:\n%s", strip)
	}
	d.Answer(scene.Filtered{Text: "old"})
	watch("service/*/leader", "!service/a*/leader")
	d.Lacks("old-")
	watch("service/*/leader")
	d.Wants("old-auth")
}
