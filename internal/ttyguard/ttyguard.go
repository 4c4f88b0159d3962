// Package ttyguard runs the dashboard as a child process. It restores the terminal if the child cannot do so, for
// example after a panic in any goroutine, a fatal error of the Go runtime, or SIGKILL.
package ttyguard

import (
	"os"
	"syscall"
)

// childName is argv[0] of the child. An environment variable cannot mark the child, because programs that the child
// starts would inherit it.
const childName = "electop-dashboard"

// orderly is the last byte that a child writes to standard error unless it crashes.
const orderly = 0

// File descriptors of the child. The child writes to requestFile to request a stop. A read from resumeFile returns
// after the shell has continued the process group.
const (
	requestFile = 3
	resumeFile  = 4
)

// maxOutput is the maximum size of the child's standard error that is kept, in bytes. A dump of 1,000 goroutines
// takes about 1 MB.
const maxOutput = 8 << 20

// Child reports whether [Run] started this process.
func Child() bool { return os.Args[0] == childName }

// Leave marks an orderly end of the child after the child has restored the terminal. The child must not write to
// standard error afterwards.
func Leave() { _, _ = os.Stderr.Write([]byte{orderly}) }

// End describes how a child ended.
type End struct {
	// Crashed is set if the child ended without calling [Leave], or if a signal ended it.
	Crashed bool
	// Code is the exit code. If a signal ended the child, it is 128 + Signal.
	Code   int
	Signal syscall.Signal
	// Output is the standard error of the child. After a crash, it contains the reason and the stacks.
	Output []byte
}
