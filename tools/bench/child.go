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
)

const (
	// childGrace is how long a watcher may take to end when it is asked to.
	childGrace = 5 * time.Second
	lineLimit  = 1 << 20
	errorTail  = 2 << 10
)

// child is a watcher's process.
type child struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	started time.Time
	cancel  context.CancelFunc
	errors  tailWriter
	reading sync.WaitGroup
}

// startChild starts a watcher and tells the ledger what its lines say.
func startChild(ctx context.Context, command []string, read func([]byte) sight, l *ledger) (*child, error) {
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
	c.reading.Go(func() { readSights(stdout, read, l) })
	return c, nil
}

// readSights ends with its input, which ends with the process.
func readSights(in io.Reader, read func([]byte) sight, l *ledger) {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(make([]byte, 64<<10), lineLimit)
	for scanner.Scan() {
		at := time.Now()
		if s := read(scanner.Bytes()); s != (sight{}) {
			l.saw(s, at)
		}
	}
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// say writes a line to the process; one that does not read loses nothing.
func (c *child) say(line string) error {
	_, err := io.WriteString(c.stdin, line+"\n")
	return err
}

// end asks the process to end, kills it if it does not, and waits for it.
func (c *child) end() {
	c.cancel()
	_ = c.stdin.Close()
	c.reading.Wait()
	_ = c.cmd.Wait() // it was told to end: how it did so does not matter
}

// trouble is what the process wrote to its standard error.
func (c *child) trouble() error {
	if text := strings.TrimSpace(c.errors.String()); text != "" {
		return fmt.Errorf("it says: %s", text)
	}
	return nil
}

// tailWriter keeps the end of what is written to it.
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
