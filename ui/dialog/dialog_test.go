package dialog_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"electop/election"
	"electop/ui"
	"electop/ui/dialog"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
	"electop/ui/scene"
)

const window = 36

// screen draws a dialog over an empty window of 120 columns.
func screen(d dialog.Model) string {
	lines := make([]string, window)
	for i := range lines {
		lines[i] = strings.Repeat(" ", 120)
	}
	d.View(uitest.Painter(), lines, 120)
	return ansi.Strip(strings.Join(lines, "\n"))
}

// open opens a dialog to release an election and completes its survey.
func open(t *testing.T, s *scene.Scene, key string) dialog.Model {
	t.Helper()
	read := func(_ context.Context, _ string, all []string) []election.Surroundings {
		return []election.Surroundings{*uitest.Surroundings(s.Live, all[0])}
	}
	tools := dialog.Tools{Keys: ui.NewKeys(false, ui.Keys{}), Survey: dialog.NewSurveyor(t.Context(), read, "")}
	target := s.Bind(s.Live.Find(election.KeyID(key)), false)
	d := dialog.New(scene.Ask{Kind: election.ActionRelease, Chosen: scene.Chosen{Visible: []scene.Target{target}}}, tools, s)
	d, _ = d.Update(fits(), s)
	survey, _ := d.Awaits()
	if survey == nil || !strings.Contains(screen(d), "sibling keys of 1 election") {
		t.Fatalf("the dialog did not start a survey:\n%s", screen(d))
	}
	d, _ = d.Update(dialog.Surveyed{Of: survey, Found: read(t.Context(), "", survey.Keys)}, s)
	d, _ = d.Update(fits(), s)
	return d
}

func fits() scene.Resized { return scene.Resized{Rect: kit.Rect{W: 120, H: window}} }

func TestOnlyNoticedTextCanBeConfirmed(t *testing.T) {
	s := uitest.Scene(uitest.Studied(""), uitest.Now())
	d := open(t, s, "service/billing/leader")
	if _, action := d.Update(uitest.Press("y"), s); action != (scene.Say{Role: kit.Delay, Text: "Nothing was done: the text appeared or changed only a moment ago. Read it, then confirm again."}) {
		t.Errorf("typed ahead: %#v", action)
	}
	_, change := d.Awaits()
	d, _ = d.Update(change, s)
	_, action := d.Update(uitest.Press("y"), s)
	if c, ok := action.(scene.Confirm); !ok || c.Kind != election.ActionRelease || len(c.Targets) != 1 || c.Targets[0].Election != "billing" {
		t.Errorf("%#v", action)
	}
	if _, action = d.Update(uitest.Press("esc"), s); action != (scene.Close{Text: "Cancelled: nothing was changed."}) {
		t.Errorf("esc: %#v", action)
	}
}

// A refresh keeps the election and binds its current hold.
func TestRefreshBindsTheCurrentHold(t *testing.T) {
	s := uitest.Scene(uitest.Studied(""), uitest.Now())
	d := open(t, s, "service/billing/leader")
	next := uitest.Studied("")
	e := next.Find("service/billing/leader")
	e.Pair.LockIndex++
	e.Pair.Session = uitest.SessionID(700)
	later := uitest.Scene(next, uitest.Now())
	d, _ = d.Update(scene.Changed{Before: s}, later)
	d, _ = d.Update(fits(), later)
	if text := screen(d); !strings.Contains(text, "Nothing will be changed") {
		t.Errorf("the hold changed, but the dialog does not show it:\n%s", text)
	}
	d, action := d.Update(uitest.Press("r"), later)
	if r, ok := action.(scene.Refresh); !ok || len(r.Targets) != 1 {
		t.Fatalf("%#v", action)
	}
	d, _ = d.Update(scene.Refreshed{}, later)
	if got := d.Targets(); len(got) != 1 || got[0].Session != uitest.SessionID(700) {
		t.Errorf("bound to %+v", got)
	}
}

func TestViewIsPure(t *testing.T) {
	s := uitest.Scene(uitest.Studied(""), uitest.Now())
	d := open(t, s, "service/auth/leader")
	before := fmt.Sprintf("%#v", d)
	if first := screen(d); screen(d) != first || fmt.Sprintf("%#v", d) != before {
		t.Error("the second View differs from the first, or View changed the dialog")
	}
}
