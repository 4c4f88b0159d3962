package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
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

// notifyContext is like signal.NotifyContext, but the cause is a signalError. A second SIGINT ends the process at once.
func notifyContext(parent context.Context, signals ...os.Signal) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	received := make(chan os.Signal, 1)
	signal.Notify(received, signals...)
	go func() {
		select {
		case s := <-received:
			signal.Reset(os.Interrupt)
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

// interrupted reports whether the command ended because ctx ended.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled))
}
