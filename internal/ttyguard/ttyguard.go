// Package ttyguard runs the dashboard as a child process and restores the
// terminal when the child could not: a goroutine that panicked, a fatal error of
// the Go runtime and SIGKILL leave no chance to do so in the same process.
package ttyguard

import (
	"os"
	"syscall"
)

// childName is argv[0] of the child. It marks the process without an environment
// variable, which the programs that it starts would inherit.
const childName = "electop-dashboard"

// orderly is the last byte that a child writes to standard error, unless it
// crashes.
const orderly = 0

// Files by which a child asks to be stopped and learns that it was continued.
const (
	requestFile = 3
	resumeFile  = 4
)

// maxOutput bounds how much of the child's standard error is kept: a dump of a
// thousand goroutines takes about 1 MB.
const maxOutput = 8 << 20

// Child reports whether this process runs under [Run].
func Child() bool { return os.Args[0] == childName }

// Leave tells the guard that this child ends by itself and has restored the
// terminal. It is the last thing that a child does.
func Leave() { _, _ = os.Stderr.Write([]byte{orderly}) }

// End is how a child ended.
type End struct {
	// Crashed reports that the child ended without [Leave].
	Crashed bool
	// Code is the exit code, 128 + Signal if a signal ended the child.
	Code   int
	Signal syscall.Signal
	// Output is what the child wrote to standard error: after a crash the
	// reason and the stacks.
	Output []byte
}
