package ui

import (
	"strings"
	"testing"
	"time"

	"electop/election"
)

// outdatedChecks returns a snapshot whose node checks are as old as since.
func outdatedChecks(since time.Duration) *election.Snapshot {
	s := mixedSnapshot()
	for node, known := range s.Checks {
		known.Until = ago(since)
		s.Checks[node] = known
	}
	return s
}

func TestChecksThatAreNotWatchedShowTheirAge(t *testing.T) {
	for _, width := range []int{80, 120, 160} {
		d := drive(t, outdatedChecks(12*time.Minute+5*time.Second), width, 45)
		d.keys("k") // billing, whose last known check status is warning
		d.lacks("at risk", "At risk")
		row := d.row("billing")
		if !strings.Contains(row, "12m ago") || strings.Contains(row, d.m.scene.Sym.Warning+" 1") {
			t.Errorf("%d columns: %q", width, row)
		}
		d.wants("as of 11:49:04, 12m05s ago", "warning then", "429 Too Many")
	}
	d := drive(t, mixedSnapshot(), 120, 45)
	d.keys("k")
	d.wants("At risk", "2 at risk", "node check, passing", "service check, warning")
	d.lacks("12m ago", "as of", "warning then")
	d.send(snapshotMsg{outdatedChecks(3 * time.Second)})
	d.lacks("At risk", "at risk")
	d.wants("3s ago")
}

// row returns the line of the table that shows an election.
func (d *driver) row(name string) string {
	for _, line := range strings.Split(d.text(), "\n") {
		if strings.Contains(line, d.m.scene.Sym.Led+" "+name) && !strings.Contains(line, "Detail") {
			return line
		}
	}
	return ""
}
