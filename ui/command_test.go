package ui

import "testing"

// The views 2 and 3 cover the table of elections, so a command without a filter must not act on its selected row.
func TestCommandsDoNotActOnACoveredRow(t *testing.T) {
	const inEvents, inSessions = "2", "3"
	for _, c := range []struct{ view, command, wants string }{
		{inEvents, "release", "Unavailable in this view: select an election in view 1, or use :release FILTER."},
		{inEvents, "destroy", "Unavailable in this view: select an election in view 1, or use :destroy FILTER."},
		{inEvents, "fix", "Unavailable in this view: select an election in view 1."},
		{inSessions, "release", "A session can be destroyed (x) but not released."},
		{inSessions, "fix", "Unavailable in this view: select an election in view 1."},
		{inSessions, "report", "Unavailable in this view: select an election in view 1."},
		{inSessions, "report 2h", "Unavailable in this view: select an election in view 1."},
	} {
		d := drive(t, studiedSnapshot(""), 120, 36, searches, newDiagnosis().option)
		d.open(keyOf("billing"))
		d.keys(c.view, ":", "'"+c.command, "enter")
		if d.m.overlay != nil {
			t.Errorf("view %s: :%s opened a dialog:\n%s", c.view, c.command, d.text())
		}
		d.wants(c.wants)
	}
}

func TestCommandsActOnTheRowOfTheView(t *testing.T) {
	for _, c := range []struct {
		keys  []string
		wants string
	}{
		{[]string{"1", ":", "'release", "enter"}, "Release billing"},
		{[]string{"1", ":", "'destroy", "enter"}, "Destroy the session of billing"},
		{[]string{"2", ":", "'release auth", "enter"}, "Release auth"},
		{[]string{"2", ":", "'destroy auth", "enter"}, "Destroy the session of auth"},
		{[]string{"3", ":", "'release auth", "enter"}, "Release auth"},
		{[]string{"3", ":", "'destroy", "enter"}, "Destroy session "},
	} {
		d := drive(t, studiedSnapshot(""), 120, 36, searches)
		d.open(keyOf("billing"))
		d.keys(c.keys...)
		if d.m.overlay == nil {
			t.Errorf("%v: no dialog", c.keys)
		}
		d.wants(c.wants)
	}
}
