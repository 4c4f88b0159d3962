// Package sessioncache reads every session once: a session never changes after its
// creation.
package sessioncache

import (
	"context"
	"slices"
	"sync"
	"time"

	"electop/consulx"
	"electop/consulx/internal/blocking"
	"electop/election"
)

const (
	// sessionTries and sessionRetry bound what is done for a session that
	// can't be read; it is asked for again with a later answer about its key.
	sessionTries  = 3
	sessionRetry  = 250 * time.Millisecond
	sessionForget = 30 * time.Second
	sessionPrune  = time.Minute
	sessionLimit  = 10 * time.Second
	// listPatience is how long answers about keys are held back for the first
	// list of sessions: the board is drawn once, and whole.
	listPatience = time.Second
)

// Cache reads every session once: it never changes after its creation.
type Cache struct {
	client *consulx.Client
	spawn  func(func())              // runs what the observer waits for
	late   func([]*election.Session) // is told of sessions nobody waited for
	ctx    context.Context           // the lifetime of what spawn runs, set before anything is asked

	mu      sync.Mutex
	known   map[string]*election.Session
	older   map[string]*election.Session // known before the latest prune
	fetches map[string]*fetch
	absent  map[string]time.Time // when a session could not be read
	held    map[string][]string  // by watch
	pruned  time.Time

	first *firstList // nil when it was never asked for
	// missed is signalled when a session that is needed could not be read.
	missed chan struct{}
}

// firstList is the list of all sessions that is read while the keys are.
type firstList struct {
	done chan struct{}
	Read // set when done is closed; the book's mutex guards it from then on
}

// Read is a list of all sessions and when it was there.
type Read struct {
	Sessions []*election.Session
	Err      error
	At       time.Time
}

// fetch is one attempt to read some sessions.
type fetch struct {
	done chan struct{}
	late bool // somebody went on without it
}

// New makes an empty cache. spawn runs work that the caller waits for, late receives
// sessions that arrive after Await returned.
func New(c *consulx.Client, spawn func(func()), late func([]*election.Session)) *Cache {
	return &Cache{
		client: c, ctx: context.Background(), spawn: spawn, late: late, known: map[string]*election.Session{},
		fetches: map[string]*fetch{}, absent: map[string]time.Time{}, held: map[string][]string{}, missed: make(chan struct{}, 1),
	}
}

// Start sets the lifetime of what spawn runs. It must come before any other call.
func (b *Cache) Start(ctx context.Context) { b.ctx = ctx }

// ReadFirst reads all sessions, so that those that lead are at hand when the keys
// are. It must come before any other call.
func (b *Cache) ReadFirst() {
	f := &firstList{done: make(chan struct{})}
	b.first = f
	b.spawn(func() {
		defer close(f.done)
		ctx, cancel := context.WithTimeout(b.ctx, sessionLimit)
		defer cancel()
		f.Sessions, f.Err = b.List(ctx)
		f.At = time.Now()
	})
}

// reading reports that the first list is not there yet.
func (b *Cache) reading() bool {
	if b.first == nil {
		return false
	}
	select {
	case <-b.first.done:
		return false
	default:
		return true
	}
}

// FirstRead is the first list once it was read.
func (b *Cache) FirstRead() (first Read, ok bool) {
	if b.first == nil || b.reading() {
		return Read{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.first.Read, !consulx.Unanswered(b.first.Err)
}

// List reads all sessions. ErrPartly comes with what could be read.
func (b *Cache) List(ctx context.Context) ([]*election.Session, error) {
	all, err := b.client.AllSessions(b.client.Read(ctx))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pruneNowAndThen()
	if len(b.known) == 0 {
		b.known = make(map[string]*election.Session, len(all))
	}
	for _, s := range all {
		b.known[s.ID] = s
	}
	return all, err
}

// Await gives the sessions with these ids that are known within patience; the
// others are told to late once they are read.
func (b *Cache) Await(ctx context.Context, ids []string, patience time.Duration) []*election.Session {
	if len(ids) == 0 {
		return nil
	}
	timer := time.NewTimer(listPatience)
	defer timer.Stop()
	if b.first != nil && len(ids) > consulx.ManySessions {
		waitsOut(ctx, b.first.done, timer)
	}
	timer.Reset(patience)
	for _, f := range b.request(ids) {
		if !waitsOut(ctx, f.done, timer) {
			break
		}
	}
	return b.collect(ids)
}

// waitsOut waits until done is closed. It reports false when the timer ran out or
// ctx ended before.
func waitsOut(ctx context.Context, done <-chan struct{}, timer *time.Timer) bool {
	select {
	case <-done:
		return true
	default:
	}
	select {
	case <-done:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// collect gives what is known and marks what is still under way as late.
func (b *Cache) collect(ids []string) []*election.Session {
	b.mu.Lock()
	defer b.mu.Unlock()
	sessions := make([]*election.Session, 0, len(ids))
	for _, id := range ids {
		if s := b.find(id); s != nil {
			sessions = append(sessions, s)
		} else if f := b.fetches[id]; f != nil {
			f.late = true
		}
	}
	return sessions
}

func (b *Cache) find(id string) *election.Session {
	if s := b.known[id]; s != nil {
		return s
	}
	return b.older[id]
}

// Get is a session as far as it is known.
func (b *Cache) Get(id string) *election.Session {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.find(id)
}

// request begins to read the sessions that are neither known nor being read, and
// gives what is under way.
func (b *Cache) request(ids []string) (under []*fetch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := &fetch{done: make(chan struct{})}
	var unknown []string
	for _, id := range ids {
		switch other := b.fetches[id]; {
		case b.find(id) != nil:
		case other != nil:
			if other != f && !slices.Contains(under, other) {
				under = append(under, other)
			}
		case time.Since(b.absent[id]) > sessionForget:
			unknown = append(unknown, id)
			b.fetches[id] = f
		}
	}
	if len(unknown) > 0 {
		under = append(under, f)
		b.spawn(func() { b.fetch(f, unknown) })
	}
	return under
}

func (b *Cache) fetch(f *fetch, ids []string) {
	ctx, cancel := context.WithTimeout(b.ctx, sessionLimit)
	defer cancel()
	found, missing := b.awaitFirst(ctx, ids)
	for try := 0; try < sessionTries && len(missing) > 0 && ctx.Err() == nil; try++ {
		if try > 0 {
			blocking.Sleep(ctx, sessionRetry<<try)
		}
		read, hidden, _ := b.client.SessionsByID(ctx, missing) // tried again
		found = append(found, read...)
		if missing = without(missing, read); hidden {
			break
		}
	}
	b.settle(f, ids, found, missing)
}

// awaitFirst takes what it can from the first list. A few are sooner asked for.
func (b *Cache) awaitFirst(ctx context.Context, ids []string) (found []*election.Session, missing []string) {
	if b.first == nil || len(ids) <= consulx.ManySessions {
		return nil, ids
	}
	select {
	case <-b.first.done:
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		if s := b.find(id); s != nil {
			found = append(found, s)
		} else {
			missing = append(missing, id)
		}
	}
	return found, missing
}

// settle files what was read and tells whom nobody waited for.
func (b *Cache) settle(f *fetch, ids []string, found []*election.Session, missing []string) {
	b.mu.Lock()
	for _, s := range found {
		b.known[s.ID] = s
	}
	for _, id := range missing {
		b.absent[id] = time.Now()
	}
	for _, id := range ids {
		delete(b.fetches, id)
	}
	late := f.late
	close(f.done)
	b.mu.Unlock()
	if len(missing) > 0 {
		select {
		case b.missed <- struct{}{}:
		default:
		}
	}
	if late && len(found) > 0 {
		b.late(found)
	}
}

// Holding says which sessions hold the keys of a watch.
func (b *Cache) Holding(watch string, ids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held[watch] = ids
	b.pruneNowAndThen()
}

// Released says that a watch has ended.
func (b *Cache) Released(watch string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.held, watch)
}

// pruneNowAndThen forgets sessions that hold nothing: not at once, for one that was
// just read may not hold anything yet.
func (b *Cache) pruneNowAndThen() {
	if now := time.Now(); now.Sub(b.pruned) > sessionPrune {
		b.pruned = now
		b.prune()
	}
}

func (b *Cache) prune() {
	kept := make(map[string]*election.Session, len(b.known))
	for _, ids := range b.held {
		for _, id := range ids {
			if s := b.find(id); s != nil {
				kept[id] = s
			}
		}
	}
	b.known, b.older = kept, b.known
	if b.first != nil && !b.reading() {
		b.first.Read = Read{} // nobody wants it any more
	}
	for id, at := range b.absent {
		if time.Since(at) > sessionForget {
			delete(b.absent, id)
		}
	}
}

func without(ids []string, read []*election.Session) []string {
	got := make(map[string]bool, len(read))
	for _, s := range read {
		got[s.ID] = true
	}
	var rest []string
	for _, id := range ids {
		if !got[id] {
			rest = append(rest, id)
		}
	}
	return rest
}
