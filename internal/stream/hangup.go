package stream

import (
	"context"
	"io"
	"os"
)

// AwaitReader waits until the reader of a pipe closes its end and returns EPIPE, so
// that `electop watch | head -1` ends without another event. It returns nil at once
// if w is not a pipe.
func AwaitReader(ctx context.Context, w io.Writer) error {
	f, ok := Unwrap(w).(*os.File)
	if !ok || !isPipe(f) {
		return nil
	}
	return AwaitHangup(ctx, f)
}

func isPipe(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}
