package procgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent makes the kernel kill the process when the thread that started it ends.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// AdoptOrphans makes this process the parent of its orphaned descendants. It can then reap them even if process 1
// does not reap them.
func AdoptOrphans() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// OfSession returns the process groups of a session. On systems other than Linux, it returns no process groups.
func OfSession(session int) (groups []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // skip a process that has ended
		}
		// proc_pid_stat(5): PID (name) state parent group session …; the name may contain any character.
		rest := string(text[strings.LastIndexByte(string(text), ')')+1:])
		var state string
		var parent, group, of int
		if _, err := fmt.Sscan(rest, &state, &parent, &group, &of); err == nil && of == session {
			groups = append(groups, group)
		}
	}
	return groups
}
