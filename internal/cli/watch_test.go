package cli

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// electop returns the path of a program that is electop: the test binary with a variable.
func electop(t *testing.T) string {
	t.Helper()
	t.Setenv(mainEnv, "1")
	return os.Args[0]
}

func TestWatchEndsCleanlyOnSignalsAndAClosedPipe(t *testing.T) {
	w := onMemory(t)
	s := w.session()
	w.acquire("service/web/leader", s, "web-1")
	program := electop(t)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, nil} {
		t.Run(fmt.Sprint(sig), func(t *testing.T) {
			r, out, err := os.Pipe()
			must(t, err)
			cmd := exec.Command(program, "--http-addr", w.Addr, "watch")
			var errOut strings.Builder
			cmd.Stdout, cmd.Stderr = out, &errOut
			must(t, cmd.Start())
			_ = out.Close()
			_, err = r.Read(make([]byte, 1))
			must(t, err)
			if sig == nil {
				_ = r.Close()
				w.Release("service/web/leader", s) // the next event cannot be written
			} else {
				must(t, cmd.Process.Signal(sig))
			}
			if err := cmd.Wait(); err != nil || errOut.Len() > 0 {
				t.Errorf("%v %s", err, errOut.String())
			}
			_ = r.Close()
		})
	}
}

func TestWatchKeepsSignalsIgnored(t *testing.T) {
	w := led(t, 1)
	program := electop(t)
	r, out, err := os.Pipe()
	must(t, err)
	defer r.Close()
	cmd := exec.Command("sh", "-c", `trap '' HUP INT; exec "$0" "$@"`, program, "--http-addr", w.Addr, "watch")
	cmd.Stdout = out
	must(t, cmd.Start())
	_ = out.Close()
	lines := bufio.NewScanner(r)
	lines.Scan()
	for i, sig := range []os.Signal{syscall.SIGHUP, os.Interrupt} {
		must(t, cmd.Process.Signal(sig))
		w.acquire(fmt.Sprintf("service/after%d/leader", i), w.session(), "x")
		if !lines.Scan() || !strings.Contains(lines.Text(), fmt.Sprint("after", i)) {
			t.Errorf("after %v: %q", sig, lines.Text())
		}
	}
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
