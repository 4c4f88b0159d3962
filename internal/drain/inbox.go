package drain

import (
	"sync"

	"electop/election"
)

// inbox passes observations to the runner without blocking the sender. It keeps every event, but only the newest
// snapshot.
type inbox struct {
	ready chan struct{}

	mu       sync.Mutex
	queue    []election.Event
	snapshot *election.Snapshot
}

func newInbox() *inbox { return &inbox{ready: make(chan struct{}, 1)} }

func (b *inbox) events(events []election.Event) {
	b.mu.Lock()
	b.queue = append(b.queue, events...)
	b.mu.Unlock()
	b.wake()
}

func (b *inbox) see(s *election.Snapshot) {
	b.mu.Lock()
	b.snapshot = s
	b.mu.Unlock()
	b.wake()
}

func (b *inbox) wake() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// take returns the observations since the last call. snapshot is nil if there is no new one.
func (b *inbox) take() (events []election.Event, snapshot *election.Snapshot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	events, snapshot = b.queue, b.snapshot
	b.queue, b.snapshot = nil, nil
	return events, snapshot
}
