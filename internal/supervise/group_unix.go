//go:build unix

package supervise

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Supported reports whether this system has process groups.
const Supported = true

// CanSuspend reports whether a shell with job control started this process: the parent process is in the same session,
// but in another process group. In other cases, ctrl-z may stop electop for ever.
func CanSuspend() bool {
	parent := os.Getppid()
	own, err := unix.Getsid(0)
	session, failed := unix.Getsid(parent)
	group, unknown := syscall.Getpgid(parent)
	return errors.Join(err, failed, unknown) == nil && session == own && group != syscall.Getpgrp()
}

// RunGroup runs cmd in a new process group and returns when the group has no processes. When ctx ends, it sends SIGTERM to
// the group, and SIGKILL after the grace period.
func RunGroup(ctx context.Context, cmd *exec.Cmd, grace time.Duration) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = grace // a process that left the group may keep the standard streams open
	if err := cmd.Start(); err != nil {
		return err
	}
	received := make(chan Deadlines)
	defer context.AfterFunc(ctx, func() { close(received) })()
	never := time.Now().Add(1 << 62)
	v := supervisor{group: cmd.Process.Pid, waits: true, deadlines: Deadlines{Term: never, Grace: grace, Kill: never}}
	return v.run(received, wait(cmd))
}

// Signal sends a signal to every process of a group.
func Signal(group int, sig syscall.Signal) error { return syscall.Kill(-group, sig) }

// Gone reports whether a group has no processes. The caller must first wait for the first process of the group. Gone
// also reaps orphans whose parent is electop, for example if electop is process 1 of a container.
func Gone(group int) bool {
	for {
		if pid, err := syscall.Wait4(-group, nil, syscall.WNOHANG, nil); err != nil || pid <= 0 {
			return errors.Is(syscall.Kill(-group, 0), syscall.ESRCH)
		}
	}
}

// newSession returns attributes that start a process in a new session. The process then receives no signals from the
// terminal, such as ctrl-z.
func newSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// closeOnExec prevents child processes from inheriting a file descriptor.
func closeOnExec(fd int) { syscall.CloseOnExec(fd) }
