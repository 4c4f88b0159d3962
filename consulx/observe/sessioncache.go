package observe

import (
	"context"
	"slices"
	"sync"
	"time"

	"electop/consulx"
	"electop/election"
)

const (
	// sessionTries and sessionRetry limit the attempts to read a session. A later response about its key starts new
	// attempts.
	sessionTries = 3
	sessionRetry = 250 * time.Millisecond
	sessionPrune = time.Minute
	sessionLimit = 10 * time.Second
	// listPatience is how long responses about keys are delayed at most to wait for the first list of sessions, so that
	// the first board is complete.
	listPatience = time.Second
	// reuseWithin is how long the first list of sessions is current enough.
	reuseWithin = 500 * time.Millisecond
)

// sessionCache reads each session once.
type sessionCache struct {
	o   *Observer
	ctx context.Context // context that ends the reads; Run sets it before other methods

	mu      sync.Mutex
	known   map[string]*election.Session
	older   map[string]*election.Session // sessions that were known before the latest prune
	fetches map[string]*fetch
	absent  map[string]time.Time        // time of the failed read, by session ID
	forget  time.Duration               // time after a failed read until the next attempt
	held    map[string][]*election.Pair // the keys of a watch, by name of the watch
	pruned  time.Time

	first  chan struct{}       // channel that is closed when the first list has arrived; nil if ReadFirst was not called
	listed []*election.Session // the first list, or nil after reuseWithin
}

// fetch is one attempt to read some sessions.
type fetch struct {
	done chan struct{}
	late bool // Await returned before the attempt ended
}

// ReadFirst starts a read of all sessions, so that the leaders' sessions arrive with the first keys.
func (b *sessionCache) ReadFirst() {
	b.first = make(chan struct{})
	b.o.Go(func() {
		defer close(b.first)
		ctx, cancel := context.WithTimeout(b.ctx, sessionLimit)
		defer cancel()
		all, err := b.List(ctx)
		if err != nil {
			return // the cache requests missing sessions by ID
		}
		b.mu.Lock()
		b.listed = all
		b.mu.Unlock()
		time.AfterFunc(reuseWithin, func() { b.takeFirst() })
	})
}

// takeFirst returns the first list once, so that the selected election does not list all sessions again at the start.
func (b *sessionCache) takeFirst() []*election.Session {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.listed
	b.listed = nil
	return all
}

// List reads all sessions. If some are not readable, it returns the readable ones and ErrIncomplete.
func (b *sessionCache) List(ctx context.Context) ([]*election.Session, error) {
	if all := b.takeFirst(); all != nil {
		return all, nil
	}
	all, err := b.o.client.Sessions(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.prune()
	if len(b.known) == 0 {
		b.known = make(map[string]*election.Session, len(all))
	}
	for i, s := range all {
		if before := b.find(s.ID); before != nil {
			all[i] = before // elections refer to this object: a second object would double the memory
		}
		b.known[s.ID] = all[i]
	}
	return all, err
}

// Await returns the sessions with these IDs that arrive within patience. The tracker receives the others when they arrive.
func (b *sessionCache) Await(ctx context.Context, ids []string, patience time.Duration) []*election.Session {
	if len(ids) == 0 {
		return nil
	}
	if b.first != nil && len(ids) > consulx.ManySessions {
		select {
		case <-b.first:
		case <-time.After(listPatience):
		case <-ctx.Done():
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, f := range b.request(ids, false) {
		select {
		case <-f.done:
		case <-ctx.Done():
		}
	}
	return b.collect(ids)
}

// collect returns the known sessions. It marks the attempts to read the other sessions as late.
func (b *sessionCache) collect(ids []string) []*election.Session {
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

func (b *sessionCache) find(id string) *election.Session {
	if s := b.known[id]; s != nil {
		return s
	}
	return b.older[id]
}

// Get returns a known session, or nil.
func (b *sessionCache) Get(id string) *election.Session {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.find(id)
}

// request starts a read of the unknown sessions. It returns all attempts that read at least one of the sessions. If late
// is set, nothing waits for them.
func (b *sessionCache) request(ids []string, late bool) (under []*fetch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := &fetch{done: make(chan struct{}), late: late}
	var unknown []string
	for _, id := range ids {
		switch other := b.fetches[id]; {
		case b.find(id) != nil:
		case other != nil:
			if other != f && !slices.Contains(under, other) {
				under = append(under, other)
			}
		case time.Since(b.absent[id]) > b.forget:
			unknown = append(unknown, id)
			b.fetches[id] = f
		}
	}
	if len(unknown) > 0 {
		under = append(under, f)
		b.o.Go(func() { b.fetch(f, unknown) })
	}
	return under
}

func (b *sessionCache) fetch(f *fetch, ids []string) {
	ctx, cancel := context.WithTimeout(b.ctx, sessionLimit)
	defer cancel()
	var found []*election.Session
	missing := ids
	for try := 0; try < sessionTries && len(missing) > 0 && ctx.Err() == nil; try++ {
		if try > 0 {
			consulx.Sleep(ctx, sessionRetry<<try)
		}
		read, hidden, _ := b.o.client.SessionsByID(ctx, missing) // the next attempt retries after an error
		found = append(found, read...)
		b.mu.Lock()
		for _, s := range read {
			b.known[s.ID] = s
			delete(b.absent, s.ID)
		}
		missing = election.Without(missing, func(id string) bool { return b.find(id) != nil })
		b.mu.Unlock()
		if hidden {
			break
		}
	}
	b.mu.Lock()
	for _, id := range missing {
		b.absent[id] = time.Now()
	}
	for _, id := range ids {
		delete(b.fetches, id)
	}
	late := f.late
	close(f.done)
	b.mu.Unlock()
	if late && len(found) > 0 {
		b.o.Send(true, election.SessionsRead{At: time.Now(), Sessions: found})
	}
}

// Holding stores the keys of a shard, whose sessions are kept. It rereads those that could not be read, because a session
// may become readable without a change of its key.
func (b *sessionCache) Holding(watch string, keys []*election.Pair) {
	b.mu.Lock()
	b.held[watch] = keys
	b.prune()
	incomplete := len(b.absent) > 0
	b.mu.Unlock()
	if incomplete {
		b.request(holders(keys), true)
	}
}

// Released removes the record of the sessions that hold keys of a closed shard.
func (b *sessionCache) Released(watch string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.held, watch)
}

// prune runs at most once per sessionPrune. A session that holds no key is dropped by the second prune
// after its read, not by the first, because it may still acquire a key.
func (b *sessionCache) prune() {
	if time.Since(b.pruned) <= sessionPrune {
		return
	}
	b.pruned = time.Now()
	kept, absent := make(map[string]*election.Session, len(b.known)), map[string]time.Time{}
	for _, keys := range b.held {
		for _, id := range holders(keys) {
			if s := b.find(id); s != nil {
				kept[id] = s
			} else if at, ok := b.absent[id]; ok {
				absent[id] = at
			}
		}
	}
	for id, at := range b.absent {
		if time.Since(at) < sessionPrune { // its shard may be replaced just now
			absent[id] = at
		}
	}
	b.known, b.older, b.absent = kept, b.known, absent
}
