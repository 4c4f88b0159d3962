package supervise

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// newGroup returns attributes that start a process in a new process group. The kernel kills the process when the thread
// that started it ends.
func newGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// AdoptOrphans makes this process the parent of its orphaned descendants. It can then reap them even if process 1
// does not reap them.
func AdoptOrphans() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
