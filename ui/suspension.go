package ui

import (
	"context"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
)

// suspensionMsg requests that the dashboard release the terminal and call run. A nil run only redraws the screen.
type suspensionMsg struct{ run func() }

// suspensionOverMsg is sent when the dashboard uses the terminal again.
type suspensionOverMsg struct{}

// nextSuspension returns the command that waits for the next suspension. It returns nil if next is nil.
func nextSuspension(ctx context.Context, next func(context.Context) (func(), bool)) tea.Cmd {
	if next == nil {
		return nil
	}
	return func() tea.Msg {
		if run, more := next(ctx); more {
			return suspensionMsg{run}
		}
		return nil
	}
}

// suspend stops the process until the user continues it. If stop is nil, Bubble Tea stops the process.
func suspend(stop func()) tea.Cmd {
	if stop == nil {
		return tea.Suspend
	}
	return func() tea.Msg { stop(); return nil }
}

// releaseTerminal restores the terminal for the duration of a suspension. If it only redraws the screen, it starts
// next itself, because no suspensionOverMsg follows.
func releaseTerminal(msg suspensionMsg, next tea.Cmd) tea.Cmd {
	if msg.run == nil {
		return tea.Batch(tea.ClearScreen, next)
	}
	return tea.Exec(withTerminal(msg.run), func(error) tea.Msg { return suspensionOverMsg{} })
}

// inTerminal returns the command that releases the terminal, calls run, and then returns the message from done.
func inTerminal(run func(), done func(error) tea.Msg) tea.Cmd {
	return tea.Exec(withTerminal(run), done)
}

// withTerminal adapts a function to [tea.ExecCommand]. Bubble Tea calls the function on the event loop, after it has
// restored the terminal.
type withTerminal func()

// rendererPause gives Bubble Tea's drawing goroutine time to end before the next one starts. The old goroutine stops
// the ticker that both share, and Bubble Tea does not report when it has ended (v2.0.9, stopRenderer). Without the
// pause, the screen may remain empty.
const rendererPause = 20 * time.Millisecond

// Run implements [tea.ExecCommand].
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
