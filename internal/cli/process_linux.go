package cli

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent has the kernel kill a process when the thread that started it
// ends.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// adoptOrphans makes this process the parent of what its children leave behind,
// so that it can reap them also where process 1 does not.
func adoptOrphans() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
