package blocking

import (
	"context"
	"sync"
)

// Epochs restarts all loops at once. After the connection to Consul was lost,
// blocked queries may hang on connections that lead nowhere, and retries that wait
// need not wait any longer.
type Epochs struct {
	parent context.Context
	mu     sync.Mutex
	number int // of the current epoch; the first is 1
	ctx    context.Context
	cancel context.CancelFunc
}

// NewEpochs begins the first epoch.
func NewEpochs(parent context.Context) *Epochs {
	e := &Epochs{parent: parent, cancel: func() {}}
	e.Next()
	return e
}

// Next ends this epoch and begins another.
func (e *Epochs) Next() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cancel()
	e.number++
	e.ctx, e.cancel = context.WithCancel(e.parent)
}

// Current is the context of this epoch, and its number.
func (e *Epochs) Current() (context.Context, int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ctx, e.number
}

// Stop ends the last epoch.
func (e *Epochs) Stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cancel()
}

// Join is a context that ends with either of two.
func Join(ctx, other context.Context) (joined context.Context, leave func()) {
	joined, cancel := context.WithCancel(other)
	stop := context.AfterFunc(ctx, cancel)
	return joined, func() {
		stop()
		cancel()
	}
}
