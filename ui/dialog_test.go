package ui

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
)

func (d *driver) resize(w, h int) { d.send(tea.WindowSizeMsg{Width: w, Height: h}) }

// nothingDone fails if any action was carried out.
func (d *driver) nothingDone(what string) {
	d.t.Helper()
	if len(d.op.released)+len(d.op.destroyed) > 0 || len(d.actions()) > 0 {
		d.t.Fatalf("%s: released %v, destroyed %v, want no action", what, d.op.released, d.op.destroyed)
	}
}

// In a window that is too small, only the keys that quit have an effect.
func TestKeysOfInvisibleElementsDoNothing(t *testing.T) {
	for _, size := range [][2]int{{30, 8}, {39, 24}, {80, 9}, {0, 0}, {1, 1}} {
		d := drive(t, mixedSnapshot(), size[0], size[1])
		for _, keys := range [][]string{
			{"r", "y"}, {"x", "y"}, {"r", "tab", "enter"}, {"space", "j", "space"}, {":", "'release", "enter", "y"},
			{"/", "'web", "enter"}, {"2"}, {"3", "f"}, {"p"}, {"?"}, {"c", "k"}, {"u"}, {"enter"}, {"s"}, {"esc"}, {"ctrl+z"},
		} {
			if cmd := d.keys(keys...); cmd != nil {
				t.Errorf("%v at %v returns a command", keys, size)
			}
		}
		d.send(tea.MouseClickMsg{X: 3, Y: 3, Button: tea.MouseLeft})
		d.send(tea.MouseWheelMsg{X: 3, Y: 3, Button: tea.MouseWheelDown})
		d.send(tea.PasteMsg{Content: "r"})
		d.nothingDone("blind keys")
		d.resize(120, 36)
		want := drive(t, mixedSnapshot(), 120, 36).text()
		if got := d.text(); got != want {
			t.Errorf("the keys at %v changed the screen:\n%s", size, got)
		}
		d.resize(30, 8)
		for _, quit := range []string{"q", "ctrl+c"} {
			if cmd := d.keys(quit); cmd == nil || cmd() != tea.Quit() {
				t.Errorf("%s does not quit at 30x8", quit)
			}
		}
	}
}

func TestShrinkingCancelsADialog(t *testing.T) {
	for _, open := range [][]string{{"k", "r"}, {"k", "x", "right"}, {"3", "x"}} {
		d := drive(t, studiedSnapshot(""), 120, 36, searches)
		d.keys(open...)
		d.wants("[ ")
		d.resize(30, 8)
		d.wants("electop needs 40x10")
		if d.keys("y"); d.m.overlay != nil {
			t.Errorf("%v: the dialog is still open", open)
		}
		d.now = d.now.Add(noteTime * 2) // the note is shown when the window is large enough again
		d.send(tickMsg(d.now))
		d.resize(120, 36)
		d.wants("Cancelled: the window became too small.")
		d.keys("y", "enter")
		d.nothingDone("after shrinking")
	}
}

func TestShrinkingEndsOtherModes(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys(":", "'release")
	d.resize(30, 8)
	d.keys("enter", "y")
	d.resize(120, 36)
	d.wants("Cancelled: the window became too small.")
	d.nothingDone("a command")

	d = drive(t, mixedSnapshot(), 120, 36)
	d.keys("/", "'web")
	d.resize(30, 8)
	d.keys("'x")
	d.resize(120, 36)
	d.wants("/ web   1 of 8 elections   esc clears")

	d = drive(t, mixedSnapshot(), 120, 36)
	d.keys("c")
	d.resize(30, 8)
	if cmd := d.keys("k"); cmd != nil {
		t.Error("an invisible text was copied")
	}
	d.resize(120, 36)
	d.lacks("Copy:   ")

	d = drive(t, mixedSnapshot(), 120, 36)
	d.keys("?")
	d.resize(30, 8)
	d.resize(120, 36)
	d.lacks("─ Help")
}

// A key acts only on a text that has not changed for a moment: it may have been typed for an earlier text.
func TestAChangedTextIsNotConfirmedAtOnce(t *testing.T) {
	const tooSoon = "Nothing was done: the text appeared or changed only a moment ago. Read it, then confirm again."
	d := drive(t, studiedSnapshot("service/auth/leader"), 120, 20, searches)
	d.hasty = true
	d.keys("g", "x")
	d.wants("(Destroy)", "[ Cancel ]")
	d.lacks("y destroy")
	d.keys("y")
	d.wants(tooSoon)
	if d.keys("tab", "enter"); d.m.overlay != nil { // tab does not move to a disabled button
		t.Fatal("enter did not press Cancel")
	}
	d.keys("x")
	d.settle()
	d.wants("y destroy")
	changes := map[string]func(){
		"the effect": func() {
			s := studiedSnapshot("service/auth/leader")
			ses := s.Find(election.KeyID(keyOf("auth"))).Session
			ses.LockDelay = time.Minute
			d.send(snapshotMsg{s})
		},
		"the size": func() { d.resize(100, 14) }, "the details": func() { d.keys("a") },
	}
	for what, change := range changes {
		change()
		d.lacks("y destroy")
		if d.keys("y"); d.m.overlay == nil {
			t.Errorf("%s changed, and y acted at once", what)
		}
		d.settle()
		d.wants("y destroy")
	}
	d.nothingDone("changed texts")
	d.resize(120, 36)
	d.settle()
	if d.keys("y") == nil {
		t.Error("y does nothing")
	}
}

// More than 20 elections are confirmed with their number.
func TestManyElectionsAreConfirmedWithTheirNumber(t *testing.T) {
	d := drive(t, crowd(400), 80, 24)
	d.keys("a", "r")
	number := strconv.Itoa(len(d.m.overlay.Targets()))
	d.wants("The list is below.")
	d.keys("y", "'7", "enter")
	d.wants("Nothing was done: this is not the number of elections.")
	d.nothingDone("another number")
	d.keys("ctrl+u", "'x", "left")
	d.wants("> _x")
	d.keys("delete")
	d.m.Update(tea.PasteMsg{Content: number})
	d.wants("> " + number + "_")
	d.keys("esc")
	d.wants("y release")
	d.keys("y", "'"+number)
	if d.keys("enter"); d.m.log.Running() == "" {
		t.Errorf("%s did not confirm the release:\n%s", number, d.text())
	}
}

func TestAWheelScrollsTheDialog(t *testing.T) {
	d := drive(t, studiedSnapshot("service/pg/leader"), 50, 14, searches)
	d.open("service/pg/leader")
	d.keys("x")
	for range 20 {
		d.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	}
	d.wants("more lines above", "y destroy")
}

func TestKeysWhileConnecting(t *testing.T) {
	d := drive(t, nil, 120, 36)
	d.keys("r")
	d.wants("Unavailable until electop is connected to Consul.")
	d.keys("y", "space", "enter", "j", "x", "y", "c", "k", "3", "f", "x", "y")
	d.nothingDone("while connecting")
}

func TestHiddenMarksAreNotActedOn(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("g", "space", "space", "/", "'billing", "enter") // auth and billing
	d.wants("1 election marked", "1 marked, hidden")
	d.keys("r")
	d.wants("Release billing", "Marked, but hidden by the filter and not included: auth.")
	d.perform(d.keys("y"))
	if len(d.op.released) != 1 || d.op.released[0].Election != "billing" {
		t.Fatalf("released %v", d.op.released)
	}
	d.wants("1 marked, hidden") // the other mark remains
	d.keys("esc")
	if d.lacks("hidden"); d.marks() != 1 {
		t.Error("the hidden mark was removed")
	}
}

// If the filter hides every mark, the action does not apply to the row under the cursor.
func TestAllMarksHidden(t *testing.T) {
	d := drive(t, mixedSnapshot(), 160, 36)
	d.keys("g", "space", "space", "/", "'users", "enter")
	d.wants("2 marked, hidden")
	d.keys("r")
	d.wants("The filter hides all marked rows: press esc to clear the filter")
	d.keys("y")
	d.nothingDone("all marks hidden")
}

func TestMarksWithoutALeader(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("g", "space", "space", "space", "r") // auth, billing, mail
	d.wants("Release 2 elections", "Marked, but without a leader: mail.")
}

func TestWarningsAreShownOnce(t *testing.T) {
	d := drive(t, studiedSnapshot("service/auth/leader"), 120, 36, searches)
	d.keys("g", "r")
	d.wants("! No other candidate was seen: the election may stay without a leader.")
	d.keys("esc", "space", "space", "r")
	d.wants("! auth: No other candidate was seen", "billing-3 on node-3; next: billing-3 (node-3)")
	if d.keys("a"); strings.Count(d.text(), "value and flags are kept") != 1 {
		t.Errorf("a common sentence of all targets is repeated:\n%s", d.text())
	}
}

// A destroy ends every term of the session, so the dialog shows the warnings about all its elections.
func TestEffectOfADestroyIsThatOfAllHolds(t *testing.T) {
	s := studiedSnapshot("")
	pg, auth := s.Find("service/pg/leader"), s.Find("service/auth/leader")
	auth.Session, auth.Pair.Session = pg.Session, pg.Pair.Session
	d := drive(t, s, 120, 36, searches)
	d.keys("g", "x")
	d.wants("service/pg/leader is deleted", "! pg: ", "patronictl switchover pg")
	d.keys("esc", "3", "/", "'pg-pg1", "enter", "x")
	d.wants("Destroy session pg-pg1", "patronictl switchover pg")
}

func TestScanErrorsAreShown(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 120, 36, searches, func(o *Options) {
		fake(o).onHoldings = func(context.Context, string, []string, func(int, int)) ([]election.Pair, bool, error) {
			return nil, false, errors.New("boom\x1b[2J")
		}
	})
	d.keys("g", "x")
	d.wants("The search of the store failed: boom␛[2J")
}
