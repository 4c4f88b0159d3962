//go:build unix

package cli

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// canSuspend reports whether a shell with job control started this process: the parent process is in the same session,
// but in another process group. In other cases, ctrl-z may stop electop for ever.
func canSuspend() bool {
	own, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	session, err := unix.Getsid(os.Getppid())
	if err != nil || session != own {
		return false
	}
	group, err := syscall.Getpgid(os.Getppid())
	return err == nil && group != syscall.Getpgrp()
}
