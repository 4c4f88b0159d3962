package ui

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"electop/ui/internal/results"
)

// framesPerSecond is how often Bubble Tea looks for something to draw, idle or
// not: each of them costs 0.01 % of a core. At 20 an idle dashboard takes 0.5 %.
const framesPerSecond = 20

// Run shows the dashboard until the user quits or ctx ends, which is no error.
// It returns the actions whose end it did not see; no action starts afterwards.
// The caller owns the signals (signal.NotifyContext); the terminal is restored
// on every way out, panics included. More program options, for another input or
// output, come after the dashboard's own.
func Run(ctx context.Context, opts Options, more ...tea.ProgramOption) ([]Unfinished, error) {
	m := New(ctx, opts)
	_, err := newProgram(ctx, m, more...).Run()
	left := m.log.Unfinished()
	if ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic) {
		return left, nil
	}
	return left, err
}

// Unfinished is an action that was confirmed and whose end was not observed.
type Unfinished = results.Unfinished

func newProgram(ctx context.Context, m Model, more ...tea.ProgramOption) *tea.Program {
	options := append([]tea.ProgramOption{
		tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond),
	}, more...)
	return tea.NewProgram(m, options...)
}
