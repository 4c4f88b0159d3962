//go:build unix

package cli

import "syscall"

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

func closeOnExec(fd int) { syscall.CloseOnExec(fd) }
