// Package logfile appends to a log file without blocking the program: the file may
// be a FIFO without a reader, or on a network file system that hangs.
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
	// maxPending bounds the text that waits for the file: room for one line for
	// each of 10,000 elections, which are logged together at the start.
	maxPending = 4 << 20
	// openTime is how long Open waits to report an error.
	openTime = 500 * time.Millisecond
	// closeTime is how long Close waits. A write to a pipe has half of it.
	closeTime = 500 * time.Millisecond
)

var (
	errBlocked = errors.New("it does not accept writes")
	errFull    = errors.New("it accepted writes too slowly")
)

// File is a log file. One goroutine opens it, writes and closes it.
type File struct {
	done chan struct{}

	mu      sync.Mutex
	filled  *sync.Cond
	file    *os.File // nil until it is open
	pending []byte   // whole lines that wait to be written
	writing int      // lines that are being written
	lost    int      // lines that were dropped since the last notice in the file
	noting  int      // lines that the notice being written tells of
	err     error    // why lines were lost
	ended   error    // of closing the file
	closed  bool
}

// Open opens the file for appending and creates it if necessary. A file that blocks
// is no error: lines wait for it until there are too many.
func Open(path string) (*File, error) {
	f := &File{done: make(chan struct{})}
	f.filled = sync.NewCond(&f.mu)
	opened := make(chan error, 1)
	go f.run(path, opened)
	late := time.NewTimer(openTime)
	defer late.Stop()
	select {
	case err := <-opened:
		if err != nil {
			return nil, err
		}
	case <-late.C:
	}
	return f, nil
}

// Append appends a text to a file, within a bounded time.
func Append(path, text string) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	_, _ = f.Write([]byte(text)) // Close reports what was lost
	return f.Close()
}

// Write takes whole lines. It never blocks and never fails: lines that do not fit are
// dropped, and the file tells their number as soon as it accepts writes again.
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

// Close writes what is pending, within a bounded time. The error says how many
// lines the file lacks.
func (f *File) Close() error {
	f.mu.Lock()
	f.closed = true
	f.filled.Signal()
	f.limit()
	f.mu.Unlock()
	late := time.NewTimer(closeTime)
	defer late.Stop()
	select {
	case <-f.done:
	case <-late.C:
	}
	return f.missing()
}

// limit bounds writes to a pipe when the file is to be closed. Other files have no
// deadlines. The mutex is held.
func (f *File) limit() {
	if f.closed && f.file != nil {
		_ = f.file.SetWriteDeadline(time.Now().Add(closeTime / 2))
	}
}

// missing is an error if the file lacks lines.
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
	return fmt.Errorf("the log lacks %s: %w", election.Plural(uint64(lost), "line"), err) //nolint:gosec // not negative
}

// run writes until the file is closed and nothing is pending.
func (f *File) run(path string, opened chan<- error) {
	defer close(f.done)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	f.mu.Lock()
	f.file = file
	if err != nil {
		f.err, f.closed = err, true
	}
	f.limit()
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

// next waits for lines and takes all of them, and a notice of those that were lost.
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

// wrote counts the lines that could not be written.
func (f *File) wrote(rest []byte, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.lost, f.err = f.lost+min(f.writing, count(rest))+f.noting, err
	}
	f.writing, f.noting = 0, 0
}

func count(lines []byte) int { return bytes.Count(lines, []byte{'\n'}) }
