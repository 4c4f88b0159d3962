//go:build unix

package stream_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"syscall"
	"testing"

	"electop/internal/stream"
)

func TestAwaitReader(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- stream.AwaitReader(ctx, w) }()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("AwaitReader after the end of the context: %v", err)
	}
	_ = r.Close()
	if err := stream.AwaitReader(t.Context(), w); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("AwaitReader after the close of the reader: %v", err)
	}
	if err := stream.AwaitReader(t.Context(), &bytes.Buffer{}); err != nil {
		t.Errorf("not a pipe: %v", err)
	}
}
