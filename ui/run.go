package ui

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/internal/results"
)

// framesPerSecond is how often Bubble Tea checks for changes. A key takes effect after at most 100 ms. Each check costs
// about 0.02 % of a core: at 10,000 elections, an idle dashboard uses 0.70 % with 10 checks and 0.75 % with 12. If
// all terms are older than an hour, only the clock changes, and the dashboard uses 0.60 % and 0.67 %.
const framesPerSecond = 10

// Run shows the dashboard until the user quits or ctx ends, which is not an error. It returns the unfinished actions;
// no action starts later. The caller handles signals. Run always restores the terminal, even after a panic. more
// overrides the program options.
func Run(ctx context.Context, opts Options, more ...tea.ProgramOption) ([]Unfinished, error) {
	m := New(ctx, opts)
	if snap := awaitFirst(ctx, opts); snap != nil {
		m.feed.take(snap)
		m.changed()
	}
	_, err := newProgram(ctx, m, more...).Run()
	left := m.log.Unfinished()
	if ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic) {
		return left, nil
	}
	return left, err
}

// firstFrame is the maximum time for which the first frame waits for the history.
const firstFrame = 100 * time.Millisecond

// awaitFirst waits for the first snapshot that is complete or from the history, and returns it. After firstFrame, it
// returns the latest snapshot. Without a history, it returns nil immediately.
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

// Unfinished is a confirmed action without a final outcome.
type Unfinished = results.Unfinished

func newProgram(ctx context.Context, m Model, more ...tea.ProgramOption) *tea.Program {
	options := append([]tea.ProgramOption{
		tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond),
	}, more...)
	return tea.NewProgram(m, options...)
}
