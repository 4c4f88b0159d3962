package history

import (
	"context"
	"slices"
	"time"

	"electop/election"
)

// recallWindow is the length of the period before now in which Recall searches for the latest observation of each key.
const recallWindow = 30 * 24 * time.Hour

// Recall reads the latest known state of the elections from a history. An observer can continue from this state.
func Recall(ctx context.Context, s Source, now time.Time) (election.HistoryRead, error) {
	state, err := s.State(ctx, now)
	if err != nil || len(state.Elections) == 0 {
		return election.HistoryRead{At: now}, err
	}
	observed, err := s.Observations(ctx, Range{Since: now.Add(-recallWindow), Until: now})
	if err != nil {
		return election.HistoryRead{At: now}, err
	}
	coverage := NewCoverage(observed, Range{Until: now})
	read := election.HistoryRead{At: now, Elections: make([]*election.Election, 0, len(state.Elections)), Parts: parts(observed, state.Elections)}
	for _, e := range state.Elections {
		r := *e
		r.RecordedUntil = later(latest(e), coverage.Until(e.Datacenter, e.Key()))
		read.Elections = append(read.Elections, &r)
	}
	return read, nil
}

// parts returns the latest observation of each datacenter.
func parts(observed []Observation, elections []*election.Election) (all []election.RecordedPart) {
	for _, o := range observed { // oldest first
		ps, err := election.ParsePatterns(o.Patterns)
		if err != nil {
			continue
		}
		all = slices.DeleteFunc(all, func(p election.RecordedPart) bool { return p.Datacenter == o.Datacenter })
		all = append(all, election.RecordedPart{Datacenter: o.Datacenter, Patterns: ps, Until: o.To})
	}
	for i := range all {
		for _, e := range elections {
			if e.Datacenter == all[i].Datacenter {
				all[i].Newest = max(all[i].Newest, e.Pair.ModifyIndex)
			}
		}
	}
	return all
}

// latest returns the latest observed start or end of a term or vacancy of an election.
func latest(e *election.Election) time.Time {
	at := later(e.Since, e.VacantSince)
	for _, t := range e.Terms {
		at = later(at, later(t.Start, t.End))
	}
	return at
}
