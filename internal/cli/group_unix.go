//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a command that reads no terminal a process group, so that what
// it started in turn ends with it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}
