package ui

import (
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/ui/internal/board"
)

// outdatedChecks is a snapshot whose nodes are not watched since a while.
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
		d.keys("k") // billing, whose check warned
		d.lacks("at risk", "At risk")
		row := d.row("billing")
		if !strings.Contains(row, "12m ago") || strings.Contains(row, d.m.sym.Warning+" 1") {
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

// row is the line of the table that shows an election.
func (d *driver) row(name string) string {
	for _, line := range strings.Split(d.text(), "\n") {
		if strings.Contains(line, d.m.sym.Led+" "+name) && !strings.Contains(line, "Detail") {
			return line
		}
	}
	return ""
}

func TestUnreadableChecksShowTheAgeOfWhatWasRead(t *testing.T) {
	s := outdatedChecks(3 * time.Minute)
	for node, known := range s.Checks {
		known.Err = "connection refused"
		s.Checks[node] = known
	}
	d := drive(t, s, 120, 45)
	d.keys("k")
	d.wants("connection refused", "as of 11:58:09, 3m00s ago", "warning then", "unread")
}

// A row must not move when its node is no longer watched: out of sight its checks
// would be outdated, and current again once it is back.
func TestOrderDoesNotDependOnWhatIsWatched(t *testing.T) {
	names := func(s *election.Snapshot, keys ...string) string {
		d := drive(t, s, 120, 45)
		d.keys(keys...)
		var all []string
		for _, e := range d.m.table.Order {
			all = append(all, e.Name)
		}
		return strings.Join(all, " ")
	}
	for _, by := range []string{"state", "checks"} {
		if now, then := names(mixedSnapshot(), ":", "'sort "+by, "enter"), names(outdatedChecks(time.Hour), ":", "'sort "+by, "enter"); now != then {
			t.Errorf("by %s: %s; not watched: %s", by, now, then)
		}
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", 12*time.Minute + 59*time.Second: "12m", 23*time.Hour + 59*time.Minute: "23h", 50 * time.Hour: "2d",
	} {
		if got := board.Age(d); got != want {
			t.Errorf("age(%s) = %q, want %q", d, got, want)
		}
	}
}
