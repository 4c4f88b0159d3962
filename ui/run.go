package ui

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

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
	_, err := newProgram(ctx, m, more...).Run()
	left := m.log.Unfinished()
	if ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic) {
		return left, nil
	}
	return left, err
}

// Unfinished is a confirmed action without a final outcome.
type Unfinished = results.Unfinished

func newProgram(ctx context.Context, m Model, more ...tea.ProgramOption) *tea.Program {
	options := append([]tea.ProgramOption{
		tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond),
	}, more...)
	return tea.NewProgram(m, options...)
}
