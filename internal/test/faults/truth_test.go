package faults

import (
	"slices"
	"sync"
	"time"
)

// term is one hold of a key according to the writers.
type term struct {
	// id is the leader in the key's value. It is unique to the term.
	id      string
	session string
	// create, lock and modify are the indexes of the key in the response to the acquire.
	create, lock, modify uint64
	// asked is when the acquire was sent. began is when Consul confirmed it.
	asked, began time.Time
	// ending is when the write that ended the term was sent, zero while the term lasts.
	ending time.Time
	// restored is set if a restored snapshot made the term current again.
	restored bool
}

// keyTruth is the log of one key.
type keyTruth struct {
	terms   []term
	deletes []time.Time // when the deletes were sent
	// uncountable contains each CreateIndex with terms that LockIndex does not count, because the key was deleted or
	// a snapshot was restored.
	uncountable map[uint64]bool
	held        bool
}

// truth is the log of every write. It does not depend on electop.
type truth struct {
	mu   sync.Mutex
	keys map[string]*keyTruth
}

func newTruth() *truth { return &truth{keys: map[string]*keyTruth{}} }

// with calls a function with the log of one key, while it holds the mutex.
func (l *truth) with(key string, do func(*keyTruth)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.keys[key]
	if k == nil {
		k = &keyTruth{uncountable: map[uint64]bool{}}
		l.keys[key] = k
	}
	do(k)
}

func (l *truth) begin(key string, t term) {
	l.with(key, func(k *keyTruth) {
		k.terms, k.held = append(k.terms, t), true
	})
}

// end records that a write ended the current term. asked is when the write was sent.
func (l *truth) end(key string, asked time.Time, deleted bool) {
	l.with(key, func(k *keyTruth) {
		if k.held {
			k.terms[len(k.terms)-1].ending = asked
		}
		if deleted {
			k.deletes = append(k.deletes, asked)
			if n := len(k.terms); n > 0 {
				k.uncountable[k.terms[n-1].create] = true
			}
		}
		k.held = false
	})
}

// restored records the state of a key in a restored snapshot. id is empty if the key has no leader.
func (l *truth) restored(key string, asked time.Time, exists bool, id string) {
	l.with(key, func(k *keyTruth) {
		for i := range k.terms {
			k.uncountable[k.terms[i].create] = true
		}
		if k.held && id == k.terms[len(k.terms)-1].id {
			return // the same term continues
		}
		if k.held {
			k.terms[len(k.terms)-1].ending = asked
		}
		if !exists {
			k.deletes = append(k.deletes, asked)
		}
		at := slices.IndexFunc(k.terms, func(t term) bool { return t.id == id })
		k.held = at >= 0
		if k.held {
			again := k.terms[at]
			again.restored, again.asked, again.began, again.ending = true, asked, time.Now(), time.Time{}
			k.terms = append(k.terms, again)
		}
	})
}
