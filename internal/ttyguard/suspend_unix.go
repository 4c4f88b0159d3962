//go:build unix

package ttyguard

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// stopTimeout is how long Suspend waits until SIGTTOU has stopped this process. The kernel ignores the signal if there
// is no shell that can continue the process group.
const stopTimeout = 500 * time.Millisecond

// Suspend stops the process group, including the parent, and returns when the shell continues it. The caller must
// have restored the terminal.
func Suspend() {
	if !Child() {
		stopGroup()
		return
	}
	// SIGCONT is not sufficient: the kernel drops a pending SIGCONT when the next SIGTSTP arrives.
	if _, err := syscall.Write(requestFile, []byte{0}); err != nil {
		return
	}
	for {
		if _, err := syscall.Read(resumeFile, make([]byte, 1)); !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// stopGroup stops every process of the group, like the kernel after ctrl-z. It sends SIGTTOU instead of SIGTSTP,
// because this process handles SIGTSTP and would stop the group again after the shell has continued it.
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

// Shield prevents the programs that the child runs from inheriting the child's file descriptors.
func Shield() {
	syscall.CloseOnExec(requestFile)
	syscall.CloseOnExec(resumeFile)
}
