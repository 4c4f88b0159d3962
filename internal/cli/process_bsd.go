//go:build unix && !linux

package cli

import "syscall"

// dieWithParent and adoptOrphans do nothing: only Linux offers this.
func dieWithParent(*syscall.SysProcAttr) {}

func adoptOrphans() error { return nil }
