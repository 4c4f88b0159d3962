package blocking

import (
	"context"
	"sync"
)

// Epochs restarts all loops at the same time when a lost connection is restored. Otherwise, blocked queries would wait
// for a response on dead connections, and failed loops would wait for their next retry.
type Epochs struct {
	parent context.Context
	mu     sync.Mutex
	number int  // number of the current epoch; the first is 1
	lost   bool // the latest probe failed
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
	e.lost = false
	e.ctx, e.cancel = context.WithCancel(e.parent)
}

// Lose records that the probe fails. The prober calls Next when the probe succeeds again.
func (e *Epochs) Lose() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lost = true
}

func (e *Epochs) isLost() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lost
}

// Current returns the context and the number of the current epoch.
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

// Join returns a context that ends when either of the two contexts ends.
func Join(ctx, other context.Context) (joined context.Context, leave func()) {
	joined, cancel := context.WithCancel(other)
	stop := context.AfterFunc(ctx, cancel)
	return joined, func() {
		stop()
		cancel()
	}
}
