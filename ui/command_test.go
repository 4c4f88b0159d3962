package ui

import "testing"

// A command acts on the row of the open view. The views 2 and 3 cover the table of elections, so a command without a
// filter must not act on its selected row.
func TestCommandsActOnTheRowOfTheView(t *testing.T) {
	const covered = "Unavailable in this view: select an election in view 1"
	for _, c := range []struct {
		view, command, wants string
		opens                bool
	}{
		{"1", "release", "Release billing", true},
		{"1", "destroy", "Destroy the session of billing", true},
		{"2", "release auth", "Release auth", true},
		{"2", "destroy auth", "Destroy the session of auth", true},
		{"3", "release auth", "Release auth", true},
		{"3", "destroy", "Destroy session ", true},
		{"2", "release", covered + ", or use :release FILTER.", false},
		{"2", "destroy", covered + ", or use :destroy FILTER.", false},
		{"2", "fix", covered + ".", false},
		{"3", "release", "A session can be destroyed (x) but not released.", false},
		{"3", "fix", covered + ".", false},
		{"3", "report", covered + ".", false},
		{"3", "report 2h", covered + ".", false},
	} {
		d := drive(t, studiedSnapshot(""), 120, 36, searches, newDiagnosis().option)
		d.open(keyOf("billing"))
		d.keys(c.view, ":", "'"+c.command, "enter")
		if (d.m.overlay != nil) != c.opens {
			t.Errorf("view %s: :%s opened a dialog: %v\n%s", c.view, c.command, !c.opens, d.text())
		}
		d.wants(c.wants)
	}
}
