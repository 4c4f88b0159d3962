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
)

// endSignals returns the signals that end a command. SIGINT and SIGHUP stay ignored if they were ignored when
// electop started, as nohup and shell scripts require.
func endSignals() []os.Signal {
	all := []os.Signal{syscall.SIGTERM}
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			all = append(all, sig)
		}
	}
	return all
}

// signalError is the cause of a context that a signal cancelled.
type signalError struct{ signal os.Signal }

func (e signalError) Error() string { return e.signal.String() + " received" }

// Unwrap makes errors.Is find context.Canceled: net/http returns the cause of a context instead of its error.
func (signalError) Unwrap() error { return context.Canceled }

// notifyContext is like signal.NotifyContext, but the cause is a signalError.
func notifyContext(parent context.Context, signals ...os.Signal) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	received := make(chan os.Signal, 1)
	signal.Notify(received, signals...)
	go func() {
		select {
		case s := <-received:
			cancel(signalError{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(received)
		cancel(nil)
	}
}

// signalExit returns the exit code for the signal that cancelled ctx. As in a shell, it is 128 + signal number.
func signalExit(ctx context.Context) (code exitError, ok bool) {
	var received signalError
	if !errors.As(context.Cause(ctx), &received) {
		return 0, false
	}
	number, ok := received.signal.(syscall.Signal)
	return exitError(128 + int(number)), ok
}

// repeatedSignal is the time in which a signal counts as a copy of the first one: timeout(1), for example, sends a signal
// to its child and then to its whole process group.
const repeatedSignal = 200 * time.Millisecond

// endAtSecondSignal ends the process when a second signal arrives after one has cancelled ctx, if ends is set: a
// dashboard must restore the terminal.
func endAtSecondSignal(ctx context.Context, stderr io.Writer, ends *atomic.Bool) {
	context.AfterFunc(ctx, func() {
		<-time.After(repeatedSignal)
		again := make(chan os.Signal, 1)
		signal.Notify(again, endSignals()...)
		for received := range again {
			if number, ok := received.(syscall.Signal); ok && ends.Load() {
				fmt.Fprintln(stderr, "electop: ended at once by a second signal: a write or a program in progress may still complete, and a session of campaign remains until it expires")
				os.Exit(128 + int(number))
			}
		}
	})
}

// interrupted reports whether the command ended because ctx ended.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled))
}
