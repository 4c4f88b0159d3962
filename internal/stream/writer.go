// Package stream keeps a command from blocking on its standard streams: writes end
// with the command, and a reader that closes its end is noticed.
package stream

import (
	"bytes"
	"context"
	"io"
	"sync/atomic"
	"time"
)

// writeGrace is how long a write may take after the context has ended, so that a process that still reads gets
// complete lines.
const writeGrace = 250 * time.Millisecond

type writer struct {
	ctx       context.Context
	w         io.Writer
	abandoned atomic.Bool
}

// NewWriter returns a writer whose writes fail shortly after ctx ends: a write to a
// pipe that no process reads blocks, and no signal interrupts it.
func NewWriter(ctx context.Context, w io.Writer) io.Writer { return &writer{ctx: ctx, w: w} }

// Write fails at once after a write was abandoned.
func (s *writer) Write(p []byte) (int, error) {
	if s.abandoned.Load() {
		return 0, context.Canceled
	}
	type result struct {
		n   int
		err error
	}
	written := make(chan result, 1)
	text := bytes.Clone(p) // the caller may reuse p after an abandoned write
	go func() {
		n, err := s.w.Write(text)
		written <- result{n, err}
	}()
	select {
	case r := <-written:
		return r.n, r.err
	case <-s.ctx.Done():
	}
	timeout := time.NewTimer(writeGrace)
	defer timeout.Stop()
	select {
	case r := <-written:
		return r.n, r.err
	case <-timeout.C:
		s.abandoned.Store(true)
		return 0, context.Canceled
	}
}

// Unwrap returns the stream below a writer of [NewWriter], and any other unchanged.
// A child process needs the file itself.
func Unwrap(w io.Writer) io.Writer {
	if s, ok := w.(*writer); ok {
		return s.w
	}
	return w
}
