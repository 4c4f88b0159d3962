package history

import (
	"context"
	"maps"
	"slices"
	"time"

	"electop/election"
)

// RecallWindow is the length of the period before now in which [Recall] searches for the latest observation of each key.
const RecallWindow = 30 * 24 * time.Hour

// Recall reads the latest known state of the elections from a history. An observer can continue from this state.
func Recall(ctx context.Context, s Source, now time.Time) (read election.HistoryRead, err error) {
	// The coverage is read first, so that it never contains a time whose changes the state lacks.
	observed, err := s.Observations(ctx, Range{Since: now.Add(-RecallWindow)})
	if err != nil {
		return read, err
	}
	state, err := s.State(ctx, now)
	if err != nil {
		return read, err
	}
	coverage := NewCoverage(observed, Filter{Range: Range{Until: now}})
	latest := map[string]election.RecordedPart{} // by datacenter
	read.Elections = state.Known
	for _, e := range read.Elections {
		e.RecordedUntil = election.Later(election.Later(e.Since, e.VacantSince), coverage.Of(e.Datacenter, e.Key()).End())
	}
	for _, o := range observed { // the last one was stored last
		if ps, err := election.ParsePatterns(o.Patterns); err == nil {
			latest[o.Datacenter] = election.RecordedPart{Datacenter: o.Datacenter, Patterns: ps.Rooted(), Until: o.To, Newest: o.Newest}
		}
	}
	read.Parts = slices.Collect(maps.Values(latest))
	return read, nil
}
