package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"electop/tools/bench/internal/watch"
)

const (
	// childGrace is the time from SIGINT to SIGKILL.
	childGrace = 5 * time.Second
	lineLimit  = 1 << 20
	errorTail  = 2 << 10
)

// child is the process of a watcher.
type child struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	started time.Time
	cancel  context.CancelFunc
	errors  tailWriter
	reading sync.WaitGroup
}

// startChild starts a watcher and records its lines.
func startChild(ctx context.Context, command []string, read func([]byte) watch.Line, l *timeline) (*child, error) {
	ctx, cancel := context.WithCancel(ctx)
	c := &child{cmd: exec.CommandContext(ctx, command[0], command[1:]...), cancel: cancel}
	c.cmd.SysProcAttr = dieWithParent()
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(syscall.SIGINT) }
	c.cmd.WaitDelay = childGrace
	c.cmd.Stderr = &c.errors
	stdout, err := c.cmd.StdoutPipe()
	if err == nil {
		c.stdin, err = c.cmd.StdinPipe()
	}
	if err == nil {
		c.started = time.Now()
		err = c.cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	c.reading.Go(func() { readLines(stdout, read, l) })
	return c, nil
}

// readLines records lines until the process ends, which closes the input.
func readLines(in io.Reader, read func([]byte) watch.Line, l *timeline) {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(make([]byte, 64<<10), lineLimit)
	for scanner.Scan() {
		at := time.Now()
		if s := read(scanner.Bytes()); s != (watch.Line{}) {
			l.recordLine(s, at)
		}
	}
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// writeLine writes a line to the standard input of the process.
func (c *child) writeLine(line string) error {
	_, err := io.WriteString(c.stdin, line+"\n")
	return err
}

// end stops the process and waits for it.
func (c *child) end() {
	c.cancel()
	_ = c.stdin.Close()
	c.reading.Wait()
	_ = c.cmd.Wait() // ignore the exit status, because a signal ended the process
}

// stderr returns an error with the text that the process wrote to standard error, or nil if there is no text.
func (c *child) stderr() error {
	if text := strings.TrimSpace(c.errors.String()); text != "" {
		return fmt.Errorf("standard error: %s", text)
	}
	return nil
}

// tailWriter keeps the last errorTail bytes.
type tailWriter struct {
	mu   sync.Mutex
	text []byte
}

func (t *tailWriter) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if extra := len(t.text) - errorTail; extra > 0 {
		t.text = append([]byte(nil), t.text[extra:]...)
	}
	return len(p), nil
}

func (t *tailWriter) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
