package tracker

import (
	"slices"
	"time"

	"electop/election"
)

// These constants, which docs/reliability.md lists, and the number of keys in Consul limit the size of a tracker.
const (
	// keptPerElection is the maximum number of terms, and the maximum number of events, of one election. keptInAll
	// limits the terms, and the events, of all elections together, but each election keeps at least keptAtLeast.
	keptPerElection = 64
	keptInAll       = 1 << 18
	keptAtLeast     = 4
	// maxGoneValue is the maximum length of a deleted key's value. Short values are kept: they identify the software.
	maxGoneValue = 256
	// maxIdleSessions is the limit for pruneSessions while some keys have not been read. pruneSessions compares it
	// with the number of all sessions minus two per election.
	maxIdleSessions = 100_000
	// maxCheckedNodes is the maximum number of nodes whose checks are kept. An observer watches at most 16 nodes.
	maxCheckedNodes = 64
	// maxFiltered is the maximum number of ranges that are stored as filtered.
	maxFiltered = 1000
	// pruneEvery is the interval between two searches for expired elections.
	pruneEvery = time.Minute
)

// prune removes actions that are too old, and the elections that [election.Kept] does not keep.
func (t *Tracker) prune(at time.Time) {
	t.actions = slices.DeleteFunc(t.actions, func(a ownAction) bool { return at.Sub(a.At) > actionMemory })
	if at.Sub(t.pruned).Abs() < pruneEvery {
		return
	}
	t.pruned = at
	if kept := election.Kept(t.elections, at); len(kept) < len(t.elections) {
		t.elections = kept
	}
}

// keep returns how many terms, and how many events, each election keeps.
func (t *Tracker) keep() int {
	return max(keptAtLeast, min(keptPerElection, keptInAll/max(1, len(t.elections))))
}

// pruneSessions removes sessions that hold no key if there are too many sessions. Until all keys have been read, the
// limit is high, because a session may hold a key that has not been read.
func (t *Tracker) pruneSessions() {
	idle := len(t.sessions) - 2*len(t.elections)
	if idle <= 64 || !t.Loaded() && idle <= maxIdleSessions {
		return
	}
	held := make(map[string]*election.Session, len(t.elections))
	keep := func(id string) {
		if s := t.sessions[id]; s != nil {
			held[id] = s
		}
	}
	for _, e := range t.elections {
		keep(e.Pair.Session)
		if slots, ok := e.Pair.Slots(); ok {
			for _, id := range slots.Holders {
				keep(id)
			}
		}
	}
	t.sessions = held
}

// pruneChecks removes the checks that have been outdated for the longest time if there are too many. Watched checks
// remain, because an unchanged check is not read again.
func (t *Tracker) pruneChecks() {
	if len(t.checks) <= maxCheckedNodes {
		return
	}
	oldest := ""
	for node, c := range t.checks {
		if !c.Current() && (oldest == "" || c.Until.Before(t.checks[oldest].Until)) {
			oldest = node
		}
	}
	delete(t.checks, oldest)
}

// appendBounded appends items to list. If the result would exceed 2*limit elements, only the newest elements remain,
// limit in number. It does not overwrite elements that the tracker has returned to a caller.
func appendBounded[T any](list, items []T, limit int) []T {
	if len(list) == 0 { // at the start, there may be many
		return tail(items, limit)
	}
	if len(list)+len(items) <= 2*limit {
		return append(list, items...)
	}
	items = items[max(0, len(items)-limit):]
	return append(append(make([]T, 0, 2*limit), tail(list, limit-len(items))...), items...)
}

// appendKept returns a copy of a list of one election with one more item. It keeps the last limit elements.
func appendKept[T any](list []T, item T, limit int) []T {
	return slices.Concat(tail(list, limit-1), []T{item})
}

func tail[T any](list []T, n int) []T {
	list = list[max(0, len(list)-n):]
	return list[:len(list):len(list)]
}

// setPatterns discards the elections that the new patterns do not select.
func (t *Tracker) setPatterns(ps election.Patterns) {
	t.Patterns, t.covered, t.filtered = ps, nil, nil
	for _, list := range []*[]*election.Election{&t.elections, &t.recorded} {
		var kept []*election.Election
		for _, e := range *list {
			name, selected := ps.Match(e.Key())
			if !selected {
				continue
			}
			if name != e.Name {
				renamed := *e
				renamed.Name, e = name, &renamed
			}
			kept = append(kept, e)
		}
		*list = kept
	}
	t.ends = slices.DeleteFunc(t.ends, func(p *pendingEnd) bool {
		selected := ps.Selects(p.Key)
		if !selected {
			delete(t.pending, p.TermID())
		}
		return !selected
	})
}
