package ui

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"electop/internal/crash"
	"electop/ui/act"
)

// Run shows the dashboard until the user quits or ctx ends, which is not an error. It returns the unfinished actions;
// no action starts later. The caller handles signals. Run always restores the terminal, even after a panic. more
// overrides the program options.
func Run(ctx context.Context, opts Options, more ...tea.ProgramOption) ([]act.Unfinished, error) {
	m := New(ctx, opts)
	p := newProgram(ctx, m, more...)
	if opts.Crashed != nil {
		defer crash.Handle(func(c crash.Panic) {
			p.Kill() // restores the terminal
			opts.Crashed(c)
		})()
	}
	_, err := p.Run()
	left := m.log.Unfinished()
	if ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic) {
		return left, nil
	}
	return left, err
}

func newProgram(ctx context.Context, m *Model, more ...tea.ProgramOption) *tea.Program {
	return tea.NewProgram(guarded{m}, append([]tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler()}, more...)...)
}

// guarded passes panics to [crash.Handle]. Bubble Tea would write them to standard error with their secrets.
type guarded struct{ tea.Model }

// Init implements [tea.Model].
func (g guarded) Init() tea.Cmd { return guard(g.Model.Init()) }

// Update implements [tea.Model].
func (g guarded) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	defer crash.Recover()
	m, cmd := g.Model.Update(msg)
	return guarded{m}, guard(cmd)
}

// View implements [tea.Model].
func (g guarded) View() tea.View {
	defer crash.Recover()
	return g.Model.View()
}

// guard returns the command with recovery, also for the commands of a [tea.Batch].
func guard(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		defer crash.Recover()
		msg := cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i, c := range batch {
				batch[i] = guard(c)
			}
		}
		return msg
	}
}
