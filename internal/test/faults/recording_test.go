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
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
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
	if err := r.cmd.Process.Kill(); err != nil {
		r.t.Fatal(err)
	}
	<-r.done
	_ = r.cmd.Wait()
}

// stop ends the process with SIGTERM, like systemd, and expects exit code 0.
func (r *recording) stop() {
	r.t.Helper()
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		r.t.Fatal(err)
	}
	<-r.done
	if err := r.cmd.Wait(); err != nil {
		r.t.Fatal("record:", err)
	}
}

// recordedTerm is a line of `electop history --terms -o json`.
type recordedTerm struct {
	Key         string    `json:"key"`
	Session     string    `json:"session"`
	Leader      string    `json:"leader"`
	CreateIndex uint64    `json:"create_index"`
	Term        uint64    `json:"term"`
	From        time.Time `json:"from"`
	FromKnown   bool      `json:"from_known"`
	To          time.Time `json:"to"`
	SeenUntil   time.Time `json:"seen_until"`
	Vacancy     *float64  `json:"vacancy_seconds"`
	Cause       string    `json:"cause"`
}

func recordedTerms(t *testing.T, file string) []recordedTerm {
	t.Helper()
	return historyLines[recordedTerm](t, file, "--terms")
}

// historyLines returns the output of `electop history -o json` for the last week.
func historyLines[T any](t *testing.T, file string, args ...string) (all []T) {
	t.Helper()
	cmd := exec.Command(program, append([]string{"history", "--history", file, "--since", "7d", "-o", "json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for text := range bytes.Lines(out) {
		var v T
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}
