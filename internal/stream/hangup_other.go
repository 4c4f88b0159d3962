//go:build !unix

package stream

import (
	"context"
	"os"
)

// AwaitHangup is not available on this system. The next write fails instead.
func AwaitHangup(context.Context, *os.File) error { return nil }
