package cli

import (
	"context"
	"sync"

	"electop/election"
)

// eventQueue passes events from the observer, which must not block, to a consumer
// that may be slow. It is unbounded, because no event may be skipped.
type eventQueue struct {
	mu     sync.Mutex
	events []election.Event
	filled chan struct{} // receives a value after events were pushed
}

func newEventQueue() *eventQueue { return &eventQueue{filled: make(chan struct{}, 1)} }

func (q *eventQueue) push(events []election.Event) {
	q.mu.Lock()
	q.events = append(q.events, events...)
	q.mu.Unlock()
	select {
	case q.filled <- struct{}{}:
	default:
	}
}

// pop waits for events and removes all of them.
func (q *eventQueue) pop(ctx context.Context) ([]election.Event, error) {
	for {
		if events := q.take(); len(events) > 0 {
			return events, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-q.filled:
		}
	}
}

// take removes and returns the queued events without waiting.
func (q *eventQueue) take() []election.Event {
	q.mu.Lock()
	defer q.mu.Unlock()
	events := q.events
	q.events = nil
	return events
}
