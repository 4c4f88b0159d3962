// Package ttyguard runs the dashboard as a child process and restores the terminal if
// the child cannot: after a panic in any goroutine, a fatal error of the Go runtime or
// SIGKILL.
package ttyguard

import (
	"os"
	"syscall"
)

// childName is argv[0] of the child. An environment variable would be inherited by
// programs that the child starts.
const childName = "electop-dashboard"

// orderly is the last byte that a child writes to standard error unless it crashes.
const orderly = 0

// File descriptors on which a child requests a stop and waits to be continued.
const (
	requestFile = 3
	resumeFile  = 4
)

// maxOutput bounds the child's standard error that is kept, in bytes. A dump of 1,000
// goroutines takes about 1 MB.
const maxOutput = 8 << 20

// Child reports whether [Run] started this process.
func Child() bool { return os.Args[0] == childName }

// Leave marks an orderly end of the child, which has restored the terminal. The child
// must write nothing afterwards.
func Leave() { _, _ = os.Stderr.Write([]byte{orderly}) }

// End describes how a child ended.
type End struct {
	// Crashed reports whether the child ended without [Leave].
	Crashed bool
	// Code is the exit code, 128 + Signal if a signal ended the child.
	Code   int
	Signal syscall.Signal
	// Output is the standard error of the child: after a crash, the reason and the
	// stacks.
	Output []byte
}
