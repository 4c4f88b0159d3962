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

// pollInterval is the time between two polls for remaining processes.
const pollInterval = 20 * time.Millisecond

// Run runs cmd in a new process group and returns when the group has no processes. When ctx ends, it sends SIGTERM to
// the group, and SIGKILL after the grace period.
func Run(ctx context.Context, cmd *exec.Cmd, grace time.Duration) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = grace // a process that left the group may keep the standard streams open
	if err := cmd.Start(); err != nil {
		return err
	}
	g := &group{id: cmd.Process.Pid, exited: make(chan error, 1)}
	go func() { g.exited <- cmd.Wait() }()
	if g.await(ctx) {
		return g.err
	}
	_ = Signal(g.id, syscall.SIGTERM) // ignore the error: the group may have ended
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
	exited chan error // receives the result of the command; nil after that
	err    error
}

func (g *group) awaitFor(timeout time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return g.await(ctx)
}

// await waits until the group has no processes. It returns false if ctx ends first.
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

// Gone reports whether a group has no processes. The caller must first wait for the first process of the group. Gone
// also reaps orphans whose parent is electop, for example if electop is process 1 of a container.
func Gone(group int) bool {
	for {
		if pid, err := syscall.Wait4(-group, nil, syscall.WNOHANG, nil); err != nil || pid <= 0 {
			return errors.Is(syscall.Kill(-group, 0), syscall.ESRCH)
		}
	}
}

// NewSession returns attributes that start a process in a new session. The process then receives no signals from the
// terminal, such as ctrl-z.
func NewSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// NewGroup returns attributes that start a process in a new process group. On Linux, the kernel kills the process
// when the thread that started it ends.
func NewGroup() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(attr)
	return attr
}

// CloseOnExec prevents child processes from inheriting a file descriptor.
func CloseOnExec(fd int) { syscall.CloseOnExec(fd) }
