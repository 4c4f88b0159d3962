//go:build unix

package procgroup

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// Supported reports whether this system has process groups.
const Supported = true

// pollInterval is the time between two checks for remaining processes.
const pollInterval = 20 * time.Millisecond

// Run runs cmd in a new process group and returns when that group has no process
// left. When ctx ends, the group gets SIGTERM, and after the grace period SIGKILL.
func Run(ctx context.Context, cmd *exec.Cmd, grace time.Duration) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = grace // a process that left the group may keep standard input open
	if err := cmd.Start(); err != nil {
		return err
	}
	g := &group{id: cmd.Process.Pid, exited: make(chan error, 1)}
	go func() { g.exited <- cmd.Wait() }()
	if g.await(ctx) {
		return g.err
	}
	_ = Signal(g.id, syscall.SIGTERM) // fails if the group has ended
	if g.awaitFor(grace) {
		return g.err
	}
	_ = Signal(g.id, syscall.SIGKILL)
	g.awaitFor(VanishTimeout)
	return g.err
}

// group is a running command and the processes that it started.
type group struct {
	id     int
	exited chan error // the result of the command, nil once it was received
	err    error
}

func (g *group) awaitFor(timeout time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return g.await(ctx)
}

// await waits until the group has no process left. It returns false if ctx ends
// first.
func (g *group) await(ctx context.Context) bool {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if g.exited == nil && Gone(g.id) {
			return true
		}
		select {
		case g.err = <-g.exited:
			g.exited = nil
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
}

// Signal sends a signal to every process of a group.
func Signal(group int, sig syscall.Signal) error { return syscall.Kill(-group, sig) }

// Gone reports whether a group has no process left. Call it after waiting for the
// group's leader. It reaps children: as process 1 of a container, electop inherits
// orphans.
func Gone(group int) bool {
	for {
		if pid, err := syscall.Wait4(-group, nil, syscall.WNOHANG, nil); err != nil || pid <= 0 {
			return errors.Is(syscall.Kill(-group, 0), syscall.ESRCH)
		}
	}
}

// NewSession starts a process in a new session. The terminal's signals, such as
// ctrl-z, do not reach it.
func NewSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// NewGroup starts a process in a new group. On Linux the kernel kills the process
// when the thread that started it ends.
func NewGroup() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(attr)
	return attr
}

// CloseOnExec keeps a file descriptor from being inherited by child processes.
func CloseOnExec(fd int) { syscall.CloseOnExec(fd) }
