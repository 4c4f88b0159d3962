package history

import (
	"context"
	"maps"
	"slices"
	"time"

	"electop/election"
)

// recallWindow is the length of the period before now in which Recall searches for the latest observation of each key.
const recallWindow = 30 * 24 * time.Hour

// Recall reads the latest known state of the elections from a history. An observer can continue from this state.
func Recall(ctx context.Context, s Source, now time.Time) (read election.HistoryRead, err error) {
	state, err := s.State(ctx, now)
	if err != nil {
		return read, err
	}
	observed, err := s.Observations(ctx, Range{Since: now.Add(-recallWindow), Until: now})
	if err != nil {
		return read, err
	}
	coverage := NewCoverage(observed, Range{Until: now})
	read.Parts = parts(observed, state.Elections)
	for _, e := range state.Elections {
		r := *e
		r.RecordedUntil = later(later(e.Since, e.VacantSince), coverage.Until(e.Datacenter, e.Key()))
		read.Elections = append(read.Elections, &r)
	}
	return read, nil
}

// parts returns the latest observation of each datacenter.
func parts(observed []Observation, elections []*election.Election) []election.RecordedPart {
	newest, latest := map[string]uint64{}, map[string]election.RecordedPart{}
	for _, e := range elections {
		newest[e.Datacenter] = max(newest[e.Datacenter], e.Pair.ModifyIndex)
	}
	for _, o := range observed { // oldest first
		if ps, err := election.ParsePatterns(o.Patterns); err == nil {
			ps = ps.Rooted()
			latest[o.Datacenter] = election.RecordedPart{Datacenter: o.Datacenter, Patterns: ps, Until: o.To, Newest: newest[o.Datacenter]}
		}
	}
	return slices.Collect(maps.Values(latest))
}
