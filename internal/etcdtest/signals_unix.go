//go:build !windows

package etcdtest

import "syscall"

const stopSignal, continueSignal = syscall.SIGSTOP, syscall.SIGCONT
