package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"electop/consulx"
	candidacy "electop/consulx/campaign"
	"electop/election/sanitize"
	"electop/internal/procgroup"
	"electop/internal/supervise"
)

const (
	// stopGrace is the time from SIGTERM to SIGKILL when the leadership is lost. The
	// session must still protect the key during this time.
	stopGrace = 3 * time.Second
	// signalGrace is the time from SIGTERM to SIGKILL when a signal ends the campaign. It is longer, because electop
	// still leads.
	signalGrace = 10 * time.Second
	// extendInterval is the time between two extensions of the deadlines. It is short compared with
	// SessionOptions.Hold.
	extendInterval = 500 * time.Millisecond
)

// Exit codes for a program that cannot be run, as in shells and env(1).
const (
	exitCannotRun = 126
	exitNotFound  = 127
)

// newSuperviseCommand returns the hidden command that campaign runs as the parent process of its program.
func newSuperviseCommand(d deps) *cobra.Command {
	return &cobra.Command{
		Use: supervise.Command, Hidden: true, DisableFlagParsing: true,
		// All arguments are arguments of the program: electop's flags and config file do not apply.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(_ *cobra.Command, program []string) error {
			if !procgroup.Supported || len(program) == 0 {
				return usagef("%s is an internal command; use electop campaign", supervise.Command)
			}
			err := supervise.Run(program, d.programStreams())
			if errors.Is(err, supervise.ErrStart) {
				return cannotRun(d.stderr, program[0], err)
			}
			return programExit(err)
		},
	}
}

func (d deps) programStreams() supervise.Streams {
	return supervise.Streams{Stdin: d.stdin, Stdout: d.stdout, Stderr: d.stderr}
}

// programRun is one term during which the program runs.
type programRun struct {
	leadership *candidacy.Leadership
	lost       time.Time // time at which the leadership was lost
	signalled  time.Time // time at which a signal ended the campaign
}

// deadlines returns when the supervisor must stop the program.
func (r *programRun) deadlines(now time.Time) supervise.Deadlines {
	d := supervise.Deadlines{Grace: stopGrace, Kill: now.Add(r.leadership.Remaining())}
	switch {
	case !r.lost.IsZero():
		d.Term = r.lost
		if kill := r.lost.Add(stopGrace); kill.Before(d.Kill) {
			d.Kill = kill
		}
	case !r.signalled.IsZero():
		d.Term, d.Grace = r.signalled, signalGrace
	default:
		d.Term = d.Kill.Add(-stopGrace)
	}
	return d
}

// runProgram runs the program until the program ends, the leadership is lost or a signal arrives. When runProgram
// returns, every process in the program's process group has ended or has been sent SIGKILL.
func (c *campaign) runProgram(ctx context.Context, l *candidacy.Leadership, key string, program []string) error {
	r := programRun{leadership: l}
	env := []string{"CONSUL_LOCK_HELD=true", "ELECTOP_KEY=" + key, "ELECTOP_SESSION=" + l.Session()}
	client, err := supervise.Start(program, env, c.d.programStreams(), r.deadlines(time.Now()))
	if err != nil {
		return err
	}
	r.await(ctx, client)
	exited, err := client.Result()
	switch {
	case !r.lost.IsZero():
		return fmt.Errorf("lost the lock on %s while the program was running: %s", sanitize.Line(key, 200), consulx.Describe(l.Err()))
	case !r.signalled.IsZero():
		return ctx.Err()
	case !exited:
		return fmt.Errorf("stopped the program: its supervisor ended (%w)", err)
	}
	return programExit(err)
}

// await extends the deadlines until the supervisor ends.
func (r *programRun) await(ctx context.Context, client *supervise.Client) {
	lost, signalled := r.leadership.Lost(), ctx.Done()
	tick := time.NewTicker(extendInterval)
	defer tick.Stop()
	for {
		select {
		case <-client.Done():
			return
		case <-lost:
			lost, r.lost = nil, time.Now()
		case <-signalled:
			signalled, r.signalled = nil, time.Now()
		case <-tick.C:
		}
		client.Extend(r.deadlines(time.Now()))
	}
}

// findProgram checks that the program can be run.
func findProgram(w io.Writer, name string) error {
	if _, err := exec.LookPath(name); err != nil {
		return cannotRun(w, name, err)
	}
	return nil
}

// cannotRun reports why the program cannot be run, and returns its exit code.
func cannotRun(w io.Writer, name string, err error) error {
	why := err
	if lookup := (*exec.Error)(nil); errors.As(err, &lookup) {
		why = lookup.Err
	}
	if path := (*os.PathError)(nil); errors.As(why, &path) {
		why = path.Err
	}
	fmt.Fprintf(w, "electop: cannot run %s: %s\n", sanitize.Line(name, 200), sanitize.Line(why.Error(), 200))
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return exitError(exitNotFound)
	}
	return exitError(exitCannotRun)
}

// programExit returns the exit code of a program that has ended: its own, or 128 + N
// if signal N ended it. It returns other errors unchanged.
func programExit(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitError(128 + int(status.Signal()))
	}
	return exitError(exit.ExitCode())
}
