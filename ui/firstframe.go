package ui

import (
	"context"
	"time"

	"electop/election"
)

// firstFrame is how long the first frame waits for the history.
const firstFrame = 100 * time.Millisecond

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
