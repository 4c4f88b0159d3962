// Package cli implements electop's command line. It connects the model (election),
// Consul (consulx) and the dashboard (ui).
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"

	"electop/election"
)

// deps holds the injectable streams of a command.
type deps struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	// interactive reports whether stdin and stdout are terminals.
	interactive bool
	// commands is set while a second signal ends the process. It is nil if signals have no effect on the context.
	commands *atomic.Bool
	// seen is how long rescue must see that a node check is critical, or 0 for [failureSeen].
	seen time.Duration
	// patience multiplies the time that electop has to read a history and to find a cause; 0 counts as 1.
	patience int
}

func (d deps) within(limit time.Duration) time.Duration {
	return limit * time.Duration(max(1, d.patience))
}

// warn writes a message to stderr, in one line: the terminal wraps it, and a command in it can be copied.
func (d deps) warn(line string) { fmt.Fprintln(d.stderr, "electop: "+line) }

// Main runs electop with the arguments, streams and signals of the process and
// returns its exit code.
func Main() int {
	// With a handler for SIGPIPE, a write to a closed pipe returns an error instead of ending the process. Unlike an
	// ignored signal, a handler is not inherited by the programs that electop runs.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	commands := &atomic.Bool{}
	return run(untilSignal(os.Stderr, commands), deps{
		commands: commands, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		interactive: term.IsTerminal(os.Stdin.Fd()) && term.IsTerminal(os.Stdout.Fd()),
	}, os.Args[1:])
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, d deps, args []string) int {
	o := &options{deps: d, file: &configFile{}}
	defer o.opened.close()
	cmd := newRootCommand(o)
	cmd.SetArgs(args)
	cmd.SetIn(o.stdin)
	cmd.SetOut(o.stdout)
	cmd.SetErr(o.stderr)
	err := cmd.ExecuteContext(ctx)
	if errors.Is(err, syscall.EPIPE) {
		return exitOK
	}
	code := reportError(o.stderr, err)
	if errors.Is(err, election.ErrUnreachable) && o.contextHint() != "" {
		o.warn(o.contextHint())
	}
	return code
}
