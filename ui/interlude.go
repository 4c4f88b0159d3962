package ui

import (
	"context"
	"io"

	tea "charm.land/bubbletea/v2"
)

// interludeMsg is a function that needs the terminal, or nil when only the
// screen has to be drawn anew.
type interludeMsg struct{ run func() }

// interludeOverMsg says that the dashboard has the terminal again.
type interludeOverMsg struct{}

// nextInterlude makes the command that waits for the next interlude.
func nextInterlude(ctx context.Context, next func(context.Context) (func(), bool)) tea.Cmd {
	if next == nil {
		return nil
	}
	return func() tea.Msg {
		if run, more := next(ctx); more {
			return interludeMsg{run}
		}
		return nil
	}
}

// suspend stops the process until the user continues it.
func (m *Model) suspend() tea.Cmd {
	if m.opts.Suspend == nil {
		return tea.Suspend
	}
	return func() tea.Msg { m.opts.Suspend(); return nil }
}

func (m *Model) giveTerminal(msg interludeMsg) tea.Cmd {
	if msg.run == nil {
		return tea.Batch(tea.ClearScreen, m.interlude)
	}
	return tea.Exec(withTerminal(msg.run), func(error) tea.Msg { return interludeOverMsg{} })
}

// withTerminal is a function as a [tea.ExecCommand]: Bubble Tea runs it on the event
// loop, between restoring the terminal and taking it again.
type withTerminal func()

// Run runs the function.
func (f withTerminal) Run() error { f(); return nil }

// SetStdin implements [tea.ExecCommand].
func (withTerminal) SetStdin(io.Reader) {}

// SetStdout implements [tea.ExecCommand].
func (withTerminal) SetStdout(io.Writer) {}

// SetStderr implements [tea.ExecCommand].
func (withTerminal) SetStderr(io.Writer) {}
