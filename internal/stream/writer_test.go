package stream_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"electop/internal/stream"
)

func TestWriterFailsAfterTheContextHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, pipe := io.Pipe() // no process reads from it
		ctx, cancel := context.WithCancel(t.Context())
		w := stream.NewWriter(ctx, pipe)
		done := make(chan error, 1)
		go func() {
			_, err := w.Write([]byte("line\n"))
			done <- err
		}()
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("Write returned before the context ended: %v", err)
		default:
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if _, err := w.Write([]byte("line\n")); !errors.Is(err, context.Canceled) {
			t.Errorf("the write after an abandoned write returned %v", err)
		}
		_ = r.Close()
	})
}

func TestWriterWritesToAReaderAfterTheContextHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var b bytes.Buffer
	w := stream.NewWriter(ctx, &b)
	if n, err := w.Write([]byte("line\n")); n != 5 || err != nil || b.String() != "line\n" {
		t.Errorf("%d %v %q", n, err, b.String())
	}
	if stream.Unwrap(w) != &b {
		t.Error("Unwrap does not return the stream")
	}
}
