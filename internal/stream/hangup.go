package stream

import (
	"context"
	"io"
	"os"
)

// AwaitReader returns EPIPE when the reader of a pipe closes its end, so that `electop watch | head -1` ends before
// the next event. If w is not a pipe, it immediately returns nil.
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
