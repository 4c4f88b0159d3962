package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"
)

// writeTimeout is the timeout of a writer's request. After a timeout, the writer reads the key to determine whether
// the write was applied.
const writeTimeout = 2 * time.Second

// keyState is the state of a key according to its writer.
type keyState struct {
	key string
	// pair is the state in Consul, or nil if the key does not exist.
	pair *api.KVPair
	// doubtful is set if the result of the latest write is unknown.
	doubtful bool
	// since is when the first unconfirmed write was sent; Consul may apply it late. tried contains the leaders that
	// unconfirmed writes may have created, with their sessions.
	since time.Time
	tried map[string]string
}

// writer changes its own keys and logs the changes. It does not use the proxy. Only one goroutine writes a key at any
// time.
type writer struct {
	clients []*api.Client // the writer uses the clients in turn
	truth   *truth
	rng     *rand.Rand
	name    string

	mu      sync.Mutex // held during one change
	keys    []*keyState
	session string
	next    int // number of the next term
	client  int
}

func newWriter(name string, seed uint64, l *truth, clients []*api.Client, keys ...string) *writer {
	w := &writer{name: name, truth: l, clients: clients, rng: rand.New(rand.NewPCG(seed, uint64(len(name))))}
	for _, key := range keys {
		w.keys = append(w.keys, &keyState{key: key, tried: map[string]string{}})
	}
	return w
}

// run makes one change per pause until ctx ends.
func (w *writer) run(ctx context.Context, pause time.Duration) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.change(context.WithoutCancel(ctx)) // not cancelled by ctx, because Consul may apply a cancelled write
		}
	}
}

// change makes one change of a randomly chosen key.
func (w *writer) change(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.keys[w.rng.IntN(len(w.keys))]
	if k.doubtful {
		w.reconcile(ctx, k)
		return
	}
	if !k.held() {
		w.acquire(ctx, k)
		return
	}
	switch n := w.rng.IntN(20); {
	case n < 12:
		w.release(ctx, k)
	case n < 14:
		w.destroy(ctx, k)
	case n < 16:
		w.remove(ctx, k)
	default:
		w.update(ctx, k)
	}
}

// acquire begins a term with a unique id.
func (w *writer) acquire(ctx context.Context, k *keyState) bool {
	if w.session == "" && !w.openSession(ctx) {
		return false
	}
	w.next++
	id := fmt.Sprintf("%s-%d", w.name, w.next)
	k.tried[id] = w.session
	return w.txn(ctx, k, &api.KVTxnOp{Verb: api.KVLock, Session: w.session, Value: []byte(`{"name":"` + id + `"}`)}, func(p *api.KVPair, asked time.Time) {
		w.truth.begin(k.key, termOf(p, asked))
	})
}

func (w *writer) release(ctx context.Context, k *keyState) bool {
	return w.txn(ctx, k, &api.KVTxnOp{Verb: api.KVUnlock, Session: k.pair.Session, Value: k.pair.Value}, func(_ *api.KVPair, asked time.Time) {
		w.truth.end(k.key, asked, false)
	})
}

func (w *writer) remove(ctx context.Context, k *keyState) bool {
	return w.txn(ctx, k, &api.KVTxnOp{Verb: api.KVDelete}, func(_ *api.KVPair, asked time.Time) {
		w.truth.end(k.key, asked, true)
	})
}

func (w *writer) update(ctx context.Context, k *keyState) bool {
	value := fmt.Sprintf(`{"name":%q,"at":%d}`, leaderOf(k.pair), time.Now().UnixNano())
	return w.txn(ctx, k, &api.KVTxnOp{Verb: api.KVLock, Session: k.pair.Session, Value: []byte(value)}, func(*api.KVPair, time.Time) {})
}

// destroy ends the writer's session, which releases all its locks.
func (w *writer) destroy(ctx context.Context, k *keyState) {
	ending := k.pair.Session
	asked := time.Now()
	limited, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	_, err := w.api().Session().Destroy(ending, (&api.WriteOptions{}).WithContext(limited))
	if err != nil {
		w.client++
	} else {
		w.session = ""
	}
	for _, other := range w.keys {
		if other.pair != nil && other.pair.Session == ending {
			other.unconfirmed(asked)
			w.reconcile(ctx, other)
		}
	}
}

func (w *writer) openSession(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	id, _, err := w.api().Session().CreateNoChecks(&api.SessionEntry{Name: w.name, LockDelay: time.Millisecond},
		(&api.WriteOptions{}).WithContext(ctx))
	if err != nil {
		w.client++
		return false
	}
	w.session = id
	return true
}

// txn applies one operation if the key is in the expected state. It logs the operation with the state in Consul's
// response.
func (w *writer) txn(ctx context.Context, k *keyState, op *api.KVTxnOp, log func(*api.KVPair, time.Time)) bool {
	guard := &api.KVTxnOp{Verb: api.KVCheckNotExists, Key: k.key}
	if k.pair != nil {
		guard = &api.KVTxnOp{Verb: api.KVCheckIndex, Key: k.key, Index: k.pair.ModifyIndex}
	}
	op.Key = k.key
	limited, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	asked := time.Now()
	ok, response, _, err := w.api().Txn().Txn(api.TxnOps{{KV: guard}, {KV: op}}, (&api.QueryOptions{}).WithContext(limited))
	if err != nil || !ok {
		if err == nil && w.refusedSession(response) {
			w.session = ""
		}
		w.client++
		k.unconfirmed(asked)
		w.reconcile(ctx, k)
		return false
	}
	k.pair, k.since = nil, time.Time{}
	if op.Verb != api.KVDelete {
		// The response to a transaction contains no value.
		k.pair = response.Results[len(response.Results)-1].KV
		k.pair.Value = op.Value
	}
	log(k.pair, asked)
	return true
}

func (w *writer) refusedSession(response *api.TxnResponse) bool {
	for _, e := range response.Errors {
		if strings.Contains(e.What, "session") {
			return true
		}
	}
	return false
}

// reconcile reads the result of an unconfirmed write once. If Consul does not respond, the state of the key remains
// unknown.
func (w *writer) reconcile(ctx context.Context, k *keyState) {
	pair, err := w.read(ctx, k.key)
	if err != nil {
		w.client++
		return
	}
	k.settle(pair, w.truth)
}

// settle logs the difference between the expected state and the state that was read.
func (k *keyState) settle(pair *api.KVPair, l *truth) {
	before, wasHeld := k.pair, k.held()
	k.doubtful, k.pair = false, pair
	gone := before != nil && (pair == nil || pair.CreateIndex != before.CreateIndex)
	// The value of a key remains when a term ends.
	id := leaderOf(pair)
	session, began := k.tried[id]
	began = began && (gone || id != leaderOf(before))
	if gone || wasHeld && (began || !k.held()) {
		l.end(k.key, k.since, gone)
	}
	if began {
		t := termOf(pair, k.since)
		t.session = session
		l.begin(k.key, t)
		if !k.held() {
			l.end(k.key, k.since, false)
		}
	}
	if gone || began || wasHeld != k.held() {
		k.since = time.Time{}
	}
}

func (k *keyState) held() bool { return k.pair != nil && k.pair.Session != "" }

// unconfirmed records that Consul did not confirm a write. asked is when the write was sent.
func (k *keyState) unconfirmed(asked time.Time) {
	k.doubtful = true
	if k.since.IsZero() {
		k.since = asked
	}
}

var errNoAnswer = errors.New("no server responded")

// read reads a key in consistent mode from the first server that responds.
func (w *writer) read(ctx context.Context, key string) (*api.KVPair, error) {
	for range w.clients {
		limited, cancel := context.WithTimeout(ctx, writeTimeout)
		pair, _, err := w.api().KV().Get(key, (&api.QueryOptions{RequireConsistent: true}).WithContext(limited))
		cancel()
		if err == nil {
			return pair, nil
		}
		w.client++
	}
	return nil, errNoAnswer
}

func (w *writer) api() *api.Client { return w.clients[w.client%len(w.clients)] }

// leaderOf returns the id in a value, or "" if the value contains none.
func leaderOf(p *api.KVPair) string {
	if p == nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(p.Value), `"name":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

func termOf(p *api.KVPair, asked time.Time) term {
	return term{
		id: leaderOf(p), session: p.Session, create: p.CreateIndex, lock: p.LockIndex, modify: p.ModifyIndex,
		asked: asked, began: time.Now(),
	}
}
