//go:build unix

package ttyguard

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// stopTime is how long SIGTTOU may take to stop this process. The kernel ignores
// it where no shell could continue the process group.
const stopTime = 500 * time.Millisecond

// Suspend stops the process group, parent included, and returns when the user has
// continued it. The terminal must be restored.
func Suspend() {
	if !Child() {
		stopGroup()
		return
	}
	// Signals alone would not do: the kernel drops a SIGCONT that was not handled
	// yet when the next SIGTSTP arrives.
	if _, err := syscall.Write(requestFile, []byte{0}); err != nil {
		return
	}
	for {
		if _, err := syscall.Read(resumeFile, make([]byte, 1)); !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// stopGroup stops every process of the group, as ctrl-z does for a program that
// leaves the key to the kernel. It sends SIGTTOU because this process catches
// SIGTSTP: handled after it was continued, it would stop the group once more.
func stopGroup() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	_ = syscall.Kill(0, syscall.SIGTTOU)
	late := time.NewTimer(stopTime)
	defer late.Stop()
	select {
	case <-continued:
	case <-late.C:
	}
}
