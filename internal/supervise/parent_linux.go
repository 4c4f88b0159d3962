package supervise

import (
	"errors"
	"path/filepath"
	"strconv"
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

// groupIn returns the process group of the program of a supervisor, or 0 if it has no process. The supervisor begins a session,
// whose ID is its own. Its end must not have been waited for, so that no other process has this ID.
func groupIn(session int) int {
	processes, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
	for _, name := range processes {
		pid, _ := strconv.Atoi(filepath.Base(name))
		own, err := unix.Getsid(pid)
		group, failed := unix.Getpgid(pid)
		if errors.Join(err, failed) == nil && own == session && group != session {
			return group
		}
	}
	return 0
}
