package ui

import (
	"testing"
	"time"

	"electop/election"
)

// listed is a snapshot whose list of sessions is those of the elections auth and
// billing, and one that holds nothing.
func listed(seen ...election.Seen) *election.Snapshot {
	s := mixedSnapshot()
	idle := testSession(400, "idle", "node-4")
	sessions := []*election.Session{s.Find("service/auth/leader").Session, s.Find("service/billing/leader").Session, idle}
	s.SessionList = &election.SessionList{At: testNow(), Sessions: sessions, FirstSeen: map[string]election.Seen{}}
	for i, first := range seen {
		s.SessionList.FirstSeen[sessions[i].ID] = first
	}
	return s
}

func TestSessionAgeDoesNotBeginWithTheView(t *testing.T) {
	opened := election.Seen{At: testNow()}
	d := drive(t, listed(opened, opened, election.Seen{At: ago(12 * time.Minute)}), 120, 36)
	d.keys("3")
	// auth led when electop started, billing was elected while it watched: each is
	// at least as old as its term. The age of the third is known from lists before.
	d.wants("≥2d04h", "≥3m12s", "≥12m00s")
	d.lacks("≥0s")
	d.keys("/", "'idle", "enter", "enter")
	d.wants("First seen", "11:49:09", "≥12m00s; Consul does not record")
}

func TestSessionAgeIsExactWhenItsCreationWasObserved(t *testing.T) {
	created := election.Seen{At: ago(12 * time.Minute), Created: true}
	d := drive(t, listed(created, created, created), 120, 36)
	d.keys("3", "/", "'idle", "enter")
	d.wants("12m00s")
	d.lacks("≥12m00s")
	d.keys("enter")
	d.wants("Created", "11:49:09  12m00s ago")
}

func TestSessionListThatIsNotWatchedShowsItsAge(t *testing.T) {
	s := listed()
	s.SessionList.Until = ago(3 * time.Minute)
	d := drive(t, s, 120, 36)
	d.keys("3")
	d.wants("This list is 3m00s old.", "idle")
	d.send(snapshotMsg{listed()})
	d.lacks("This list is")
}
