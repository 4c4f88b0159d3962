//go:build !unix

package cli

import "context"

// jobControl does nothing: this system has no stop signals.
type jobControl struct{ ended chan struct{} }

func newJobControl() *jobControl { return &jobControl{} }

func (*jobControl) close() {}

func (*jobControl) suspend() {}

func (*jobControl) lend() (back func()) { return func() {} }

func (*jobControl) next(ctx context.Context) (func(), bool) {
	<-ctx.Done()
	return nil, false
}
