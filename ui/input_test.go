package ui

import (
	"slices"
	"testing"
	"time"

	"electop/election"
)

// The copy menu is about the row that was selected when it opened.
func TestTheCopyMenuStaysWithItsRow(t *testing.T) {
	vacated := func(s *election.Snapshot, e *election.Election) {
		i := slices.Index(s.Elections, e)
		s.Elections = slices.Clone(s.Elections)
		s.Elections[i] = vacantElection(99, e.Name, 1, time.Hour, time.Second, 0, election.Released, "")
	}
	for _, c := range []struct {
		name, filter string
		wants        string
	}{
		{"the filter hides the row", "state:led", "Nothing was copied: the selection changed."},
		{"the filter hides all rows", "state:led election:billing", "Nothing was copied: the selection changed."},
		{"the row stays", "", "Copied the key: service/billing/leader"},
	} {
		d := drive(t, mixedSnapshot(), 120, 36)
		d.open(keyOf("billing"))
		d.filter(c.filter)
		d.keys("c")
		next := *d.m.scene.Shown
		vacated(&next, d.m.scene.Selected)
		d.send(snapshotMsg{&next})
		if cmd, copies := d.keys("k"), c.filter == ""; (cmd != nil) != copies {
			t.Errorf("%s: copied %v, want %v", c.name, cmd != nil, copies)
		}
		d.wants(c.wants)
	}
}

func TestTheCopyMenuStaysWithItsSession(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 120, 36)
	d.keys("3", "c")
	next, list := *d.m.scene.Shown, *d.m.scene.Shown.SessionList
	list.Sessions = slices.DeleteFunc(slices.Clone(list.Sessions), func(s *election.Session) bool { return s.ID == d.m.sessions.Selected().ID })
	next.SessionList = &list
	d.send(snapshotMsg{&next})
	if cmd := d.keys("s"); cmd != nil {
		t.Error("another session was copied")
	}
	d.wants("Nothing was copied: the selection changed.")
	d.keys("c", "esc")
	d.now = d.now.Add(2 * noteTime)
	d.send(tickMsg(d.now))
	d.keys("c", "esc")
	d.lacks("Nothing was copied")
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
