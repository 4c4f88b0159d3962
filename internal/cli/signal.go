package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// signalError is the cause of a context that a signal cancelled.
type signalError struct{ signal os.Signal }

func (e signalError) Error() string { return e.signal.String() + " received" }

// notifyContext is signal.NotifyContext whose cause is a signalError.
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

// signalled is the exit code that stands for the signal that cancelled ctx, by
// the convention of shells: 128 and its number.
func signalled(ctx context.Context) (code exitError, ok bool) {
	var received signalError
	if !errors.As(context.Cause(ctx), &received) {
		return 0, false
	}
	number, ok := received.signal.(syscall.Signal)
	return exitError(128 + int(number)), ok
}
