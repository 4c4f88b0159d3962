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

// signalError is the cause of a context that a signal cancelled.
type signalError syscall.Signal

func (e signalError) Error() string { return syscall.Signal(e).String() + " received" }

// Unwrap makes errors.Is find context.Canceled: net/http returns the cause of a context instead of its error.
func (signalError) Unwrap() error { return context.Canceled }

// repeatedSignal is the time in which a signal counts as a copy of the first one: timeout(1), for example, sends a signal
// to its child and then to its whole process group.
const repeatedSignal = 200 * time.Millisecond

// untilSignal returns a context that the first signal ends; its cause is a signalError. A second signal ends the process
// if ends is set: a dashboard must restore the terminal.
func untilSignal(stderr io.Writer, ends *atomic.Bool) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	received := make(chan os.Signal, 1)
	for _, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt, syscall.SIGHUP} {
		if !signal.Ignored(sig) { // by nohup or a shell script
			signal.Notify(received, sig)
		}
	}
	go func() {
		number, _ := (<-received).(syscall.Signal)
		cancel(signalError(number))
		first := time.Now()
		for again := range received {
			if number, _ = again.(syscall.Signal); ends.Load() && time.Since(first) > repeatedSignal {
				fmt.Fprintln(stderr, "electop: ended at once by a second signal: a write or a program in progress may still complete, and a session of campaign remains until it expires")
				os.Exit(128 + int(number))
			}
		}
	}()
	return ctx
}

// unlessInterrupted returns err, or nil if the command ended because ctx ended.
func unlessInterrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
