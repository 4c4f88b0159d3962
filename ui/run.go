package ui

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"
)

// framesPerSecond is how often Bubble Tea looks for something to draw, idle or
// not: as often as snapshots can come, and no oftener.
const framesPerSecond = 30

// Run shows the dashboard until the user quits or ctx ends, which is no error.
// The caller owns the signals (signal.NotifyContext); the terminal is restored
// on every way out, panics included. More program options, for another input or
// output, come after the dashboard's own.
func Run(ctx context.Context, opts Options, more ...tea.ProgramOption) error {
	options := append([]tea.ProgramOption{
		tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond),
	}, more...)
	_, err := tea.NewProgram(New(ctx, opts), options...).Run()
	if ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic) {
		return nil
	}
	return err
}
