//go:build unix

package supervise_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"electop/internal/supervise"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == supervise.Command { // a supervisor that does not tell the process group of the program
		syscall.CloseOnExec(3)
		syscall.CloseOnExec(4)
		cmd := exec.Command(os.Args[2], os.Args[3:]...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		panic(cmd.Run())
	}
	if err := supervise.AdoptOrphans(); err != nil { // as the parent, the test can reap killed grandchildren
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

func TestRunWaitsForBackgroundProcesses(t *testing.T) {
	r, w := io.Pipe()
	cmd := exec.Command("sh", "-c", "echo shell; (sleep 0.2; echo background) & exit 3")
	cmd.Stdout = w
	lines := make(chan string, 2)
	go func() {
		for s := bufio.NewScanner(r); s.Scan(); {
			lines <- s.Text()
		}
		close(lines)
	}()
	err := supervise.RunGroup(t.Context(), cmd, time.Minute)
	_ = w.Close()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Error(err)
	}
	if first, second := <-lines, <-lines; first != "shell" || second != "background" {
		t.Errorf("%q, %q", first, second)
	}
}

func TestRunKillsAGroupThatIgnoresSIGTERM(t *testing.T) {
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.Command("sh", "-c", "trap '' TERM; sleep 1000 & echo $$; wait; sleep 1000")
	cmd.Stdout = w
	group := make(chan int, 1)
	go func() {
		var pid int
		_, _ = fmt.Fscan(r, &pid)
		group <- pid
		cancel()
		_, _ = io.Copy(io.Discard, r)
	}()
	if err := supervise.RunGroup(ctx, cmd, 50*time.Millisecond); err == nil {
		t.Error("a killed command succeeded")
	}
	_ = w.Close()
	if pid := <-group; !supervise.Gone(pid) || supervise.Signal(pid, syscall.SIGTERM) == nil {
		t.Errorf("process group %d still has processes", pid)
	}
}
