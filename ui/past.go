package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/internal/history"
)

const (
	// coverageWindow is how far back periods of observation are known.
	coverageWindow = 30 * 24 * time.Hour
	// observationsTime bounds a read of the history.
	observationsTime = 10 * time.Second
	// firstFrame is how long the first frame waits for the history.
	firstFrame = 100 * time.Millisecond
)

// observedMsg carries the periods of observation of the history, or why it cannot be read.
type observedMsg struct {
	observed []history.Observation
	err      error
}

// readObservations returns the command that reads the periods of observation, nil without
// a history.
func readObservations(ctx context.Context, source history.Source, now func() time.Time) tea.Cmd {
	if source == nil {
		return nil
	}
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, observationsTime)
		defer cancel()
		observed, err := source.Observations(ctx, history.Range{Since: now().Add(-coverageWindow)})
		return observedMsg{observed, err}
	}
}

// past is when the elections were observed before the connection became live.
type past struct {
	observed []history.Observation
	// coverage is that of observed, nil without a history.
	coverage *history.Coverage
}

// cover computes the coverage up to the time at which this program began to observe.
func (p *past) cover(c election.Connection, now time.Time) {
	if p.observed == nil {
		return
	}
	if c.State == election.Live {
		now = c.Since
	}
	p.coverage = history.NewCoverage(p.observed, history.Range{Since: now.Add(-coverageWindow), Until: now})
}

// awaitFirst returns the first snapshot that shows elections, or the latest one if that takes
// too long. Without a history it does not wait.
func awaitFirst(ctx context.Context, opts Options) (latest *election.Snapshot) {
	if opts.History == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, firstFrame)
	defer cancel()
	for {
		select {
		case snap := <-opts.Snapshots:
			if snap == nil {
				return latest
			}
			latest = snap
			if snap.Loaded || !snap.RecordedUntil.IsZero() {
				return latest
			}
		case <-ctx.Done():
			return latest
		}
	}
}
