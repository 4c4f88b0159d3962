package observe

import (
	"cmp"
	"context"
	"sync"
	"testing"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/internal/feed"
)

// Options are short here, because most tests set them.
type Options = feed.Options

// board is a running observer and the events and snapshots that it delivered.
type board struct {
	t    *testing.T
	o    *Observer
	stop func()

	mu     sync.Mutex
	events []election.Event
	last   *election.Snapshot
	moved  chan struct{} // closed and replaced after each event and each snapshot
}

func observe(t *testing.T, c *consulx.Client, texts ...string) *board {
	t.Helper()
	return observeWith(t, c, Options{Patterns: patterns(t, texts...)})
}

// observeBriefly observes with short waits: changed permissions show when a query ends.
func observeBriefly(t *testing.T, c *consulx.Client) *board {
	t.Helper()
	return observeWith(t, c, Options{Patterns: patterns(t), Wait: time.Second})
}

func observeWith(t *testing.T, c *consulx.Client, o Options, change ...func(*Observer)) *board {
	t.Helper()
	b := &board{t: t, moved: make(chan struct{}), last: &election.Snapshot{}}
	o.OnEvents = func(events []election.Event) {
		b.note(func() { b.events = append(b.events, events...) })
	}
	o.ExplainWithin = cmp.Or(o.ExplainWithin, patience) // a slow machine may need longer than a second
	b.o = New(c, o)
	for _, f := range change {
		f(b.o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { b.o.Run(ctx) })
	done.Go(func() {
		for s := range b.o.Snapshots() {
			b.note(func() { b.last = s })
		}
	})
	b.stop = sync.OnceFunc(func() {
		cancel()
		done.Wait()
	})
	t.Cleanup(b.stop)
	return b
}

func (b *board) note(do func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	do()
	close(b.moved)
	b.moved = make(chan struct{})
}

// until waits until a condition is true. The condition may depend on the delivered data or on the observer's own
// state, which can change without a delivery.
func (b *board) until(what string, ok func() bool) {
	b.t.Helper()
	timeout := time.NewTimer(patience).C
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		b.mu.Lock()
		done, moved := ok(), b.moved
		b.mu.Unlock()
		if done {
			return
		}
		select {
		case <-moved:
		case <-again.C:
		case <-timeout:
			b.mu.Lock()
			defer b.mu.Unlock()
			b.t.Fatalf("timeout while waiting for %s; events: %+v", what, b.events)
		}
	}
}

// event waits for the first event of a type about a key. It ignores the events before the index from.
func (b *board) event(from int, kind election.EventType, key string) (e election.Event, next int) {
	b.t.Helper()
	b.until(string(kind)+" "+key, func() bool {
		for i := from; i < len(b.events); i++ {
			if b.events[i].Type == kind && b.events[i].Key == key {
				e, next = b.events[i], i+1
				return true
			}
		}
		return false
	})
	return e, next
}

func (b *board) loaded() {
	b.t.Helper()
	b.until("a loaded snapshot", func() bool { return b.last.Loaded })
}

func (b *board) of(key string) []election.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []election.Event
	for _, e := range b.events {
		if e.Key == key {
			found = append(found, e)
		}
	}
	return found
}

func (b *board) snapshot() *election.Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}
