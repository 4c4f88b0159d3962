package observe

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/consulx/internal/blocking"
	"electop/consulx/observe/internal/shard"
	"electop/election"
	"electop/election/sanitize"
)

// keyPoller reads the keys of one shard. It sends each response to the tracker as one election.KeysRead.
type keyPoller struct {
	o        *Observer
	watch    shard.Watch
	patterns election.Patterns
	ready    <-chan struct{} // channel that is closed when the tracker can receive responses
	onChange func()          // callback when keys were added or deleted, heavy changed, or queries began to fail or to succeed

	askedAt time.Time
	answer  keySet

	mu       sync.Mutex
	state    keyState
	hiddenAt time.Time
	mismatch mismatch // valid while the phase is mismatched
}

// keyState is the known state of a shard.
type keyState struct {
	phase phase
	last  keySet      // the keys that were last sent to the tracker
	keys  []shard.Key // names of the keys in last
	// hidden are keys that were read before and are no longer readable.
	hidden []string
	at     time.Time // time of the latest response
	next   blocking.Position
	heavy  bool // set if a large response consists mostly of keys that are not elections
}

func (k *keyPoller) Poll(q blocking.Query) (meta *api.QueryMeta, err error) {
	k.askedAt = time.Now()
	before := k.known()
	k.answer, meta, err = readKeys(k.o.client.Reader(q.Reserved), k.watch, k.patterns, before.last.List, before.heavy, q.QueryOptions)
	return meta, err
}

func (k *keyPoller) Accept(ctx context.Context, a blocking.Answer) (bool, error) {
	at, before := time.Now(), k.known()
	got := k.answer
	k.answer = keySet{}
	changed, vanished := comparePairs(before.last.Pairs, got.Pairs)
	filtered := k.o.client.Filtered(a.QueryMeta)
	hidden, err := k.recheckHidden(ctx, got.Pairs, before.hidden, vanished, at)
	if err != nil {
		return false, err
	}
	next := keyState{
		last: got, hidden: hidden, at: at, heavy: before.heavy || got.heavy(),
		next: a.Next,
	}
	first := !before.phase.current()
	var batch []election.Observation
	if first && !a.Rejected {
		batch = append(batch, election.LinkUp{At: at, Source: k.watch.Name()})
	}
	if sessions := k.o.sessions.Await(ctx, holders(changed), k.o.patience); len(sessions) > 0 {
		batch = append(batch, election.SessionsRead{At: at, Sessions: sessions})
	}
	batch = append(batch, election.KeysRead{
		At: at, Asked: k.askedAt, Range: k.watch.Range, Pairs: got.Pairs, AfterGap: a.Gap, Hidden: hidden,
		// Every response to an anonymous request may be filtered. Only an empty response is reported as filtered.
		Filtered: a.ResultsFilteredByACLs || filtered && len(got.Pairs) == 0,
	})
	select {
	case <-k.ready:
	case <-ctx.Done():
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
	if before.phase == closed {
		k.mu.Unlock()
		return
	}
	moved := !next.last.sameKeys(before.last)
	if next.keys = before.keys; moved {
		next.keys = next.last.keys()
	}
	if next.phase = before.phase; up {
		next.phase = before.phase.after(responded)
	}
	k.state = next
	k.o.fold(news, batch...)
	if news {
		k.o.sessions.Holding(k.watch.Name(), holders(next.last.Pairs))
		k.o.permissions.learned(k.watch.Name(), next.last.Pairs, next.hidden)
	}
	k.mu.Unlock()
	k.o.deliver()
	if moved || !before.phase.current() || next.heavy != before.heavy {
		k.onChange()
	}
}

// close ends the reports of this shard and returns its last state.
func (k *keyPoller) close() keyState {
	defer k.o.deliver()
	k.mu.Lock()
	defer k.mu.Unlock()
	state := k.state
	k.state.phase = state.phase.after(replaced)
	if !state.phase.current() {
		// This clears the error of the shard. The shards that replace it report their own errors.
		k.o.fold(false, election.LinkUp{At: time.Now(), Source: k.watch.Name()})
	}
	k.o.sessions.Released(k.watch.Name())
	k.o.permissions.forget(k.watch.Name())
	return state
}

// mismatch is a difference between a shard and the list of names.
type mismatch struct {
	since     time.Time
	listNewer bool // set if the list is newer than the response
}

// compare compares the latest response with the list of names. If they differ, left is the remaining time until the
// older of the two must have been updated.
func (k *keyPoller) compare(list listing) (left time.Duration, differs bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := &k.state
	if !s.phase.current() || !shard.Differ(s.keys, shard.Cut(list.names, k.watch.Range, shard.KeyName)) {
		s.phase = s.phase.after(agreed)
		return 0, false
	}
	listNewer := s.at.Before(list.at)
	if s.phase != mismatched || k.mismatch.listNewer != listNewer {
		k.mismatch = mismatch{since: time.Now(), listNewer: listNewer}
	}
	s.phase = s.phase.after(differed)
	grace := listGrace
	if !listNewer {
		grace += namesRest(len(list.names))
	}
	return grace - time.Since(k.mismatch.since), true
}

func (k *keyPoller) known() keyState {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state
}

func (k *keyPoller) Failed(err error, retryAt time.Time) {
	k.o.log.Debug("query failed", "query", k.watch.Name(), "error", consulx.Describe(err))
	defer k.o.deliver()
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.state.phase
	if before == closed {
		return
	}
	k.state.phase, k.state.next = before.after(failed), k.state.next.Lost()
	if before != failing {
		k.onChange()
	}
	part := election.Part{Kind: election.PartKeys, Range: k.watch.Range}
	k.o.fold(true, lossOf(k.watch.Name(), part, err, k.state.at, retryAt))
}

// recheckHidden returns the keys that exist but are not in the response. It returns ErrReadAgain if one of these keys
// is readable.
func (k *keyPoller) recheckHidden(
	ctx context.Context, pairs []election.Pair, before, vanished []string, at time.Time,
) (hidden []string, err error) {
	missing := slices.DeleteFunc(slices.Clone(before), func(key string) bool {
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
	found, readable, err := checkKeys(ctx, k.o.client, missing)
	if err != nil {
		return nil, err
	}
	if len(readable) > 0 {
		return nil, fmt.Errorf("%w: %s", blocking.ErrReadAgain, sanitize.Line(readable[0], shownKey))
	}
	if due {
		k.hiddenAt = at
	}
	hidden = append(hidden, found...)
	slices.Sort(hidden)
	return hidden, nil
}

// shownKey is the maximum length of a key in an error, in runes.
const shownKey = 100

func byKey(a, b election.Pair) int { return strings.Compare(a.Key, b.Key) }

// comparePairs compares two sorted responses. vanished omits keys that a transaction cannot address.
func comparePairs(before, after []election.Pair) (changed []election.Pair, vanished []string) {
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

// samePair reports whether a key is unchanged. Equal indexes are not sufficient, because after a restore the same
// index can belong to another value.
func samePair(a, b election.Pair) bool {
	return a.ModifyIndex == b.ModifyIndex && a.CreateIndex == b.CreateIndex && a.LockIndex == b.LockIndex &&
		a.Session == b.Session && a.Flags == b.Flags && bytes.Equal(a.Value, b.Value)
}

// holders returns the sessions that hold these keys. A session can occur several times.
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
