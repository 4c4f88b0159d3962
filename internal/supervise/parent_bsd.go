//go:build unix && !linux

package supervise

import "syscall"

// dieWithParent does nothing: only Linux has a parent death signal.
func dieWithParent(*syscall.SysProcAttr) {}

// AdoptOrphans does nothing: only Linux has subreapers.
func AdoptOrphans() error { return nil }
