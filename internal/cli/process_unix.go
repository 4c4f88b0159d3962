//go:build unix

package cli

import (
	"errors"
	"syscall"
)

// supervisable reports that a whole group of processes can be stopped here.
const supervisable = true

// sessionOfItsOwn keeps a terminal's signals away from a process: ctrl-z must
// not stop a supervisor together with electop.
func sessionOfItsOwn() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// groupOfItsOwn gives a process a group, so that what it starts ends with it.
func groupOfItsOwn() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(attr)
	return attr
}

// signalGroup sends a signal to every process of a group.
func signalGroup(group int, sig syscall.Signal) error { return syscall.Kill(-group, sig) }

// groupGone reports that no process of a group is left, once its leader was waited
// for. It reaps the orphans that this process adopted.
func groupGone(group int) bool {
	for {
		if pid, err := syscall.Wait4(-group, nil, syscall.WNOHANG, nil); err != nil || pid <= 0 {
			return errors.Is(syscall.Kill(-group, 0), syscall.ESRCH)
		}
	}
}

func closeOnExec(fd int) { syscall.CloseOnExec(fd) }
