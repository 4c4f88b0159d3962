//go:build unix

package stream

import (
	"context"
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// AwaitHangup waits until the other end of the pipe or terminal f is closed, and returns EPIPE. If ctx ends first, it
// returns the error of ctx.
func AwaitHangup(ctx context.Context, f *os.File) error {
	wake, end, err := os.Pipe()
	if err != nil {
		return err
	}
	defer wake.Close()
	closeEnd := func() { _ = end.Close() }
	stop := context.AfterFunc(ctx, closeEnd)
	defer func() {
		if stop() {
			closeEnd()
		}
	}()
	fds := []unix.PollFd{{Fd: int32(f.Fd())}, {Fd: int32(wake.Fd()), Events: unix.POLLIN}} //nolint:gosec // descriptors are small
	for {
		_, err := unix.Poll(fds, -1)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case fds[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0:
			return syscall.EPIPE
		case fds[0].Revents != 0: // poll on macOS does not support this terminal
			return nil
		default:
			return ctx.Err()
		}
	}
}
