package cli

import (
	"context"
	"sync"
)

// queue passes values from a goroutine that must not block to a consumer that may be slow. It is unbounded, because no
// event may be skipped.
type queue[T any] struct {
	mu     sync.Mutex
	values []T
	filled chan struct{} // receives a value after a push
}

func newQueue[T any]() *queue[T] { return &queue[T]{filled: make(chan struct{}, 1)} }

func (q *queue[T]) push(values []T) {
	q.mu.Lock()
	q.values = append(q.values, values...)
	q.mu.Unlock()
	select {
	case q.filled <- struct{}{}:
	default:
	}
}

// pop waits for values and removes all of them.
func (q *queue[T]) pop(ctx context.Context) ([]T, error) {
	for {
		if values := q.take(); len(values) > 0 {
			return values, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-q.filled:
		}
	}
}

// take removes and returns the queued values without waiting.
func (q *queue[T]) take() []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	values := q.values
	q.values = nil
	return values
}
