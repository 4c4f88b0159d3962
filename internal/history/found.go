package history

import (
	"electop/election"
	"electop/election/sanitize"
)

// Found returns the state of the elections in a snapshot as initial events, for a history file that does not contain
// this state.
func Found(s *election.Snapshot) []election.Event {
	var events []election.Event
	for _, e := range s.Elections {
		if !e.Exists || e.Recorded() {
			continue
		}
		found := election.Event{
			Time: s.At, Type: election.Vacated, Election: e.Name, Key: e.Key(), Datacenter: e.Datacenter, Term: e.Term,
			CreateIndex: e.Pair.CreateIndex, ModifyIndex: e.Pair.ModifyIndex, Initial: true,
		}
		slots, semaphore := e.Pair.Slots()
		switch {
		case e.Pair.Held():
			found.Type, found.Leader, found.Session = election.Elected, e.Leader, e.Pair.Session
			if e.Session != nil {
				found.Node = e.Session.Node
			}
		case semaphore:
			events = append(events, holders(found, slots)...)
			continue
		}
		events = append(events, found)
	}
	return events
}

// holders returns one event for each holder of a semaphore, or one event if there is no holder.
func holders(found election.Event, slots election.Slots) []election.Event {
	found.Holders, found.Limit, found.Type = len(slots.Holders), slots.Limit, election.Left
	if len(slots.Holders) == 0 {
		return []election.Event{found}
	}
	var events []election.Event
	for _, id := range slots.Holders {
		found.Type, found.Session = election.Entered, sanitize.Line(id, election.LabelLength)
		events = append(events, found)
	}
	return events
}
