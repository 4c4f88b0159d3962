package ui

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"
)

// Run shows the dashboard until the user quits or ctx ends, which is no error.
// It returns the actions whose end it did not see; no action starts afterwards.
// The caller owns the signals (signal.NotifyContext); the terminal is restored
// on every way out, panics included. More program options, for another input or
// output, come after the dashboard's own.
func Run(ctx context.Context, opts Options, more ...tea.ProgramOption) ([]Unfinished, error) {
	m := New(ctx, opts)
	_, err := newProgram(ctx, m, more...).Run()
	left := m.actions.unfinished()
	if ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic) {
		return left, nil
	}
	return left, err
}

func newProgram(ctx context.Context, m Model, more ...tea.ProgramOption) *tea.Program {
	f := newFrames()
	options := append([]tea.ProgramOption{
		tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFPS(fallbackFrames), tea.WithFilter(f.filter),
	}, more...)
	p := tea.NewProgram(m, options...)
	f.drive(p)
	return p
}
