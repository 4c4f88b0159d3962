package faults

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"electop/election"
)

// line is one event of `electop watch -o json` and the time at which it was read.
type line struct {
	election.Event
	read time.Time
}

// watching is a running `electop watch -o json`.
type watching struct {
	t   *testing.T
	cmd *exec.Cmd

	mu     sync.Mutex
	lines  []line
	more   chan struct{} // closed when a line arrives
	broken error
}

// watch starts electop and collects its events.
func watch(t *testing.T, env []string, args ...string) *watching {
	t.Helper()
	w := &watching{t: t, more: make(chan struct{})}
	w.cmd = exec.Command(program, append([]string{"watch", "-o", "json"}, args...)...)
	w.cmd.Env = append(os.Environ(), env...)
	// watch gets its own process group: if a process of the test's group stopped, the kernel would send SIGHUP to
	// that group when the shell that started the test ends.
	w.cmd.SysProcAttr = ownGroup()
	errors, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	must(t, err)
	w.cmd.Stderr = errors
	out, err := w.cmd.StdoutPipe()
	must(t, err)
	must(t, w.cmd.Start())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.collect(bufio.NewScanner(out))
	}()
	t.Cleanup(func() {
		_ = w.cmd.Process.Kill()
		<-done
		_ = w.cmd.Wait()
		_ = errors.Close()
		if text, err := os.ReadFile(errors.Name()); err == nil && len(text) > 0 {
			t.Logf("standard error of watch: %s", text)
		}
	})
	return w
}

func (w *watching) collect(scanner *bufio.Scanner) {
	for scanner.Scan() {
		l := line{read: time.Now()}
		err := json.Unmarshal(scanner.Bytes(), &l.Event)
		w.mu.Lock()
		if err != nil {
			w.broken = err
		}
		w.lines = append(w.lines, l)
		close(w.more)
		w.more = make(chan struct{})
		w.mu.Unlock()
	}
}

func (w *watching) pid() int { return w.cmd.Process.Pid }

// all returns the lines that were read so far.
func (w *watching) all() []line {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken != nil {
		w.t.Errorf("a line of watch is not valid JSON: %v", w.broken)
	}
	return slices.Clone(w.lines)
}

// until waits for a line at index n or later. It returns the line and the next index.
func (w *watching) until(n int, what string, is func(line) bool) (line, int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		w.mu.Lock()
		lines, more := w.lines, w.more
		w.mu.Unlock()
		for ; n < len(lines); n++ {
			if is(lines[n]) {
				return lines[n], n + 1
			}
		}
		select {
		case <-more:
		case <-ctx.Done():
			w.t.Fatalf("timeout while waiting for %s (%v); latest lines: %s", what, patience, latest(lines))
		}
	}
}

// latest returns the last few lines for a failure message.
func latest(lines []line) string {
	var text []byte
	for _, l := range lines[max(0, len(lines)-12):] {
		one, err := l.MarshalJSON()
		if err != nil {
			return err.Error()
		}
		text = append(append(text, '\n'), one...)
	}
	return string(text)
}
