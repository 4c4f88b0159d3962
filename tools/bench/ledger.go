package main

import (
	"context"
	"sync"
	"time"
)

// ledger notes when each change was made and when it was told of.
type ledger struct {
	mu      sync.Mutex
	written map[int]time.Time // the write has returned
	seen    map[int]time.Time
	news    chan struct{} // closed and replaced at each change
	ready   int           // elections told of at the start
	readyAt time.Time
}

func newLedger() *ledger {
	return &ledger{written: map[int]time.Time{}, seen: map[int]time.Time{}, news: make(chan struct{})}
}

func (l *ledger) wrote(change int, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written[change] = at
	l.tell()
}

// saw notes what a watcher's line told. The first telling counts.
func (l *ledger) saw(s sight, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !s.at.IsZero() {
		at = s.at
	}
	if s.ready > 0 {
		l.ready += s.ready
		l.readyAt = at
	}
	if s.change > 0 {
		if _, again := l.seen[s.change]; !again {
			l.seen[s.change] = at
		}
	}
	l.tell()
}

func (l *ledger) tell() {
	close(l.news)
	l.news = make(chan struct{})
}

// await waits until met, which is asked with the ledger locked, for limit at
// most.
func (l *ledger) await(ctx context.Context, limit time.Duration, met func() bool) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		l.mu.Lock()
		done, news := met(), l.news
		l.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return false
		case <-news:
		}
	}
}

// awaitReady waits until n elections were told of and gives the moment.
func (l *ledger) awaitReady(ctx context.Context, n int, limit time.Duration) (at time.Time, ok bool) {
	ok = l.await(ctx, limit, func() bool { at = l.readyAt; return l.ready >= n })
	return at, ok
}

// awaitSeen waits until every change from first to last was told of, or not any
// longer.
func (l *ledger) awaitSeen(ctx context.Context, first, last int, limit time.Duration) {
	next := first
	l.await(ctx, limit, func() bool {
		for ; next <= last; next++ {
			if _, ok := l.seen[next]; !ok {
				return false
			}
		}
		return true
	})
}

// spread describes the changes from first to last.
func (l *ledger) spread(first, last int) spread {
	l.mu.Lock()
	defer l.mu.Unlock()
	made, latencies := 0, []time.Duration{}
	for change := first; change <= last; change++ {
		wrote, ok := l.written[change]
		if !ok {
			continue
		}
		made++
		if seen, ok := l.seen[change]; ok {
			latencies = append(latencies, seen.Sub(wrote))
		}
	}
	return spreadOf(made, latencies)
}
