package ui

import (
	"testing"
	"time"

	"electop/election"
)

// The copy menu copies what was selected when it opened, even if the selection changes.
func TestTheCopyMenuStaysWithItsRow(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.open(keyOf("billing"))
	d.keys("c")
	d.wants("Copy from billing")
	next := *d.m.scene.Shown
	next.Elections = next.Elections[:1]
	d.send(snapshotMsg{&next})
	if cmd := d.keys("k"); cmd == nil {
		t.Error("nothing was copied")
	}
	d.wants("Copied the key: service/billing/leader")
}

// The cursor goes to the first problem when all elections were read or, after that, when the search for candidates has
// found which elections without a leader have a problem, unless the user selected a row.
func TestTheCursorStaysOnTheFirstRow(t *testing.T) {
	for _, c := range []struct {
		name, want string
		keys       []string
	}{
		{"selected", "auth", []string{"g"}},
		{"open", "auth", []string{"enter"}},
		{"not used", "mail", nil},
	} {
		loading, unsearched := mixedSnapshot(), mixedSnapshot()
		loading.Loaded = false
		for _, e := range unsearched.Elections {
			if e.Unsearched = !e.Pair.Held(); e.Unsearched {
				e.LockDelayUntil = time.Time{}
			}
		}
		for _, before := range []*election.Snapshot{loading, unsearched} {
			d := drive(t, before, 120, 36)
			d.keys(c.keys...)
			d.send(snapshotMsg{mixedSnapshot()})
			if e := d.m.scene.Selected; e == nil || e.Name != c.want {
				t.Errorf("%s: want the cursor on %s:\n%s", c.name, c.want, d.text())
			}
		}
	}
}
