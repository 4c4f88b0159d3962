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
	// The state is read later: what another process stores in between is in the state, and must not only be in the coverage.
	window := Range{Since: now.Add(-RecallWindow)}
	observed, err := s.Observations(ctx, window)
	if err != nil {
		return read, err
	}
	state, err := s.State(ctx, now)
	if err != nil {
		return read, err
	}
	page, err := s.Events(ctx, EventQuery{Filter: Filter{Range: window}, Types: []election.EventType{election.Overwritten}, Limit: 1000})
	if err != nil {
		return read, err
	}
	former := map[[2]string][]election.Event{} // the flags before writes without the lock, by datacenter and key
	for _, v := range slices.Backward(page.Items) {
		id := [2]string{v.Datacenter, v.Key}
		former[id] = append(former[id], election.Event{Type: v.Type, CreateIndex: v.CreateIndex, Evidence: v.Evidence})
	}
	coverage := NewCoverage(observed, Filter{Range: Range{Until: now}})
	latest := map[string]election.RecordedPart{} // by datacenter
	read.Elections = state.Known
	for _, e := range read.Elections {
		e.Events = former[[2]string{e.Datacenter, e.Key()}]
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
