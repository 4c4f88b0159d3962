//go:build unix && !linux

package cli

import "syscall"

// dieWithParent, adoptOrphans and reap do nothing: only Linux offers the first
// two, and process 1 reaps.
func dieWithParent(*syscall.SysProcAttr) {}

func adoptOrphans() error { return nil }

func reap(int) {}
