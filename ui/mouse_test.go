package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"electop/ui/kit"
)

// click clicks the first place where a text is drawn, from the line on.
func (d *driver) click(text string, from int) tea.Cmd {
	d.t.Helper()
	x, y := d.find(text, from)
	return d.send(clickAt(x, y))
}

// find returns the cell where a text begins.
func (d *driver) find(text string, from int) (x, y int) {
	d.t.Helper()
	for y, line := range strings.Split(d.text(), "\n") {
		if before, _, found := strings.Cut(line, text); found && y >= from {
			return kit.Width(before), y
		}
	}
	d.t.Fatalf("%q is not on the screen:\n%s", text, d.text())
	return 0, 0
}

// Each of these sizes has a different layout.
func mouseSizes() [][2]int { return [][2]int{{60, 16}, {80, 24}, {120, 36}, {200, 50}} }

func TestClicksOnTheBoard(t *testing.T) {
	for _, size := range mouseSizes() {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			d := drive(t, mixedSnapshot(), size[0], size[1])
			for _, name := range []string{"web", "auth"} {
				if d.click(" "+name+" ", 2); d.selected() != name {
					t.Errorf("clicked %s, selected %s", name, d.selected())
				}
			}
			d.click("FOR", 1)
			d.wants("Sorted by for.")
			d.click("FOR", 1)
			d.wants("Sorted by for, reversed.")
			if size[0] > 60 {
				d.click("Raw", 1)
				d.wants("Indexes ")
			}
		})
	}
}

func TestClicksOnButtons(t *testing.T) {
	for _, size := range mouseSizes() {
		d := drive(t, mixedSnapshot(), size[0], size[1])
		d.keys("k", "r")
		d.click("Cancel ]", 0)
		d.lacks("[ Cancel ]")
		d.keys("r")
		for !d.ready() {
			d.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
		}
		_, y := d.find("[ Cancel ]", 0)
		d.perform(d.click("  Release  ", y))
		if len(d.op.released) != 1 {
			t.Errorf("%v: released %v:\n%s", size, d.op.released, d.text())
		}
	}
}

// A click on a button that is disabled, or beside an overlay, does nothing.
func TestClicksThatDoNothing(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("k", "r")
	d.hasty = true
	d.send(snapshotMsg{takenOver(mixedSnapshot(), "service/billing/leader")})
	before := d.selected()
	d.send(clickAt(3, 2))
	if d.selected() != before {
		t.Error("a click beside the dialog moves the cursor")
	}
	if len(d.op.released) > 0 {
		t.Error("released")
	}
	d = drive(t, mixedSnapshot(), 120, 36)
	before = d.text()
	for _, at := range [][2]int{{0, 0}, {119, 35}, {-1, -1}, {500, 500}, {3, 34}} {
		d.send(clickAt(at[0], at[1]))
	}
	d.send(tea.MouseClickMsg{X: 10, Y: 3, Button: tea.MouseRight})
	if d.text() != before {
		t.Errorf("the screen changed:\n%s", d.text())
	}
}

func TestClicksOnTheFooter(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("k")
	d.click("2 events", 35)
	d.wants("newest first")
	d.click("3 sessions", 35)
	d.wants("Sessions")
	d.click("? help", 35)
	d.wants("Help")
	d.click("esc close", 35)
	d.lacks("Help ")
}

func TestClicksInTheSessionsAndEvents(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 120, 36, searches)
	d.keys("3")
	_, y := d.find("cron", 3)
	d.send(clickAt(5, y))
	d.keys("enter")
	d.wants("cron", "First seen")
	d.click("[ Close ]", 1)
	d.lacks("First seen")
	d.keys("2")
	_, y = d.find("elected", 3)
	d.send(clickAt(20, y))
	if got := strings.Split(d.text(), "\n")[y]; !strings.HasPrefix(got, "▌") {
		t.Errorf("the cursor is not on the clicked event: %q", got)
	}
}

func TestClicksInTheHelp(t *testing.T) {
	d := drive(t, mixedSnapshot(), 80, 24)
	d.keys("?")
	d.click("Sessions", 1)
	d.wants("copy a field or a command")
}

func TestMouseCanBeTurnedOff(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	if d.m.View().MouseMode != tea.MouseModeCellMotion {
		t.Error("the mouse is off at the start")
	}
	if d.keys("M"); d.m.View().MouseMode != tea.MouseModeNone {
		t.Error("M does not turn the mouse off")
	}
	d.wants("M turns mouse support on")
	if d.keys("M"); d.m.View().MouseMode != tea.MouseModeCellMotion {
		t.Error("M does not turn the mouse on")
	}
}

// The markers of areas change no cell, and no frame contains a marker.
func TestAreasAreNotDrawn(t *testing.T) {
	for name, scene := range scenes() {
		for _, size := range mouseSizes() {
			d := scene(t, size[0], size[1])
			if strings.Contains(d.m.View().Content, "\x1b_") {
				t.Errorf("%s: the frame contains a marker", name)
			}
			plain := d.text()
			d.m.painter.Areas = true
			if d.text() != plain {
				t.Errorf("%s at %v: the markers change the frame", name, size)
			}
		}
	}
}
