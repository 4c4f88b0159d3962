//go:build unix && !linux

package supervise

import "syscall"

// newGroup returns attributes that start a process in a new process group. Only Linux has a parent death signal.
func newGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// AdoptOrphans does nothing: only Linux has subreapers.
func AdoptOrphans() error { return nil }

// groupIn returns 0: only Linux lists all processes in /proc.
func groupIn(int) int { return 0 }
