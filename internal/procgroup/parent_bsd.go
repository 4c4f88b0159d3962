//go:build unix && !linux

package procgroup

import "syscall"

// dieWithParent does nothing: only Linux has a parent death signal.
func dieWithParent(*syscall.SysProcAttr) {}

// AdoptOrphans does nothing: only Linux has subreapers.
func AdoptOrphans() error { return nil }

// OfSession returns no process groups, because only Linux has /proc files with the sessions of processes.
func OfSession(int) []int { return nil }
