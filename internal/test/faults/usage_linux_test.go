package faults

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// usage contains the resources of a process.
type usage struct {
	rssKB, files, threads int
}

func (u usage) String() string {
	return fmt.Sprintf("%.1f MB, %d files, %d threads", float64(u.rssKB)/1024, u.files, u.threads)
}

// usageOf reads the usage of a process from /proc.
func usageOf(t *testing.T, pid int) usage {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d", pid)
	files, err := os.ReadDir(dir + "/fd")
	must(t, err)
	status, err := os.ReadFile(dir + "/status")
	must(t, err)
	u := usage{files: len(files)}
	for text := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(text, ":")
		fields := strings.Fields(value)
		if len(fields) == 0 {
			continue
		}
		switch n, _ := strconv.Atoi(fields[0]); name {
		case "VmRSS":
			u.rssKB = n
		case "Threads":
			u.threads = n
		}
	}
	return u
}
