package procgroup

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent lets the kernel kill a process when the thread that started it
// ends.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// AdoptOrphans makes this process the parent of its descendants' orphans, so that
// it can reap them even if process 1 does not.
func AdoptOrphans() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
