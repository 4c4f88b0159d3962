package observe

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/consulx/internal/blocking"
	"electop/election"
)

// permissions samples which keys the token may read: a policy that changes wakes
// no blocked query, and one that is already blocked keeps its old permissions.
type permissions struct {
	mu    sync.Mutex
	known map[string]readableKeys // by watch
}

// readableKeys are the keys of one watch by what its latest response showed.
type readableKeys struct {
	readable []election.Pair
	hidden   []string
}

// sampleSize is how many keys of each kind one check reads. A change that
// concerns a tenth of the keys is noticed with 97 % probability; a change of
// fewer is noticed by the next response of their query.
const sampleSize = consulx.TxnReads / 2

func newPermissions() *permissions { return &permissions{known: map[string]readableKeys{}} }

func (p *permissions) learned(watch string, readable []election.Pair, hidden []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[watch] = readableKeys{readable, hidden}
}

func (p *permissions) forget(watch string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.known, watch)
}

// changed reports that a key became readable or unreadable since its query last
// responded. An error says nothing about permissions: the probe reports it.
func (p *permissions) changed(ctx context.Context, c *consulx.Client) bool {
	readable, hidden := p.sample()
	if len(readable)+len(hidden) == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	nowHidden, nowReadable, err := checkKeys(ctx, c, append(slices.Clone(readable), hidden...))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(nowHidden, func(key string) bool { return slices.Contains(readable, key) }) ||
		slices.ContainsFunc(nowReadable, func(key string) bool { return slices.Contains(hidden, key) })
}

// sample picks keys at random, from every watch alike.
func (p *permissions) sample() (readable, hidden []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, keys := range slices.Collect(maps.Values(p.known)) {
		each := max(1, sampleSize/len(p.known))
		for _, i := range pick(len(keys.readable), each) {
			readable = append(readable, keys.readable[i].Key)
		}
		for _, i := range pick(len(keys.hidden), each) {
			hidden = append(hidden, keys.hidden[i])
		}
	}
	return readable, hidden
}

// pick gives at most limit different numbers below n.
func pick(n, limit int) []int {
	if n <= limit {
		limit = n
	}
	chosen := map[int]bool{}
	for len(chosen) < limit {
		chosen[rand.IntN(n)] = true //nolint:gosec // nothing secret depends on it
	}
	return slices.Collect(maps.Keys(chosen))
}

const (
	// hiddenRecheck and hiddenPace space the checks of unreadable keys: 10,000 of
	// them take 157 transactions, about 100 ms, every 20 s.
	hiddenRecheck = 5 * time.Second
	hiddenPace    = 2 * time.Millisecond
)

// hiddenRest is how long so many unreadable keys are not checked again.
func hiddenRest(keys int) time.Duration {
	return max(hiddenRecheck, time.Duration(keys)*hiddenPace)
}

// checkKeys finds out what keys are that a response lacks: hidden ones exist and
// may not be read, readable ones exist; all others do not. A blocked query may
// still have used permissions that were replaced since, and a proxy may have
// invented its response, so only an exact and consistent transaction decides.
func checkKeys(ctx context.Context, c *consulx.Client, keys []string) (hidden, readable []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, blocking.FreshDeadline)
	defer cancel()
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(consulx.Parallel)
	for some := range slices.Chunk(keys, consulx.TxnReads) {
		g.Go(func() error {
			pairs, exist, err := c.ReadExisting(some, c.Consistent(ctx))
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			for _, p := range pairs {
				readable = append(readable, p.Key)
			}
			for _, key := range exist {
				if !slices.ContainsFunc(pairs, func(p election.Pair) bool { return p.Key == key }) {
					hidden = append(hidden, key)
				}
			}
			return nil
		})
	}
	err = g.Wait()
	slices.Sort(hidden)
	return hidden, readable, err
}
