//go:build unix

package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// awaitLines waits until a file has at least n lines and returns its words.
func awaitLines(t *testing.T, path string, n int) []string {
	t.Helper()
	var text []byte
	eventually(t, fmt.Sprintf("%d lines in %s", n, path), func() bool {
		text, _ = os.ReadFile(path)
		return strings.Count(string(text), "\n") >= n
	})
	return strings.Fields(string(text))
}

// awaitGone waits until processes have ended. A zombie whose parent does not wait
// for it has ended too.
func awaitGone(t *testing.T, pids []string) {
	t.Helper()
	for _, text := range pids {
		pid, err := strconv.Atoi(text)
		must(t, err)
		eventually(t, "end of process "+text, func() bool {
			stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || strings.Contains(string(stat), ") Z ")
		})
	}
}

// stubborn returns a command that writes its process ID to a file, ignores SIGTERM and does not end. So does its child.
func stubborn(file string) string {
	return fmt.Sprintf(`trap '' TERM; sh -c 'echo $$; exec sleep 1000' >> %[1]s & echo $$ >> %[1]s; sleep 1000`, file)
}

func TestExecKillsACommandAfterItsTimeout(t *testing.T) {
	t.Parallel()
	slow(t)
	w := led(t, 2)
	file := filepath.Join(t.TempDir(), "pids")
	watch := w.background("watch", "--exec", stubborn(file), "--exec-timeout", "300ms")
	first := awaitLines(t, file, 2)
	awaitLines(t, file, 4) // the next command starts after this one was killed
	awaitGone(t, first)
	watch.stop().must(exitOK).hasErr("electop: --exec for elected web00: the command did not end within 300ms and was stopped\n")
}

func TestASlowExecCommandDelaysNoEventAndEndsWithWatch(t *testing.T) {
	t.Parallel()
	slow(t)
	w := led(t, 1)
	file := filepath.Join(t.TempDir(), "pids")
	watch := w.background("watch", "--exec", stubborn(file), "--exec-timeout", "0")
	pids := awaitLines(t, file, 2)
	s := w.session()
	for i := range 3 {
		w.acquire(fmt.Sprintf("service/later%d/leader", i), s, "x")
		eventually(t, "event", func() bool { return strings.Contains(watch.out.String(), fmt.Sprint("later", i)) })
	}
	errOut := watch.stop().must(exitOK).errOut
	awaitGone(t, pids)
	has(t, errOut, "electop: --exec was not run for the last 3 events\n")
}

func TestExecRunsForEveryEventInOrder(t *testing.T) {
	const n = 40
	w := led(t, n)
	file := filepath.Join(t.TempDir(), "events")
	events := w.background("watch", "-o", "json", "--exec", `sed 's/.*"election":"\([^"]*\)".*/\1/' >> `+file+`; exit 3`) // the next command runs although this one failed
	var want []string
	for range n {
		want = append(want, events.event()["election"].(string))
	}
	if got := awaitLines(t, file, n); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%v, want %v", got, want)
	}
	events.stop().hasErr("electop: --exec for elected web0", ": exit status 3\n")
}

func TestExecGetsTheEventInVariables(t *testing.T) {
	w := onMemory(t)
	hostile := "$(touch owned) `touch owned`\x00\x1b[2J'\";touch owned\n"
	w.acquire("service/b$(touch owned)"+strings.Repeat("x", 2000)+"/leader", w.session(), hostile)
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("ELECTOP_CAUSE", "of an outer electop")
	vars := filepath.Join(dir, "vars")
	var text []byte
	eventually(t, "event with a node", func() bool { // the node is missing if the session is read too late
		_ = os.Remove(vars)
		watch := w.background("watch", "--exec", `env | sed -n 's/^ELECTOP_//p' | sort > vars.new; mv vars.new vars`)
		awaitFile(t, vars)
		watch.stop().must(exitOK)
		var err error
		if text, err = os.ReadFile(vars); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(text), "NODE=node-1\n")
	})
	has(t, string(text), "DATACENTER=dc1\n", "INITIAL=true\n", "TERM=1\n", "TYPE=elected\n", "$(touch owned)")
	lacks(t, string(text), "\x00", "\x1b", "CAUSE=", strings.Repeat("x", 1000))
	if _, err := os.Stat(filepath.Join(dir, "owned")); err == nil {
		t.Error("the shell interpreted a value")
	}
}
