package events

import (
	"slices"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/ui/scene"
)

// merge joins two lists, newest first. Events of a precede events of b that have the same time.
func merge(a, b []scene.EventLine) []scene.EventLine {
	if len(a) == 0 {
		return b
	}
	all := make([]scene.EventLine, 0, len(a)+len(b))
	for _, line := range a {
		for len(b) > 0 && b[0].Ev.Time.After(line.Ev.Time) {
			all, b = append(all, b[0]), b[1:]
		}
		all = append(all, line)
	}
	return append(all, b...)
}

// actionLines returns the matching actions, newest first.
func actionLines(actions []scene.EventLine, keep func(scene.EventLine) bool) []scene.EventLine {
	var lines []scene.EventLine
	for _, a := range slices.Backward(actions) {
		if keep(a) {
			lines = append(lines, a)
		}
	}
	return lines
}

// gapLines returns a line for each gap in observation that began within a range, newest first.
func gapLines(gaps []history.Range, within history.Range, now time.Time) []scene.EventLine {
	var lines []scene.EventLine
	for _, gap := range slices.Backward(gaps) {
		if !gap.Since.Before(within.Since) && (within.Until.IsZero() || !gap.Since.After(within.Until)) {
			lines = append(lines, scene.Unobserved(gap.Since, gap.Until, now))
		}
	}
	return lines
}

// identity holds the fields that are equal if two observers report the same event.
type identity struct {
	scene.TermID
	kind    election.EventType
	index   uint64
	initial bool
	prefix  string
}

func identify(ev *election.Event) identity {
	id := identity{TermID: scene.TermOf(ev), kind: ev.Type, initial: ev.Initial, prefix: ev.Prefix}
	switch ev.Type {
	case election.Explained: // an explanation is on the same line as its vacated event
		id.kind = election.Vacated
	case election.Updated, election.Overwritten, election.Missed, election.Entered, election.Left:
		id.index = ev.ModifyIndex
	case election.ConnectionLost, election.ConnectionRestored: // each observer has its own connection
		id.index = uint64(ev.Time.UnixNano())
	default:
	}
	return id
}

// sameWithin is the maximum difference between two observers' times of one event. At a larger difference, the
// events differ although their indexes are equal, because indexes repeat after a restore of Consul's data.
const sameWithin = time.Minute

// period holds the times of the first and the last event with the same identity.
type period struct{ first, last time.Time }

// without returns the stored events that are not live events.
func without(stored, live []scene.EventLine) []scene.EventLine {
	if len(live) == 0 || len(stored) == 0 {
		return stored
	}
	seen, oldest := periodsOf(live)
	oldest = oldest.Add(-sameWithin)
	kept := make([]scene.EventLine, 0, len(stored))
	for _, l := range stored {
		if at := l.Ev.Time; !at.Before(oldest) {
			p, known := seen[identify(l.Ev)]
			if known && !at.Before(p.first.Add(-sameWithin)) && !at.After(p.last.Add(sameWithin)) {
				continue
			}
		}
		kept = append(kept, l)
	}
	return kept
}

// withoutKnown returns the live events without the initial events that describe a stored event again.
func withoutKnown(live, stored []scene.EventLine) []scene.EventLine {
	if !slices.ContainsFunc(live, func(l scene.EventLine) bool { return l.Ev.Initial }) {
		return live
	}
	known := make(map[identity]bool, len(stored))
	for _, l := range stored {
		id := identify(l.Ev)
		id.initial = true
		known[id] = true
	}
	return slices.DeleteFunc(live, func(l scene.EventLine) bool { return l.Ev.Initial && known[identify(l.Ev)] })
}

// periodsOf returns the period of each identity, and the time of the oldest event.
func periodsOf(live []scene.EventLine) (seen map[identity]period, oldest time.Time) {
	seen, oldest = make(map[identity]period, len(live)), live[0].Ev.Time
	for _, l := range live {
		id, at := identify(l.Ev), l.Ev.Time
		p, again := seen[id]
		if !again {
			p = period{at, at}
		}
		seen[id] = period{scene.Earlier(p.first, at), later(p.last, at)}
		oldest = scene.Earlier(oldest, at)
	}
	return seen, oldest
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
