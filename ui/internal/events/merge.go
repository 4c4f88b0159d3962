package events

import (
	"slices"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/ui/internal/scene"
)

// merge joins two lists, newest first. Of events at the same time, that of a comes first.
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

// actionLines are the actions that match, newest first.
func actionLines(actions []scene.EventLine, keep func(scene.EventLine) bool) []scene.EventLine {
	var lines []scene.EventLine
	for _, a := range slices.Backward(actions) {
		if keep(a) {
			lines = append(lines, a)
		}
	}
	return lines
}

// gapLines are the times without an observer that began within a range, newest first.
func gapLines(gaps []history.Range, within history.Range, now time.Time) []scene.EventLine {
	var lines []scene.EventLine
	for _, gap := range slices.Backward(gaps) {
		if !gap.Since.Before(within.Since) && (within.Until.IsZero() || !gap.Since.After(within.Until)) {
			lines = append(lines, scene.Unobserved(gap.Since, gap.Until, now))
		}
	}
	return lines
}

// identity is what an event of two observers has in common.
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
	case election.Explained: // its line is that of the end of the term
		id.kind = election.Vacated
	case election.Updated, election.Overwritten, election.Missed, election.Entered, election.Left:
		id.index = ev.ModifyIndex
	case election.ConnectionLost, election.ConnectionRestored: // each observer has its own connection
		id.index = uint64(ev.Time.UnixNano())
	default:
	}
	return id
}

// sameWithin is how much later one observer may report a change than another. An event
// with the same identity at another time follows a restore of Consul's data.
const sameWithin = time.Minute

// period is when the events of an identity happened.
type period struct{ first, last time.Time }

// without removes the stored events that are among the live ones.
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

// periodsOf returns when each event happened, and the time of the oldest.
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
