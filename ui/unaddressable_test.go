package ui

import (
	"testing"

	"electop/election"
)

// The Events view shows the events of semaphores and of lost permissions.
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
		at(election.Event{Type: election.Readable}),
	)
	d := drive(t, s, 200, 40, func(o *Options) { o.Patterns = append(o.Patterns, "jobs/*/.lock") })
	d.keys("2")
	d.wants("entered", "job-1, session "+election.ShortID(sessionID(1))+", node-1 · 1 of 2 slots taken", "left", "0 of 2 slots taken",
		"this token can no longer read the key", "this token can read the key again")
}
