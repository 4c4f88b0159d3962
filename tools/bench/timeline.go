package main

import (
	"context"
	"sync"
	"time"

	"electop/tools/bench/internal/watch"
)

// timeline records when each change was written and when a watcher reported it.
type timeline struct {
	mu      sync.Mutex
	written map[int]time.Time // time at which the write returned
	seen    map[int]time.Time
	changed chan struct{} // each record closes and replaces this channel
	ready   int           // number of elections reported at the start
	readyAt time.Time
}

func newTimeline() *timeline {
	return &timeline{written: map[int]time.Time{}, seen: map[int]time.Time{}, changed: make(chan struct{})}
}

func (l *timeline) recordWrite(change int, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written[change] = at
	l.notify()
}

// recordLine records a line of a watcher. If several lines report the same change, it uses the first.
func (l *timeline) recordLine(s watch.Line, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !s.At.IsZero() {
		at = s.At
	}
	if s.Ready > 0 {
		l.ready += s.Ready
		l.readyAt = at
	}
	if s.Change > 0 {
		if _, again := l.seen[s.Change]; !again {
			l.seen[s.Change] = at
		}
	}
	l.notify()
}

func (l *timeline) notify() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// await waits until met returns true, but not longer than limit. It calls met with the mutex held.
func (l *timeline) await(ctx context.Context, limit time.Duration, met func() bool) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		l.mu.Lock()
		done, changed := met(), l.changed
		l.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return false
		case <-changed:
		}
	}
}

// awaitReady waits until n elections were reported, and returns the time of the report.
func (l *timeline) awaitReady(ctx context.Context, n int, limit time.Duration) (at time.Time, ok bool) {
	ok = l.await(ctx, limit, func() bool { at = l.readyAt; return l.ready >= n })
	return at, ok
}

// awaitSeen waits until every change from first to last was reported, but not longer than limit.
func (l *timeline) awaitSeen(ctx context.Context, first, last int, limit time.Duration) {
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

// spread summarizes the latencies of the changes from first to last.
func (l *timeline) spread(first, last int) spread {
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
