// Package cli is electop's command line: one file a command. It wires the
// model (election), Consul (consulx) and the dashboard (ui) together.
package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/charmbracelet/x/term"

	"electop/internal/ttyguard"
)

// deps are what a command meets of the world, so that tests can give it
// another one.
type deps struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	// interactive reports that a person sits at stdin and stdout.
	interactive bool
	// guarded reports that this process is the dashboard's, started by ttyguard.
	guarded bool
}

// Main runs electop with the arguments, the streams and the signals of the
// process and gives its exit code.
func Main() int {
	// A reader that goes away ends `watch` with an error from the write, not
	// with a signal. Programs that electop runs would inherit it if the signal
	// were ignored.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := notifyContext(context.Background(), endSignals()...)
	defer stop()
	d := deps{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, guarded: ttyguard.Child(),
		interactive: term.IsTerminal(os.Stdin.Fd()) && term.IsTerminal(os.Stdout.Fd()),
	}
	code := run(ctx, d, os.Args[1:])
	if d.guarded {
		ttyguard.Leave()
	}
	return code
}

// endSignals are the signals that end a command. Those that were ignored when
// electop started stay ignored: nohup and background jobs of a script rely on it.
func endSignals() []os.Signal {
	all := []os.Signal{syscall.SIGTERM}
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			all = append(all, sig)
		}
	}
	return all
}

// run executes one command line and gives its exit code.
func run(ctx context.Context, d deps, args []string) int {
	d.stdout, d.stderr = newOutput(ctx, d.stdout), newOutput(ctx, d.stderr)
	cmd := newRootCommand(d)
	cmd.SetArgs(args)
	cmd.SetIn(d.stdin)
	cmd.SetOut(d.stdout)
	cmd.SetErr(d.stderr)
	err := cmd.ExecuteContext(ctx)
	if errors.Is(err, syscall.EPIPE) {
		return exitDone
	}
	return report(d.stderr, err)
}
