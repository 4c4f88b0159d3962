//go:build unix

package ttyguard

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// stopTimeout bounds the wait for SIGTTOU to stop this process. The kernel ignores it
// if no shell could continue the process group.
const stopTimeout = 500 * time.Millisecond

// Suspend stops the process group, including the parent, and returns when it is
// continued. The terminal must already be restored.
func Suspend() {
	if !Child() {
		stopGroup()
		return
	}
	// Signals are not sufficient: the kernel drops a pending SIGCONT when the next
	// SIGTSTP arrives.
	if _, err := syscall.Write(requestFile, []byte{0}); err != nil {
		return
	}
	for {
		if _, err := syscall.Read(resumeFile, make([]byte, 1)); !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// stopGroup stops every process of the group, as the kernel does for ctrl-z. It sends
// SIGTTOU because this process catches SIGTSTP: handled after the continue, SIGTSTP
// would stop the group again.
func stopGroup() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	_ = syscall.Kill(0, syscall.SIGTTOU)
	timeout := time.NewTimer(stopTimeout)
	defer timeout.Stop()
	select {
	case <-continued:
	case <-timeout.C:
	}
}
