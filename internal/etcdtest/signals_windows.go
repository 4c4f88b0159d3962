package etcdtest

import "syscall"

// Windows cannot stop a process with a signal.
const stopSignal, continueSignal = syscall.Signal(0), syscall.Signal(0)
