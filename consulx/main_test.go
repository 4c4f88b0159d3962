package consulx

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
	"go.uber.org/goleak"

	"electop/election"
	"electop/internal/consultest"
	"electop/internal/memconsul"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(consultest.Wrap(m)) }

// patience is how long a test waits for what has to happen at once.
const patience = 20 * time.Second

// backend is a Consul to test against, with one client of each kind.
type backend struct {
	t      *testing.T
	client *Client
	api    *api.Client
	node   string
}

// onBoth runs a test against the real Consul and against the in-process one.
func onBoth(t *testing.T, test func(b backend)) {
	t.Helper()
	t.Run("memconsul", func(t *testing.T) {
		s, err := memconsul.Start(memconsul.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		test(newBackend(t, Config{Address: s.Addr()}))
	})
	t.Run("consul", func(t *testing.T) {
		a := consultest.Shared(t)
		test(newBackend(t, Config{Address: a.Addr()}))
	})
}

func newBackend(t *testing.T, cfg Config) backend {
	t.Helper()
	c := newClient(t, cfg)
	self, err := c.api.Agent().NodeName()
	if err != nil {
		t.Fatal(err)
	}
	return backend{t: t, client: c, api: c.api, node: self}
}

func newClient(t *testing.T, cfg Config) *Client {
	t.Helper()
	c, err := NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// over makes a client that sends everything through rt.
func over(t *testing.T, rt http.RoundTripper) *Client {
	t.Helper()
	return overAt(t, "consul.test", rt)
}

// overAt is over for a transport that needs an address.
func overAt(t *testing.T, addr string, rt http.RoundTripper) *Client {
	t.Helper()
	return newClient(t, Config{Address: addr, Transport: rt})
}

// prefix is a part of the KV store that belongs to one test.
func (b backend) prefix(t *testing.T) string {
	t.Helper()
	// A lock-delay belongs to a key's name and may outlast a test.
	p := fmt.Sprintf("test/%s_%d/", strings.NewReplacer("/", "_", "#", "_").Replace(t.Name()), time.Now().UnixNano())
	t.Cleanup(func() {
		if _, err := b.api.KV().DeleteTree(p, nil); err != nil {
			t.Error(err)
		}
	})
	return p
}

// session makes a session without checks and lock-delay.
func (b backend) session(t *testing.T, entry *api.SessionEntry) string {
	t.Helper()
	if entry.LockDelay == 0 {
		entry.LockDelay = time.Millisecond
	}
	id, _, err := b.api.Session().CreateNoChecks(entry, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = b.api.Session().Destroy(id, nil) })
	return id
}

// address is where the backend answers.
func (b backend) address() string { return b.client.Address() }

func (b backend) acquire(t *testing.T, p api.KVPair) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		ok, _, err := b.api.KV().Acquire(&p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s can't be acquired", p.Key)
		}
	}
}

func (b backend) get(t *testing.T, key string) *api.KVPair {
	t.Helper()
	p, _, err := b.api.KV().Get(key, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (b backend) put(t *testing.T, key, value string) {
	t.Helper()
	if _, err := b.api.KV().Put(&api.KVPair{Key: key, Value: []byte(value)}, nil); err != nil {
		t.Fatal(err)
	}
}

func patterns(t *testing.T, texts ...string) election.Patterns {
	t.Helper()
	ps, err := election.ParsePatterns(texts)
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

// board is a running observer and all that it told.
type board struct {
	t    *testing.T
	o    *Observer
	stop func()

	mu     sync.Mutex
	events []election.Event
	at     []time.Time
	last   *election.Snapshot
	moved  chan struct{} // closed and replaced with each piece of news
}

func observe(t *testing.T, c *Client, texts ...string) *board {
	t.Helper()
	return observeWith(t, c, ObserverOptions{Patterns: patterns(t, texts...)})
}

func observeWith(t *testing.T, c *Client, o ObserverOptions, change ...func(*Observer)) *board {
	t.Helper()
	b := &board{t: t, moved: make(chan struct{})}
	o.OnEvents = func(events []election.Event) {
		b.note(func() {
			for _, e := range events {
				b.events, b.at = append(b.events, e), append(b.at, time.Now())
			}
		})
	}
	b.o = NewObserver(c, o)
	for _, f := range change {
		f(b.o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		if err := b.o.Run(ctx); err != nil {
			t.Error(err)
		}
	})
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

// until waits for a condition on what was told, or on the observer itself, which
// may move without telling anything.
func (b *board) until(what string, ok func() bool) {
	b.t.Helper()
	timeout := time.After(patience)
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
			b.t.Fatalf("waited in vain for %s; events: %+v", what, b.events)
		}
	}
}

// event waits for the first event of a type about a key after the first n.
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
	b.until("a loaded snapshot", func() bool { return b.last != nil && b.last.Loaded })
}

func (b *board) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.events)
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

func (b *board) toldAt(i int) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at[i]
}

func (b *board) snapshot() *election.Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}
