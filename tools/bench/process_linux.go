package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// dieWithParent makes the kernel kill a watcher when bench ends.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// cpuTime returns the user and system CPU time of all threads of a process. The resolution is one nanosecond; the
// resolution of /proc/PID/stat is 10 ms.
func cpuTime(pid int) (time.Duration, error) {
	const perProcessSched = 2 // CPUCLOCK_SCHED of clock_getcpuclockid(3)
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|perProcessSched), &ts); err != nil { //nolint:gosec // a pid has 22 bits
		return 0, fmt.Errorf("cannot read the CPU time of process %d: %w", pid, err)
	}
	return time.Duration(ts.Nano()), nil
}

// memory returns the current and the peak resident memory of a process, in bytes.
func memory(pid int) (now, peak int64, err error) {
	text, err := os.ReadFile(procPath(pid, "status"))
	if err != nil {
		return 0, 0, err
	}
	return statusKB(string(text), "VmRSS:") << 10, statusKB(string(text), "VmHWM:") << 10, nil
}

// statusKB returns a field of /proc/PID/status in kilobytes, or 0 if the field is missing.
func statusKB(status, name string) int64 {
	_, after, ok := strings.Cut(status, name)
	if !ok {
		return 0
	}
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	n, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// connections counts the established connections of a process to a port.
func connections(pid, port int) (int, error) {
	text, err := os.ReadFile(procPath(pid, "net/tcp"))
	if err != nil {
		return 0, err
	}
	open, err := establishedTo(string(text), port), error(nil)
	links, err := filepath.Glob(procPath(pid, "fd/*"))
	if err != nil {
		return 0, err
	}
	count := 0
	for _, link := range links {
		target, err := os.Readlink(link)
		if errors.Is(err, os.ErrNotExist) {
			continue // the process has closed the file since Glob listed it
		}
		if err != nil {
			return 0, err
		}
		if inode, ok := strings.CutPrefix(target, "socket:["); ok && open[strings.TrimSuffix(inode, "]")] {
			count++
		}
	}
	return count, nil
}

// establishedTo returns the inodes of the sockets that are connected to a port, from a file in the format of
// /proc/PID/net/tcp.
func establishedTo(table string, port int) map[string]bool {
	const (
		remote, state, inode = 2, 3, 9
		established          = "01"
	)
	open := map[string]bool{}
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) <= inode || fields[state] != established {
			continue
		}
		if strings.HasSuffix(fields[remote], fmt.Sprintf(":%04X", port)) {
			open[fields[inode]] = true
		}
	}
	return open
}

func procPath(pid int, name string) string { return fmt.Sprintf("/proc/%d/%s", pid, name) }
