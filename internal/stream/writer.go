// Package stream prevents a command from blocking on its standard streams: pending writes fail when the command ends,
// and the command detects that a reader has closed its end.
package stream

import (
	"bytes"
	"context"
	"io"
	"sync/atomic"
	"time"
)

// writeGrace is how long a write may take after the context has ended. Within this time, a slow reader can still
// receive complete lines.
const writeGrace = 250 * time.Millisecond

type writer struct {
	ctx       context.Context
	w         io.Writer
	abandoned atomic.Bool
}

// NewWriter returns a writer whose pending writes fail shortly after ctx ends. Otherwise, a write to a full pipe
// would block, because a signal does not interrupt the write.
func NewWriter(ctx context.Context, w io.Writer) io.Writer { return &writer{ctx: ctx, w: w} }

// Write writes p to the stream. It fails immediately if an earlier write was abandoned.
func (s *writer) Write(p []byte) (int, error) {
	if s.abandoned.Load() {
		return 0, context.Canceled
	}
	type result struct {
		n   int
		err error
	}
	written := make(chan result, 1)
	text := bytes.Clone(p) // a copy, because the caller may reuse p while an abandoned write still reads p
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

// Unwrap returns the stream below a [NewWriter] writer, and any other stream unchanged. A child process needs the
// underlying file.
func Unwrap(w io.Writer) io.Writer {
	if s, ok := w.(*writer); ok {
		return s.w
	}
	return w
}
