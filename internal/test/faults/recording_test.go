package faults

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// recording is a running `electop record`.
type recording struct {
	t    *testing.T
	cmd  *exec.Cmd
	done chan struct{} // closed when its standard error ends
}

// record starts `electop record` and waits until it observes Consul.
func record(t *testing.T, file string, args ...string) *recording {
	t.Helper()
	r := &recording{t: t, done: make(chan struct{})}
	r.cmd = exec.Command(program, append([]string{"record", "--history", file}, args...)...)
	stderr, err := r.cmd.StderrPipe()
	must(t, err)
	must(t, r.cmd.Start())
	lines := make(chan string, 100)
	go func() {
		defer close(r.done)
		for scanner := bufio.NewScanner(stderr); scanner.Scan(); {
			lines <- scanner.Text()
		}
		close(lines)
	}()
	t.Cleanup(func() {
		if r.cmd.ProcessState == nil {
			r.kill()
		}
	})
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		select {
		case line := <-lines:
			switch {
			case strings.HasPrefix(line, "electop: recording "):
				return r
			case !strings.Contains(line, " stores the events; "): // of a killed recorder, until its lease ends
				t.Fatalf("record: %q", line)
			}
		case <-limit.C:
			t.Fatal("electop record did not start in time")
		}
	}
}

// kill ends the process with SIGKILL.
func (r *recording) kill() {
	r.t.Helper()
	must(r.t, r.cmd.Process.Kill())
	<-r.done
	_ = r.cmd.Wait()
}

// stop ends the process with SIGTERM, like systemd, and expects exit code 0.
func (r *recording) stop() {
	r.t.Helper()
	must(r.t, r.cmd.Process.Signal(syscall.SIGTERM))
	<-r.done
	if err := r.cmd.Wait(); err != nil {
		r.t.Fatal("record:", err)
	}
}

// historyLines returns the output of `electop history -o json` for the last week.
func historyLines[T any](t *testing.T, file string, args ...string) (all []T) {
	t.Helper()
	cmd := exec.Command(program, append([]string{"history", "--history", file, "--since", "7d", "-o", "json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	must(t, err)
	for text := range bytes.Lines(out) {
		var v T
		must(t, json.Unmarshal(text, &v))
		all = append(all, v)
	}
	return all
}
