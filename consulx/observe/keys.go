package observe

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
	"electop/internal/feed"
)

// keyPoller reads the keys of one shard. It sends each response to the tracker as one election.KeysRead.
type keyPoller struct {
	o      *Observer
	watch  watch
	cancel context.CancelFunc // ends the query
	moved  chan struct{}      // receives a signal when keys were added or deleted, or queries began to fail or to succeed

	askedAt time.Time
	answer  keySet

	mu       sync.Mutex
	state    keyState
	closed   bool // other shards read these keys
	hiddenAt time.Time
}

// keyState is the known state of a shard.
type keyState struct {
	phase phase
	last  keySet // the keys that were last sent to the tracker
	// hidden are keys that were read before and are no longer readable.
	hidden []string
	at     time.Time // time of the latest response
	next   consulx.Position
}

func (k *keyPoller) Poll(q *api.QueryOptions) (meta *api.QueryMeta, err error) {
	k.askedAt = time.Now()
	before := k.known()
	k.answer, meta, err = readKeys(k.o.client.Reader(q), k.watch, k.o.Patterns(), before.last.PairList, q)
	return meta, err
}

func (k *keyPoller) Accept(ctx context.Context, a consulx.Answer) (bool, error) {
	at, before := time.Now(), k.known()
	got := k.answer
	k.answer = keySet{}
	changed, vanished := comparePairs(before.last.Pairs, got.Pairs)
	hidden, err := k.recheckHidden(ctx, got.Pairs, before.hidden, vanished, at)
	if err != nil {
		return false, err
	}
	next := keyState{last: got, hidden: hidden, at: at, next: a.Next}
	first := before.phase != live
	var batch []election.Observation
	if first && !a.Rejected {
		batch = append(batch, election.LinkUp{At: at, Source: k.watch.Name()})
	}
	if sessions := k.o.sessions.Await(ctx, holders(changed), sessionPatience); len(sessions) > 0 {
		batch = append(batch, election.SessionsRead{At: at, Sessions: sessions})
	}
	batch = append(batch, election.KeysRead{
		At: at, Asked: k.askedAt, Range: k.watch.Range, Pairs: got.Pairs, AfterGap: a.Gap, Hidden: hidden, Filtered: got.filtered,
	})
	select {
	case <-k.o.ready:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	news := first || a.Gap || !slices.Equal(hidden, before.hidden) || len(changed) > 0 || len(vanished) > 0
	k.handOver(next, news, !a.Rejected, batch)
	return news, nil
}

// handOver sends a response to the tracker. It sends nothing if the shard was closed, because other shards now read
// its keys and may have sent newer states.
func (k *keyPoller) handOver(next keyState, news, up bool, batch []election.Observation) {
	k.mu.Lock()
	before := k.state
	if k.closed {
		k.mu.Unlock()
		return
	}
	moved := !slices.Equal(next.last.others, before.last.others) ||
		!slices.EqualFunc(next.last.Pairs, before.last.Pairs, func(p, q *election.Pair) bool { return p.Key == q.Key })
	if next.phase = before.phase; up {
		next.phase = live
	}
	k.state = next
	k.o.Fold(news, batch...)
	k.o.sessions.Holding(k.watch.Name(), next.last.Pairs)
	k.mu.Unlock()
	k.o.Deliver()
	if moved || before.phase != live {
		feed.Notify(k.moved)
	}
}

// close ends the query and the reports of this shard. Its state does not change any more.
func (k *keyPoller) close() {
	k.cancel()
	defer k.o.Deliver()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	if k.state.phase != live {
		// This clears the error of the shard. The shards that replace it report their own errors.
		k.o.Fold(false, election.LinkUp{At: time.Now(), Source: k.watch.Name()})
	}
	k.o.sessions.Released(k.watch.Name())
}

func (k *keyPoller) known() keyState {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state
}

func (k *keyPoller) Failed(err error, retryAt time.Time) {
	defer k.o.Deliver()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	before := k.state.phase
	k.state.phase, k.state.next = failing, k.state.next.Lost()
	if before != failing {
		feed.Notify(k.moved)
	}
	part := election.Part{Kind: election.PartKeys, Range: k.watch.Range}
	k.o.Fold(true, lossOf(k.watch.Name(), part, err, k.state.at, retryAt))
}

// comparePairs compares two sorted responses.
func comparePairs(before, after []*election.Pair) (changed []*election.Pair, vanished []string) {
	if len(before) == 0 {
		return after, nil
	}
	i := 0
	for _, p := range after {
		for ; i < len(before) && before[i].Key < p.Key; i++ {
			vanished = append(vanished, before[i].Key)
		}
		if i < len(before) && before[i].Key == p.Key {
			if before[i] != p && !before[i].Identical(p) {
				changed = append(changed, p)
			}
			i++
			continue
		}
		changed = append(changed, p)
	}
	for ; i < len(before); i++ {
		vanished = append(vanished, before[i].Key)
	}
	return changed, vanished
}

// holders returns the sessions that hold these keys. A session can occur several times.
func holders(pairs []*election.Pair) (ids []string) {
	for _, p := range pairs {
		if p.Held() {
			ids = append(ids, p.Session)
		}
		if slots, ok := p.Slots(); ok {
			ids = append(ids, slots.Holders...)
		}
	}
	return ids
}

// keySet is the result of one query for keys.
type keySet struct {
	consulx.PairList          // the elections, sorted by key
	others           []string // keys that are not elections, sorted
	filtered         bool     // ACLs may have removed keys
}

// sort sorts the keys. The order of Consul's response differs only for keys that are not UTF-8. Several of them may look
// the same; only the oldest is kept.
func (a *keySet) sort() {
	// In a response in the usual order, each key is greater than the previous one.
	repeats := func(p, q *election.Pair) int { return cmp.Or(election.ComparePairs(p, q), -1) }
	older := func(p, q *election.Pair) int {
		return cmp.Or(election.ComparePairs(p, q), cmp.Compare(p.CreateIndex, q.CreateIndex))
	}
	if !slices.IsSortedFunc(a.Pairs, repeats) {
		a.PairList = consulx.PairList{Pairs: a.Pairs}
		slices.SortFunc(a.Pairs, older)
		a.Pairs = slices.CompactFunc(a.Pairs, func(p, q *election.Pair) bool { return p.Key == q.Key })
	}
	slices.Sort(a.others)
}

// keys returns all keys, sorted.
func (a keySet) keys() []listedKey {
	keys := make([]listedKey, 0, len(a.Pairs)+len(a.others))
	for _, p := range a.Pairs {
		keys = append(keys, listedKey{Name: p.Key, Election: true})
	}
	for _, key := range a.others {
		keys = append(keys, listedKey{Name: key})
	}
	return unite(keys)
}

// part returns the keys in a range.
func (a keySet) part(r election.Range) keySet {
	from, to := bounds(a.Pairs, r, func(p *election.Pair) string { return p.Key })
	return keySet{PairList: a.Part(from, to), others: cut(a.others, r, itself)}
}

// readKeys reads all keys of a shard. before is the result of the previous read.
func readKeys(c *consulx.Client, w watch, ps election.Patterns, before consulx.PairList, q *api.QueryOptions) (keySet, *api.QueryMeta, error) {
	params := url.Values{}
	if !w.Exact {
		params.Set("recurse", "")
	}
	var got keySet
	meta, err := c.Get("/v1/kv/"+w.Prefix, params, q, c.Buffered(func(body *jsontext.Decoder) (err error) {
		named := true
		got.PairList, err = consulx.DecodePairs(body, before, func(p *election.Pair) bool {
			selected := ps.Selects(p.Key)
			named = named && p.Key != ""
			if !selected {
				got.others = append(got.others, p.Key)
			}
			return selected
		})
		got.sort()
		if err == nil && (len(got.Pairs)+len(got.others) == 0 || !named) {
			err = errors.New("the list of keys is empty or contains null") // Consul sends a 404 instead of an empty list
		}
		return err
	}))
	// Every response to an anonymous request may be filtered. Only an empty response is reported as filtered.
	got.filtered = err == nil && (meta.ResultsFilteredByACLs || c.Filtered(meta) && len(got.Pairs) == 0)
	return got, meta, err
}
