package feed

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"electop/election"
)

// WatchChecks adds the health checks of the first nodes to the snapshots, as far as [Feed.AllowChecks] permits. Each call
// replaces the nodes.
func (f *Feed) WatchChecks(nodes []string) { f.checks.set(nodes) }

// AllowChecks sets the maximum number of nodes whose checks are watched. Initially it is 0.
func (f *Feed) AllowChecks(limit int) {
	f.checks.mu.Lock()
	defer f.checks.mu.Unlock()
	f.checks.limit = limit
	Notify(f.checks.changed)
}

// WatchSessions adds every session of the store to the snapshots while on is true. Initially it is off.
func (f *Feed) WatchSessions(on bool) { f.sessions.set(map[bool][]string{true: {"all"}}[on]) }

// Study adds the surroundings of one election to the snapshots: immediately, after each event of the election, and
// repeatedly. Each call replaces the key; "" stops the reads.
func (f *Feed) Study(key string) { f.study.set([]string{key}) }

// survey reads the surroundings of an election until ctx ends.
func (f *Feed) survey(ctx context.Context, key string) {
	for ctx.Err() == nil {
		again := time.After(f.hooks.Study(ctx, key))
		select {
		case <-ctx.Done():
		case <-f.happened:
		case <-again:
		}
	}
}

// selection runs one goroutine for each selected name, such as a node, up to limit names.
type selection struct {
	mu      sync.Mutex
	names   []string // the most important first
	limit   int
	changed chan struct{}
}

func newSelection(limit int) *selection {
	return &selection{limit: limit, changed: make(chan struct{}, 1)}
}

// set replaces the names.
func (s *selection) set(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = election.Without(names, func(name string) bool { return name == "" })
	Notify(s.changed)
}

// selected returns the names with a goroutine.
func (s *selection) selected() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names[:min(len(s.names), s.limit)]
}

// serve calls work for each selected name until the name is no longer selected or ctx ends. It waits for the end of a call: otherwise,
// a late report could mark a node that is selected again as unwatched.
func (f *Feed) serve(ctx context.Context, s *selection, work func(ctx context.Context, name string)) {
	running := map[string]func(){} // each function ends a call and waits for it
	for {
		names := s.selected()
		maps.DeleteFunc(running, func(name string, end func()) bool {
			if slices.Contains(names, name) {
				return false
			}
			end()
			return true
		})
		for _, name := range names {
			if running[name] == nil {
				ctx, cancel := context.WithCancel(ctx)
				done := make(chan struct{})
				running[name] = func() { cancel(); <-done }
				f.Go(func() {
					defer close(done)
					work(ctx, name)
				})
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		}
	}
}

// Notify sends a signal to a channel of capacity 1. It never blocks. If it is called several times before the receiver
// reads the channel, the receiver gets one signal.
func Notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
