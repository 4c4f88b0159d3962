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
	filled chan struct{}
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
		q.mu.Lock()
		events := q.events
		q.events = nil
		q.mu.Unlock()
		if len(events) > 0 {
			return events, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-q.filled:
		}
	}
}

// drop discards the queued events and returns their number.
func (q *eventQueue) drop() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.events)
	q.events = nil
	return n
}
