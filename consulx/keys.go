package consulx

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/election/sanitize"
)

// sessionPatience is how long an answer about keys is held back for the
// sessions of new holders.
const sessionPatience = 50 * time.Millisecond

// keyQuestion asks for the keys of one watch and hands every answer over as one
// election.KeysRead.
type keyQuestion struct {
	o        *Observer
	watch    watch
	patterns election.Patterns
	ready    <-chan struct{} // closed when answers may be handed over
	told     func()          // after an answer with other keys than before, and a first failure

	askedAt time.Time
	answer  reading

	mu       sync.Mutex
	state    keyState
	hiddenAt time.Time
	closed   bool
}

// keyState is how far a question has come.
type keyState struct {
	last reading  // as it was handed over
	keys []listed // in last
	// hidden are keys that were read before and may no longer be read.
	hidden    []string
	delivered bool      // the latest attempt succeeded
	failing   bool      // the latest attempt failed
	at        time.Time // when the latest answer came
	next      position
	heavy     bool // most of what is read is of no use
}

func (k *keyQuestion) ask(q *api.QueryOptions) (meta *api.QueryMeta, err error) {
	k.askedAt = time.Now()
	k.answer, meta, err = k.o.client.waiting.readKeys(k.watch, k.patterns, k.state.last, k.state.heavy, q)
	return meta, err
}

func (k *keyQuestion) take(ctx context.Context, a answered) (bool, error) {
	at := time.Now()
	got := k.answer
	k.answer = reading{}
	changed, vanished := compare(k.state.last.pairs, got.pairs)
	filtered := k.o.client.filtered(a.QueryMeta)
	hidden, err := k.recheckHidden(ctx, got.pairs, vanished, at)
	if err != nil {
		return false, err
	}
	next := keyState{
		last: got, hidden: hidden, delivered: true, at: at, heavy: k.state.heavy || got.heavy(),
		next: a.next,
	}
	first := !k.state.delivered
	var batch []election.Observation
	if first {
		batch = append(batch, election.LinkUp{At: at, Source: k.watch.name()})
	}
	if sessions := k.o.sessions.await(ctx, holders(changed), sessionPatience); len(sessions) > 0 {
		batch = append(batch, election.SessionsRead{At: at, Sessions: sessions})
	}
	batch = append(batch, election.KeysRead{
		At: at, Asked: k.askedAt, Range: k.watch.Range, Pairs: got.pairs, AfterGap: a.gap, Hidden: hidden,
		// To an anonymous caller every answer may be cut short; only an empty
		// one is suspicious.
		Filtered: a.ResultsFilteredByACLs || filtered && len(got.pairs) == 0,
	})
	select {
	case <-k.ready:
	case <-ctx.Done():
	}
	news := first || a.gap || !slices.Equal(hidden, k.state.hidden) || len(changed) > 0 || len(vanished) > 0
	k.handOver(next, news, batch)
	return news, nil
}

// handOver tells the tracker, unless the watch was closed meanwhile: then others
// read its keys and may have told newer things.
func (k *keyQuestion) handOver(next keyState, news bool, batch []election.Observation) {
	k.mu.Lock()
	before := k.state
	if k.closed {
		k.mu.Unlock()
		return
	}
	moved := !next.last.sameKeys(before.last)
	if next.keys = before.keys; moved {
		next.keys = next.last.keys()
	}
	k.state = next
	k.o.fold(news, batch...)
	if news {
		k.o.sessions.holding(k.watch.name(), next.last.pairs)
		k.o.permissions.learned(k.watch.name(), next.last.pairs, next.hidden)
	}
	k.mu.Unlock()
	k.o.deliver()
	if moved || !before.delivered || next.heavy != before.heavy {
		k.told()
	}
}

// close ends what the question tells and gives how far it came.
func (k *keyQuestion) close() keyState {
	defer k.o.deliver()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	if !k.state.delivered {
		// Its trouble is over; whoever reads its keys next tells of their own.
		k.o.fold(false, election.LinkUp{At: time.Now(), Source: k.watch.name()})
	}
	k.o.sessions.released(k.watch.name())
	k.o.permissions.forget(k.watch.name())
	return k.state
}

func (k *keyQuestion) known() keyState {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state
}

func (k *keyQuestion) failed(err error, retryAt time.Time) {
	k.o.log.Debug("query failed", "query", k.watch.name(), "error", Describe(err))
	defer k.o.deliver()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	first := !k.state.failing
	k.state.delivered, k.state.failing, k.state.next = false, true, position{gap: true}
	if first {
		k.told()
	}
	part := election.Part{Kind: election.PartKeys, Range: k.watch.Range}
	k.o.fold(true, lossOf(k.watch.name(), part, err, k.state.at, retryAt))
}

// recheckHidden finds out which keys that are missing in the response exist and
// may not be read. errReadAgain says that one of them may.
func (k *keyQuestion) recheckHidden(
	ctx context.Context, pairs []election.Pair, vanished []string, at time.Time,
) (hidden []string, err error) {
	missing := slices.DeleteFunc(slices.Clone(k.state.hidden), func(key string) bool {
		_, there := slices.BinarySearchFunc(pairs, election.Pair{Key: key}, byKey)
		return there
	})
	due := at.Sub(k.hiddenAt) >= hiddenRest(len(missing))
	if !due {
		hidden, missing = missing, nil
	}
	if missing = append(missing, vanished...); len(missing) == 0 {
		return hidden, nil
	}
	found, readable, err := k.o.client.checkKeys(ctx, missing)
	if err != nil {
		return nil, err
	}
	if len(readable) > 0 {
		return nil, fmt.Errorf("%w: %s", errReadAgain, sanitize.Line(readable[0], shownKey))
	}
	if due {
		k.hiddenAt = at
	}
	hidden = append(hidden, found...)
	slices.Sort(hidden)
	return hidden, nil
}

// shownKey is how much of a key an error shows, in runes.
const shownKey = 100

func byKey(a, b election.Pair) int { return strings.Compare(a.Key, b.Key) }

// compare walks two sorted answers side by side. Vanished are only keys that can be
// asked for.
func compare(before, after []election.Pair) (changed []election.Pair, vanished []string) {
	if len(before) == 0 {
		return after, nil
	}
	i := 0
	for _, p := range after {
		for ; i < len(before) && before[i].Key < p.Key; i++ {
			vanished = append(vanished, before[i].Key)
		}
		if i < len(before) && before[i].Key == p.Key {
			if !samePair(before[i], p) {
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
	return changed, slices.DeleteFunc(vanished, func(key string) bool { return !election.Addressable(key) })
}

// samePair reports that nothing moved. Indexes alone may come again with other
// values, when Consul's data is replaced.
func samePair(a, b election.Pair) bool {
	return a.ModifyIndex == b.ModifyIndex && a.CreateIndex == b.CreateIndex && a.LockIndex == b.LockIndex &&
		a.Session == b.Session && a.Flags == b.Flags && bytes.Equal(a.Value, b.Value)
}

// holders lists the sessions that hold these keys. One that holds several is named
// again and again.
func holders(pairs []election.Pair) []string {
	return appendHolders(make([]string, 0, len(pairs)), pairs)
}

func appendHolders(ids []string, pairs []election.Pair) []string {
	for i := range pairs {
		p := &pairs[i]
		if p.Held() {
			ids = append(ids, p.Session)
		}
		if slots, ok := p.Slots(); ok {
			ids = append(ids, slots.Holders...)
		}
	}
	return ids
}
