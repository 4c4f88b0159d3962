//go:build !unix

package supervise

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// Supported reports whether this system has process groups.
const Supported = false

// CanSuspend returns false, because this system has no stop signals.
func CanSuspend() bool { return false }

// RunGroup runs cmd until it ends. When ctx ends, only the command itself is killed, not
// the processes that it started.
func RunGroup(ctx context.Context, cmd *exec.Cmd, grace time.Duration) error {
	cmd.WaitDelay = grace
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	return cmd.Wait()
}

// Signal returns [errors.ErrUnsupported] on this system.
func Signal(int, syscall.Signal) error { return errors.ErrUnsupported }

// Gone always returns true on this system.
func Gone(int) bool { return true }

// newSession returns no attributes on this system.
func newSession() *syscall.SysProcAttr { return nil }

// newGroup returns no attributes on this system.
func newGroup() *syscall.SysProcAttr { return nil }

// AdoptOrphans does nothing on this system.
func AdoptOrphans() error { return nil }

// closeOnExec does nothing on this system.
func closeOnExec(int) {}

// groupIn returns 0 on this system.
func groupIn(int) int { return 0 }
