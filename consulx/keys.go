package consulx

import (
	"context"
	"errors"
	"slices"
	"strings"
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
	answer   api.KVPairs
	// last is the latest answer's keys that are elections.
	last []election.Pair
	// hidden are keys that were read before and may no longer be read.
	hidden    []string
	hiddenAt  time.Time
	passedBy  map[string]bool // keys that are no elections
	delivered bool            // the latest attempt succeeded
	ready     <-chan struct{} // closed when answers may be handed over
}

func (k *keyQuestion) ask(q *api.QueryOptions) (meta *api.QueryMeta, err error) {
	k.answer, meta, err = k.o.client.readKeys(k.watch, q)
	return meta, err
}

// readKeys reads all keys of a watch.
func (c *Client) readKeys(w watch, q *api.QueryOptions) (api.KVPairs, *api.QueryMeta, error) {
	if !w.Exact {
		pairs, meta, err := c.api.KV().List(w.Prefix, q)
		return pairs, meta, c.wrap(err)
	}
	pair, meta, err := c.api.KV().Get(w.Prefix, q)
	if err != nil || pair == nil {
		return nil, meta, c.wrap(err)
	}
	return api.KVPairs{pair}, meta, nil
}

func (k *keyQuestion) take(ctx context.Context, meta *api.QueryMeta, gap bool) (bool, error) {
	at := time.Now()
	pairs := k.elections()
	changed, vanished := compare(k.last, pairs)
	filtered := k.o.client.filtered(meta)
	recheck, err := k.recheckHidden(ctx, pairs, vanished, k.o.client.doubtful(meta), at)
	if err != nil {
		return false, err
	}
	first := !k.delivered
	k.last, k.delivered = pairs, true
	var batch []election.Observation
	if first {
		batch = append(batch, election.LinkUp{At: at, Source: k.watch.name()})
	}
	if sessions := k.o.sessions.await(ctx, holders(changed), sessionPatience); len(sessions) > 0 {
		batch = append(batch, election.SessionsRead{At: at, Sessions: sessions})
	}
	batch = append(batch, election.KeysRead{
		At: at, Range: k.watch.Range, Pairs: pairs, AfterGap: gap, Hidden: k.hidden,
		// To an anonymous caller every answer may be cut short; only an empty
		// one is suspicious.
		Filtered: meta.ResultsFilteredByACLs || filtered && len(pairs) == 0,
	})
	k.o.sessions.holding(k.watch.name(), pairs)
	select {
	case <-k.ready:
	case <-ctx.Done():
	}
	news := first || gap || recheck || len(changed) > 0 || len(vanished) > 0
	k.o.send(news, batch...)
	return news, nil
}

func (k *keyQuestion) failed(err error, retryAt time.Time) {
	k.delivered = false
	k.o.log.Debug("query failed", "query", k.watch.name(), "error", Describe(err))
	k.o.send(true, election.LinkLost{
		At: time.Now(), Source: k.watch.name(), Error: Describe(err), RetryAt: retryAt,
		Refused: errors.Is(err, ErrDenied),
	})
}

// elections are the pairs of the answer that a pattern matches, sorted.
func (k *keyQuestion) elections() []election.Pair {
	pairs := make([]election.Pair, 0, min(len(k.answer), len(k.last)+16))
	passed := map[string]bool{}
	for _, p := range k.answer {
		switch {
		case !k.watch.Range.Contains(p.Key):
		case k.passedBy[p.Key]:
			passed[p.Key] = true
		case k.isElection(p.Key):
			pairs = append(pairs, toPair(p))
		default:
			passed[p.Key] = true
		}
	}
	// What was passed by is remembered because matching costs more than
	// reading; only what is still there, so that it does not grow.
	k.passedBy, k.answer = passed, nil
	if !slices.IsSortedFunc(pairs, byKey) {
		slices.SortFunc(pairs, byKey)
	}
	return pairs
}

func (k *keyQuestion) isElection(key string) bool {
	if _, known := slices.BinarySearchFunc(k.last, election.Pair{Key: key}, byKey); known {
		return true
	}
	_, ok := k.patterns.Match(key)
	return ok
}

// recheckHidden finds out which keys that are missing in the answer are there
// and may not be read.
func (k *keyQuestion) recheckHidden(
	ctx context.Context, pairs []election.Pair, vanished []string, doubtful bool, at time.Time,
) (changed bool, err error) {
	missing := slices.DeleteFunc(slices.Clone(k.hidden), func(key string) bool {
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
			return false, err
		}
		k.hiddenAt = at
	}
	slices.Sort(missing)
	changed = !slices.Equal(missing, k.hidden)
	k.hidden = missing
	return changed, nil
}

func byKey(a, b election.Pair) int { return strings.Compare(a.Key, b.Key) }

// compare walks two sorted answers side by side.
func compare(before, after []election.Pair) (changed []election.Pair, vanished []string) {
	i := 0
	for _, p := range after {
		for ; i < len(before) && before[i].Key < p.Key; i++ {
			vanished = append(vanished, before[i].Key)
		}
		if i < len(before) && before[i].Key == p.Key {
			if before[i].ModifyIndex != p.ModifyIndex || before[i].Session != p.Session {
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

// holders lists the sessions that hold these keys, each once.
func holders(pairs []election.Pair) []string {
	var ids []string
	for _, p := range pairs {
		if p.Held() {
			ids = append(ids, p.Session)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
