package consulx

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

const (
	// sessionPatience is how long an answer about keys is held back for the
	// sessions of new holders.
	sessionPatience = 50 * time.Millisecond
	// hiddenRecheck spaces the questions about keys that may not be read.
	hiddenRecheck = 5 * time.Second
)

// keyQuestion asks for the keys of one watch and hands every answer over as one
// election.KeysRead.
type keyQuestion struct {
	o        *Observer
	watch    watch
	patterns election.Patterns
	wait     time.Duration
	ready    <-chan struct{} // closed when answers may be handed over
	told     func()          // after an answer with other keys than before, and a first failure

	asked   uint64 // the index of the question
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
	k.asked, k.askedAt = q.WaitIndex, time.Now()
	k.answer, meta, err = k.o.client.readKeys(k.watch, k.patterns, k.state.last, k.state.heavy, q)
	return meta, err
}

func (k *keyQuestion) take(ctx context.Context, meta *api.QueryMeta, gap bool) (bool, error) {
	at := time.Now()
	got := k.answer
	k.answer = reading{}
	changed, vanished := compare(k.state.last.pairs, got.pairs)
	filtered := k.o.client.filtered(meta)
	hidden, err := k.recheckHidden(ctx, got.pairs, vanished, k.o.client.doubtful(meta), at)
	if err != nil {
		return false, err
	}
	next := keyState{
		last: got, hidden: hidden, delivered: true, at: at, heavy: k.state.heavy || got.heavy(),
		next: position{index: nextIndex(k.asked, meta.LastIndex, at.Sub(k.askedAt), k.wait), round: roundOf(ctx)},
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
		At: at, Asked: k.askedAt, Range: k.watch.Range, Pairs: got.pairs, AfterGap: gap, Hidden: hidden,
		// To an anonymous caller every answer may be cut short; only an empty
		// one is suspicious.
		Filtered: meta.ResultsFilteredByACLs || filtered && len(got.pairs) == 0,
	})
	select {
	case <-k.ready:
	case <-ctx.Done():
	}
	news := first || gap || !slices.Equal(hidden, k.state.hidden) || len(changed) > 0 || len(vanished) > 0
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
	k.o.send(news, batch...)
	if news {
		k.o.sessions.holding(k.watch.name(), next.last.pairs)
	}
	k.mu.Unlock()
	if moved || !before.delivered || next.heavy != before.heavy {
		k.told()
	}
}

// close ends what the question tells and gives how far it came.
func (k *keyQuestion) close() keyState {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	if !k.state.delivered {
		// Its trouble is over; whoever reads its keys next tells of their own.
		k.o.send(false, election.LinkUp{At: time.Now(), Source: k.watch.name()})
	}
	k.o.sessions.released(k.watch.name())
	return k.state
}

func (k *keyQuestion) known() keyState {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state
}

func (k *keyQuestion) failed(err error, retryAt time.Time) {
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
	k.o.log.Debug("query failed", "query", k.watch.name(), "error", Describe(err))
	k.o.send(true, election.LinkLost{
		At: time.Now(), Source: k.watch.name(), Error: Describe(err), RetryAt: retryAt,
		Refused: errors.Is(err, ErrDenied),
	})
}

// recheckHidden finds out which keys that are missing in the answer are there
// and may not be read.
func (k *keyQuestion) recheckHidden(
	ctx context.Context, pairs []election.Pair, vanished []string, doubtful bool, at time.Time,
) (hidden []string, err error) {
	missing := slices.DeleteFunc(slices.Clone(k.state.hidden), func(key string) bool {
		_, there := slices.BinarySearchFunc(pairs, election.Pair{Key: key}, byKey)
		return there
	})
	if !doubtful {
		missing, vanished = nil, nil
	}
	due := len(vanished) > 0 || at.Sub(k.hiddenAt) >= hiddenRecheck
	if len(missing)+len(vanished) > 0 && due {
		missing, err = k.o.client.unreadable(ctx, append(missing, vanished...))
		if err != nil {
			return nil, err
		}
		k.hiddenAt = at
	}
	slices.Sort(missing)
	return missing, nil
}

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
