// Package logfile appends to a log file without blocking the program, even if the file is a FIFO without a reader or
// the network file system does not respond.
package logfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"electop/election"
)

const (
	// maxPending is the maximum size of the queue in bytes. When electop starts, it logs one line per election, up to
	// 10,000 lines.
	maxPending = 4 << 20
	// openTimeout is how long Open waits for an error from the file system.
	openTimeout = 500 * time.Millisecond
	// closeTimeout is the timeout of Close. A write to a pipe may take half of this time.
	closeTimeout = 500 * time.Millisecond
)

var (
	errBlocked = errors.New("the file does not accept writes")
	errFull    = errors.New("the file accepted writes too slowly")
)

// File is a log file. One goroutine opens, writes and closes it.
type File struct {
	done chan struct{}

	mu      sync.Mutex
	filled  *sync.Cond
	file    *os.File // nil until the file is open
	pending []byte   // queued lines
	writing int      // number of lines that are being written
	lost    int      // number of lines dropped since the last notice in the file
	noting  int      // number of lines in the notice that is being written
	err     error    // the reason for dropped lines
	ended   error    // the error from closing the file
	closed  bool
}

// Open opens the file for appending and creates it if necessary. If the file cannot be opened within openTimeout,
// Open returns no error, and Write queues the lines.
func Open(path string) (*File, error) {
	f := &File{done: make(chan struct{})}
	f.filled = sync.NewCond(&f.mu)
	opened := make(chan error, 1)
	go f.run(path, opened)
	timeout := time.NewTimer(openTimeout)
	defer timeout.Stop()
	select {
	case err := <-opened:
		if err != nil {
			return nil, err
		}
	case <-timeout.C:
	}
	return f, nil
}

// Append appends text to a file. It returns after at most one second.
func Append(path, text string) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	_, _ = f.Write([]byte(text)) // ignore the error: Close returns an error if lines were dropped
	return f.Close()
}

// Write queues whole lines. It never blocks and never fails. If the queue is full, it drops the lines. Their number
// is logged when the file accepts writes again.
func (f *File) Write(lines []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	full := len(f.pending) > 0 && len(f.pending)+len(lines) > maxPending
	switch {
	case f.closed:
		f.lost += count(lines)
	case full:
		f.lost, f.err = f.lost+count(lines), errFull
	default:
		f.pending = append(f.pending, lines...)
		f.filled.Signal()
	}
	return len(lines), nil
}

// Close writes the queued lines and returns after at most half a second. The error contains the number of lines that
// were not written.
func (f *File) Close() error {
	f.mu.Lock()
	f.closed = true
	f.filled.Signal()
	f.setDeadline()
	f.mu.Unlock()
	timeout := time.NewTimer(closeTimeout)
	defer timeout.Stop()
	select {
	case <-f.done:
	case <-timeout.C:
	}
	return f.missing()
}

// setDeadline limits writes to a pipe after Close; other files do not support deadlines. The caller holds the mutex.
func (f *File) setDeadline() {
	if f.closed && f.file != nil {
		_ = f.file.SetWriteDeadline(time.Now().Add(closeTimeout / 2))
	}
}

// missing returns an error if lines were not written.
func (f *File) missing() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	lost, err := f.lost+f.noting+f.writing+count(f.pending), f.err
	switch {
	case lost == 0:
		return f.ended
	case err == nil || errors.Is(err, os.ErrDeadlineExceeded):
		err = errBlocked
	}
	return fmt.Errorf("%s not written to the log: %w", election.Plural(uint64(lost), "line"), err) //nolint:gosec // not negative
}

// run writes until the file is closed and the queue is empty.
func (f *File) run(path string, opened chan<- error) {
	defer close(f.done)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	f.mu.Lock()
	f.file = file
	if err != nil {
		f.err, f.closed = err, true
	}
	f.setDeadline()
	f.mu.Unlock()
	opened <- err
	if err != nil {
		return
	}
	for text, ok := f.next(); ok; text, ok = f.next() {
		n, err := file.Write(text)
		f.wrote(text[n:], err)
	}
	err = file.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = err
}

// next waits for lines and returns all queued lines, with a notice about dropped lines.
func (f *File) next() (text []byte, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.pending) == 0 && !f.closed {
		f.filled.Wait()
	}
	if len(f.pending) == 0 {
		return nil, false
	}
	text, f.pending, f.writing = f.pending, nil, count(f.pending)
	if f.lost > 0 && f.err != nil {
		text = fmt.Appendf(text, "time=%s level=WARN msg=\"log lines dropped\" count=%d reason=%q\n",
			time.Now().Format("2006-01-02T15:04:05.000Z07:00"), f.lost, f.err)
		f.noting, f.lost, f.err = f.lost, 0, nil
	}
	return text, true
}

// wrote counts the lines of a failed write as dropped.
func (f *File) wrote(rest []byte, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.lost, f.err = f.lost+min(f.writing, count(rest))+f.noting, err
	}
	f.writing, f.noting = 0, 0
}

func count(lines []byte) int { return bytes.Count(lines, []byte{'\n'}) }
