package ui

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
	"electop/ui/scene"
)

// hiddenPatroni returns a snapshot in which the session of pg was not read. Only sibling keys show that pg belongs to
// Patroni.
func hiddenPatroni() *election.Snapshot {
	s := studiedSnapshot("")
	s.Find(election.KeyID(keyOf("pg"))).Session = nil
	return s
}

// mark marks elections and removes all other marks.
func (d *driver) mark(names ...string) {
	was, filter, part := d.m.board.Cursor(), d.m.board.Filter().Text, d.m.screen.table
	toBoard := func(msg tea.Msg) { d.m.send(d.m.board, msg) }
	toBoard(scene.Resized{Rect: kit.Rect{X: part.X, Y: part.Y, W: part.W, H: 1000}}) // every row is visible
	toBoard(scene.Filtered{})
	var all []scene.Target
	for _, e := range d.m.shown.Elections {
		all = append(all, scene.Target{Target: e.Target()})
	}
	toBoard(scene.Unmark{Targets: all})
	for _, name := range names {
		toBoard(scene.GoTo{ID: keyOf(name)})
		toBoard(uitest.Press("space"))
	}
	toBoard(scene.Filtered{Text: filter})
	toBoard(scene.GoTo{ID: was})
	toBoard(scene.Resized{Rect: part})
	d.m.layOut(d.m.scene)
}

func TestPatroniIsRecognisedBySiblingKeys(t *testing.T) {
	for _, c := range []struct {
		marks []string
		wants []string
	}{
		{[]string{"pg"}, []string{"Nothing will be changed: Patroni", "patronictl switchover pg", "[ Close ]"}},
		{[]string{"pg", "auth"}, []string{"Release 2 elections", "skipped: Patroni stores the leader's name", "patronictl switchover pg  for pg"}},
	} {
		d := drive(t, hiddenPatroni(), 120, 40, searches)
		d.mark(c.marks...)
		d.keys("r")
		d.wants(c.wants...)
		d.keys("y")
		for _, a := range d.actions() {
			if a.Ev.Election == "pg" {
				t.Errorf("%v: pg was released", c.marks)
			}
		}
		d = drive(t, hiddenPatroni(), 120, 50, searches)
		d.mark(c.marks...)
		d.keys("x")
		d.wants("causes two writable primaries", "patronictl switchover pg", "y destroy")
	}
}

func TestPatroniIsRecognisedForASession(t *testing.T) {
	s := studiedSnapshot("")
	ses := s.Find(election.KeyID(keyOf("pg"))).Session
	ses.Behavior, ses.LockDelay, ses.Name = election.BehaviorRelease, 0, "odd"
	s.Surroundings = &election.Surroundings{Key: keyOf("pg"), Siblings: []election.Pair{{Key: "service/pg/config", Value: []byte(`{"loop_wait":10}`)}}}
	d := drive(t, s, 120, 40, studies)
	d.keys("3", "/", "'odd", "enter", "x")
	d.wants("A healthy primary acquires the key again", "pg: If the member's API does not respond", "patronictl switchover pg")
	d.lacks("The holder must notice")
}

// No action can be confirmed while the survey is in progress.
func TestTheActionWaitsForTheCheck(t *testing.T) {
	for what, open := range map[string]func(d *driver){
		"one release":   func(d *driver) { d.mark("auth"); d.keys("r") },
		"one destroy":   func(d *driver) { d.mark("auth"); d.keys("x") },
		"some releases": func(d *driver) { d.mark("auth", "billing"); d.keys("r") },
		"some destroys": func(d *driver) { d.mark("auth", "billing"); d.keys("x") },
		"a session":     func(d *driver) { d.keys("3", "/", "ctrl+u", "'"+sessionID(0), "enter", "x") },
	} {
		d := drive(t, studiedSnapshot(""), 120, 46, searches)
		d.unanswered = true
		open(d)
		d.wants("Reading all sessions", " is disabled until they are read.", "[ Cancel ]")
		d.lacks("y release", "y destroy")
		d.keys("tab", "y")
		d.nothingDone(what)
		d.wants("Nothing was done: electop is still reading sibling keys and sessions.")
		if d.keys("enter"); d.m.overlay != nil { // Cancel has the focus
			t.Errorf("%s: enter confirms", what)
		}
		d.unanswered = false
		open(d)
		if d.lacks("Checking "); d.keys("y") == nil {
			t.Errorf("%s: y does nothing after the survey", what)
		}
	}
}

func TestEscEndsTheCheck(t *testing.T) {
	for _, key := range []string{"esc", "q"} {
		var ended context.Context
		d := drive(t, studiedSnapshot(""), 120, 36, studies, func(o *Options) {
			fake(o).onSurvey = func(ctx context.Context, _ string, keys []string) []election.Surroundings {
				ended = ctx
				return []election.Surroundings{{Key: keys[0]}}
			}
		})
		d.unanswered = true
		d.mark("auth")
		late := d.keys("r")
		d.keys(key)
		if d.m.overlay != nil {
			t.Fatalf("%s does not close the dialog", key)
		}
		d.wants("Cancelled: nothing was changed.")
		d.keys("r") // late is a request of the previous dialog
		d.send(firstOf(t, late))
		d.wants("sibling keys of 1 election")
		if ended.Err() == nil {
			t.Error("the survey continues after the dialog was closed")
		}
	}
}

// The dialog shows the error of a survey. The user can still confirm the action.
func TestAFailedCheckIsReported(t *testing.T) {
	for _, action := range []string{"r", "x"} {
		d := drive(t, studiedSnapshot(""), 120, 46, searches)
		d.unread = "sibling keys: \x1bno answer"
		d.mark("auth", "billing")
		d.keys(action)
		d.wants("! Some data could not be read (sibling keys: \u241bno answer)")
		d.lacks("No other candidate")
		if d.keys("y") == nil {
			t.Errorf("%s is not possible", action)
		}
	}
}

// A survey ends after its timeout, and the dialog shows what is missing.
func TestTheCheckHasATimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drive(t, studiedSnapshot(""), 120, 36, studies, func(o *Options) {
			fake(o).onSurvey = func(ctx context.Context, _ string, keys []string) []election.Surroundings {
				<-ctx.Done()
				return []election.Surroundings{{Key: keys[0], SiblingsErr: "sibling keys: timeout"}}
			}
		})
		d.unanswered = true
		d.mark("auth")
		cmd, began := d.keys("r"), time.Now()
		for d.m.overlay.Task.Running() {
			cmd = d.send(firstOf(t, cmd))
		}
		if d.wants("sibling keys: timeout"); time.Since(began) != 10*time.Second {
			t.Errorf("ended after %s", time.Since(began))
		}
	})
}

// One survey covers all targets of the dialog.
func TestOneSurveyIsAboutAllTargets(t *testing.T) {
	var asked [][]string
	d := drive(t, mixedSnapshot(), 120, 36, func(o *Options) {
		fake(o).onSurvey = func(_ context.Context, _ string, keys []string) []election.Surroundings {
			asked = append(asked, keys)
			return nil
		}
	})
	d.unanswered = true
	d.mark("auth", "billing", "users")
	for _, key := range []string{"r", "a"} {
		for cmd := d.keys(key); d.m.overlay.Task.Running(); {
			cmd = d.send(firstOf(t, cmd))
		}
	}
	if want := [][]string{{keyOf("auth"), keyOf("billing"), keyOf("users")}}; !slices.EqualFunc(asked, want, slices.Equal) {
		t.Errorf("asked %v", asked)
	}
}

// If a session acquires a key while the dialog is open, a new survey covers that key.
func TestNewKeysOfASessionAreChecked(t *testing.T) {
	s := studiedSnapshot("")
	d := drive(t, s, 120, 40, searches)
	d.mark("billing")
	d.keys("x")
	d.wants("y destroy")
	n := studiedSnapshot("")
	auth, billing := n.Find(election.KeyID(keyOf("auth"))), n.Find(election.KeyID(keyOf("billing")))
	auth.Session, auth.Pair.Session = billing.Session, billing.Pair.Session
	d.unanswered = true
	d.send(snapshotMsg{n})
	d.wants("sibling keys of 2 elections")
	d.keys("y")
	d.nothingDone("y before the survey of a new key")
}

// A long list can be shown in full.
func TestALongListCanBeShownInFull(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 120, 36, scanned(someKeys(), true))
	d.keys("3", "/", "'"+sessionID(200), "enter", "x")
	d.wants("and 242 more keys", "a details", "y destroy")
	d.keys("a")
	d.lacks("more keys")
	d.wants("a fewer details", "y destroy")
	for strings.Contains(d.text(), "below") {
		d.keys("pgdown")
	}
	d.wants("locks/251 is released")
	d.keys("a", "g")
	d.wants("and 242 more keys")
}

// A new survey starts when the connection is restored.
func TestALostConnectionEndsTheCheck(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 120, 40, searches)
	d.unanswered = true
	d.mark("auth")
	d.keys("r")
	lost := studiedSnapshot("")
	lost.Connection = lostSnapshot().Connection
	d.send(snapshotMsg{lost})
	d.wants("The connection to Consul is lost")
	d.send(snapshotMsg{studiedSnapshot("")})
	d.wants("sibling keys of 1 election")
	d.unanswered = false
	d.keys("esc", "r")
	d.wants("y release")
	d.lacks("Some data could not be read")
}
