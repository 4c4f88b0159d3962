package store

import (
	"context"
	"time"
)

// Result is the result of one read of the store.
type Result[T any] struct {
	Index uint64 // X-Consul-Index of the result, or 0 if the table was never written
	Body  T

	missing bool // the requested object does not exist
}

// Query is a read of the store that can wait for a change.
type Query[T any] struct {
	store *Store
	topic topic                  // a change to this topic triggers another read
	read  func(*Store) Result[T] // runs while the store's mutex is held
}

// Run reads the store. If index is not 0, it waits until the index of the result is greater than index, but no
// longer than wait. When ctx ends or the store is closed, it returns the current result.
func (q Query[T]) Run(ctx context.Context, index uint64, wait time.Duration) Result[T] {
	var timeout <-chan time.Time
	if index > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		timeout = timer.C
	}
	known, wasMissing := index, false
	for {
		result, sig := q.readOrSubscribe(func(result Result[T]) bool {
			// An object that still does not exist has not changed, even if its index has increased.
			if result.missing && wasMissing {
				known = result.Index
			}
			wasMissing = result.missing || wasMissing
			return index == 0 || result.Index > known
		})
		if sig == nil {
			return result
		}
		woken := q.wait(ctx, sig, timeout)
		q.store.unsubscribe(q.topic, sig)
		if !woken {
			return result
		}
	}
}

// readOrSubscribe runs the read. If done rejects the result, it subscribes to the topic. It holds the mutex for both
// steps, so that it misses no change. The signal is nil if done accepts the result.
func (q Query[T]) readOrSubscribe(done func(Result[T]) bool) (Result[T], *signal) {
	q.store.mu.Lock()
	defer q.store.mu.Unlock()
	result := q.read(q.store)
	if done(result) {
		return result, nil
	}
	return result, q.store.subscribe(q.topic)
}

// wait waits for the signal. It returns false if the timeout, the end of ctx or the closing of the store comes first.
func (q Query[T]) wait(ctx context.Context, sig *signal, timeout <-chan time.Time) bool {
	select {
	case <-sig.changed:
		return true
	case <-timeout:
	case <-ctx.Done():
	case <-q.store.closed:
	}
	return false
}

// topic is a set of objects that a blocking query can wait for.
type topic struct {
	table tableName
	name  string
}

type tableName uint8

const (
	topicKey          tableName = iota // one key
	topicPrefix                        // all keys that begin with the name
	topicSession                       // one session
	topicNodeSessions                  // the sessions of one node
	topicSessions                      // all sessions
	topicNodeChecks                    // the checks of one node
	topicNode                          // one node with its services
	topicNodes                         // all nodes
)

// signal announces a change to its topic by closing a channel. It counts its waiters, so that a topic without waiters
// can be removed.
type signal struct {
	changed chan struct{}
	waiters int
}

// subscribe returns the signal of a topic. The caller holds the mutex. It must later call unsubscribe without holding
// the mutex.
func (s *Store) subscribe(t topic) *signal {
	sig := s.topic[t]
	if sig == nil {
		sig = &signal{changed: make(chan struct{})}
		s.topic[t] = sig
	}
	sig.waiters++
	return sig
}

func (s *Store) unsubscribe(t topic, sig *signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sig.waiters--
	if sig.waiters == 0 && s.topic[t] == sig {
		delete(s.topic, t)
	}
}

// notify notifies all queries that wait for the topic. The caller holds the mutex.
func (s *Store) notify(table tableName, name string) {
	t := topic{table, name}
	if sig := s.topic[t]; sig != nil {
		close(sig.changed)
		delete(s.topic, t)
	}
}

// notifyKey notifies all queries that wait for the key or for a prefix of the key, including the empty prefix and the
// key itself.
func (s *Store) notifyKey(key string) {
	s.notify(topicKey, key)
	if len(s.topic) == 0 {
		return
	}
	for end := range len(key) + 1 {
		s.notify(topicPrefix, key[:end])
	}
}
