//go:build !unix

package cli

import (
	"errors"
	"syscall"
)

// supervisable is false without groups of processes: electop could not make sure
// that a program ends.
const supervisable = false

func sessionOfItsOwn() *syscall.SysProcAttr { return nil }

func groupOfItsOwn() *syscall.SysProcAttr { return nil }

func signalGroup(int, syscall.Signal) error { return errors.ErrUnsupported }

func groupGone(int) bool { return true }

func adoptOrphans() error { return nil }

func closeOnExec(int) {}
