package ui

import (
	"testing"

	"electop/election"
)

// Keys that look the same are rows of their own: the cursor and the marks tell
// them apart, and the board says that they cannot be acted on.
func TestKeysThatLookTheSameHaveRowsOfTheirOwn(t *testing.T) {
	s := mixedSnapshot()
	for i, e := range s.Elections[:2] {
		twin := *e
		twin.Name, twin.Pair.Key, twin.Unaddressable = "a\uFFFDb", "service/a\uFFFDb/leader", true
		twin.Pair.CreateIndex = uint64(40 + i)
		s.Elections[i] = &twin
	}
	d := drive(t, s, 200, 40)
	d.keys("g")
	first := d.m.table.Selected()
	d.keys("space")
	if second := d.m.table.Selected(); second == first || second.Key() != first.Key() || len(d.m.table.Marks) != 1 {
		t.Errorf("the cursor went from %q to %q, %d marks", first.ID(), second.ID(), len(d.m.table.Marks))
	}
	d.keys("space", "g")
	if len(d.m.table.Marks) != 2 {
		t.Errorf("%d marks", len(d.m.table.Marks))
	}
	d.wants("unaddressable", "is not UTF-8")
	d.send(snapshotMsg{s})
	if d.m.table.Selected().ID() != d.m.table.Cursor || len(d.m.table.Marks) != 2 {
		t.Errorf("the cursor is on %q, %d marks", d.m.table.Cursor, len(d.m.table.Marks))
	}
}

// Semaphores and lost permissions have events of their own.
func TestNewEventsAreShown(t *testing.T) {
	s := mixedSnapshot()
	at := func(e election.Event) election.Event {
		e.Time, e.Election, e.Key = testNow(), "gpu", "jobs/gpu/.lock"
		return e
	}
	s.Events = append(s.Events,
		at(election.Event{Type: election.Entered, Session: sessionID(1), Leader: "job-1", Node: "node-1", Holders: 1, Limit: 2}),
		at(election.Event{Type: election.Left, Session: sessionID(1), Holders: 0, Limit: 2}),
		at(election.Event{Type: election.Unreadable}),
		election.Event{Time: testNow(), Type: election.Readable, Prefix: "jobs/", Count: 12},
	)
	d := drive(t, s, 200, 40)
	d.keys("2")
	d.wants("entered", "job-1, session "+election.ShortID(sessionID(1))+", node-1 · 1 of 2 slots taken", "left", "0 of 2 slots taken",
		"this token can no longer read the key", "this token can read 12 keys under jobs/ again")
}
