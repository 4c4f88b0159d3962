package cli

import (
	"bytes"
	"context"
	"io"
	"sync/atomic"
	"time"
)

// writeGrace is how long a write may take after the command was told to end, so
// that a process that still reads gets whole lines.
const writeGrace = 250 * time.Millisecond

// output is a stream whose writes end with the command: a write to a pipe that no
// process reads blocks, and no signal ends it.
type output struct {
	ctx       context.Context
	w         io.Writer
	abandoned atomic.Bool
}

func newOutput(ctx context.Context, w io.Writer) io.Writer { return &output{ctx: ctx, w: w} }

// Write writes p. After a write was abandoned it writes nothing more.
func (o *output) Write(p []byte) (int, error) {
	if o.abandoned.Load() {
		return 0, context.Canceled
	}
	type result struct {
		n   int
		err error
	}
	written := make(chan result, 1)
	text := bytes.Clone(p) // the caller may reuse p after an abandoned write
	go func() {
		n, err := o.w.Write(text)
		written <- result{n, err}
	}()
	select {
	case r := <-written:
		return r.n, r.err
	case <-o.ctx.Done():
	}
	late := time.NewTimer(writeGrace)
	defer late.Stop()
	select {
	case r := <-written:
		return r.n, r.err
	case <-late.C:
		o.abandoned.Store(true)
		return 0, context.Canceled
	}
}

// stream is the stream itself, for a program that inherits it and for questions
// about the file behind it.
func stream(w io.Writer) io.Writer {
	if o, ok := w.(*output); ok {
		return o.w
	}
	return w
}
