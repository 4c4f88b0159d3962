package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/internal/events"
	"electop/ui/internal/scene"
)

// eventful is a snapshot with n events, a second apart; the last is the newest.
func eventful(n int) *election.Snapshot {
	s := mixedSnapshot()
	s.Events = nil
	for i := range n {
		s.Events = append(s.Events, election.Event{
			Time: testNow().Add(time.Duration(i-1000) * time.Second), Type: election.Elected, Election: "web", Key: "service/web/leader",
			Term: uint64(i), CreateIndex: 40, Leader: fmt.Sprintf("web-%03d", i), Session: sessionID(i),
		})
	}
	return s
}

// leaders are the leaders of the events on the screen, from the top; marked is the
// one under the cursor, and its row.
func (d *driver) leaders() (all []string, marked string, row int) {
	for y, text := range strings.Split(d.text(), "\n") {
		i := strings.Index(text, "web-")
		if i < 0 {
			continue
		}
		name := text[i : i+len("web-000")]
		if all = append(all, name); strings.HasPrefix(text, d.m.sym.Cursor) {
			marked, row = name, y
		}
	}
	return all, marked, row
}

func TestEventsAreNewestFirst(t *testing.T) {
	d := drive(t, eventful(100), 80, 24)
	d.keys("2")
	d.wants("newest first", "follows the newest")
	all, marked, top := d.leaders()
	if all[0] != "web-099" || all[1] != "web-098" || marked != "web-099" {
		t.Errorf("%v, cursor on %s", all, marked)
	}
	d.send(snapshotMsg{eventful(103)})
	if all, marked, row := d.leaders(); all[0] != "web-102" || marked != "web-102" || row != top {
		t.Errorf("it does not follow: %v, cursor on %s", all, marked)
	}
}

func TestCursorStaysOnItsEvent(t *testing.T) {
	for name, away := range map[string]func(*driver){
		"j":      func(d *driver) { d.keys("j", "j") },
		"ctrl+d": func(d *driver) { d.keys("ctrl+d", "ctrl+d") },
		"G":      func(d *driver) { d.keys("G") },
		"click":  func(d *driver) { d.send(clickAt(5, 9)) },
		"wheel":  func(d *driver) { d.send(tea.MouseWheelMsg{X: 5, Y: 9, Button: tea.MouseWheelDown}) },
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, eventful(100), 80, 24)
			d.keys("2")
			away(d)
			d.wants("g follows the newest")
			all, marked, row := d.leaders()
			for n := 101; n < 140; n += 3 {
				d.send(snapshotMsg{eventful(n)})
				if now, still, at := d.leaders(); still != marked || n > 120 && at != row || len(now) != len(all) {
					t.Fatalf("with %d events the cursor is on %s in row %d, was on %s in row %d", n, still, at, marked, row)
				}
			}
			for _, newest := range []string{"g", "home"} {
				d.keys("j", newest)
				d.wants("follows the newest")
				d.lacks("g follows")
				if _, marked, _ := d.leaders(); marked != "web-136" {
					t.Errorf("%s goes to %s", newest, marked)
				}
			}
			d.send(snapshotMsg{eventful(150)})
			if _, marked, _ := d.leaders(); marked != "web-149" {
				t.Errorf("it does not follow: cursor on %s", marked)
			}
		})
	}
}

func TestFilterKeepsTheCursorOnItsEvent(t *testing.T) {
	d := drive(t, eventful(100), 80, 24)
	d.keys("2", "j", "j", "j", "/", "'web", "enter")
	if _, marked, _ := d.leaders(); marked != "web-096" {
		t.Errorf("filtered: %s", marked)
	}
	d.keys("esc")
	if _, marked, _ := d.leaders(); marked != "web-096" {
		t.Errorf("not filtered: %s", marked)
	}
	d.keys("/", "'nothing", "enter")
	d.wants("No event matches nothing")
}

func TestActionsStandAmongEventsNewestFirst(t *testing.T) {
	at := func(n int) *election.Event {
		return &election.Event{Time: testNow().Add(time.Duration(n) * time.Second), Term: uint64(n)}
	}
	var lines, actions []scene.EventLine
	for _, n := range []int{9, 6, 4} {
		lines = append(lines, scene.EventLine{Ev: at(n)})
	}
	for _, n := range []int{1, 5, 6, 12} {
		actions = append(actions, scene.EventLine{Ev: at(n)})
	}
	var got []uint64
	for _, l := range events.InsertActions(lines, actions, func(ev *election.Event) bool { return ev.Term != 5 }) {
		got = append(got, l.Ev.Term)
	}
	if want := "[12 9 6 6 4 1]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// storied is a snapshot in which billing had n terms, each of a minute.
func storied(n int) *election.Snapshot {
	s := mixedSnapshot()
	e := s.Find("service/billing/leader")
	e.Terms, e.Events = nil, nil
	for i := range n {
		start := testNow().Add(time.Duration(i-100) * time.Minute)
		e.Terms = append(e.Terms, election.Term{
			Number: uint64(i + 1), CreateIndex: 40, Session: sessionID(i), Leader: fmt.Sprintf("billing-%d", i%2), Node: "node-1",
			Start: start, StartKnown: true, End: start.Add(time.Minute), Cause: election.Released, Evidence: "the session still exists",
		})
		e.Events = append(e.Events, election.Event{Time: start, Type: election.Elected, Key: e.Key(), Leader: "billing", Term: uint64(i + 1)})
	}
	e.Term = uint64(n)
	e.Terms[n-1].End = time.Time{}
	return s
}

func TestScrolledHistoryStaysInItsPlace(t *testing.T) {
	for _, down := range []int{2, 9, 10, 11, 85} {
		d := drive(t, storied(40), 120, 36)
		d.keys("k", "tab", "tab", "enter")
		d.wants("term 40")
		for range down {
			d.keys("j")
		}
		screen := func() string {
			lines := strings.Split(d.text(), "\n")
			return strings.Join(lines[2:len(lines)-6], "\n") // without the row that counts the lines below
		}
		before := screen()
		d.send(snapshotMsg{storied(43)})
		if after := screen(); after != before {
			t.Errorf("scrolled down %d lines:\n%s\nthen\n%s", down, before, after)
		}
		d.keys("g")
		d.wants("term 43")
		d.send(snapshotMsg{storied(44)})
		d.wants("term 44")
	}
}
