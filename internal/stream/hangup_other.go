//go:build !unix

package stream

import (
	"context"
	"os"
)

// AwaitHangup does not wait on this system. A write after a hangup fails instead.
func AwaitHangup(context.Context, *os.File) error { return nil }
