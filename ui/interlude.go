package ui

import (
	"context"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
)

// interludeMsg carries a function that needs the terminal; nil requests a redraw only.
type interludeMsg struct{ run func() }

// interludeOverMsg is sent when the dashboard has the terminal again.
type interludeOverMsg struct{}

// nextInterlude returns the command that waits for the next interlude.
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

// suspend stops the process until the user continues it. Without a stop function Bubble
// Tea does it.
func suspend(stop func()) tea.Cmd {
	if stop == nil {
		return tea.Suspend
	}
	return func() tea.Msg { stop(); return nil }
}

// lendTerminal runs an interlude with the terminal. A redraw ends at once: next waits for
// the following interlude.
func lendTerminal(msg interludeMsg, next tea.Cmd) tea.Cmd {
	if msg.run == nil {
		return tea.Batch(tea.ClearScreen, next)
	}
	return tea.Exec(withTerminal(msg.run), func(error) tea.Msg { return interludeOverMsg{} })
}

// withTerminal adapts a function to [tea.ExecCommand]: Bubble Tea runs it on the event
// loop, after it restored the terminal.
type withTerminal func()

// rendererPause lets Bubble Tea's drawing goroutine end before the next one starts: it
// stops the ticker that both share, and nothing reports its end (v2.0.9, stopRenderer).
// Without the pause the screen may stay empty.
const rendererPause = 20 * time.Millisecond

// Run runs the function.
func (f withTerminal) Run() error {
	f()
	<-time.NewTimer(rendererPause).C
	return nil
}

// SetStdin implements [tea.ExecCommand].
func (withTerminal) SetStdin(io.Reader) {}

// SetStdout implements [tea.ExecCommand].
func (withTerminal) SetStdout(io.Writer) {}

// SetStderr implements [tea.ExecCommand].
func (withTerminal) SetStderr(io.Writer) {}
