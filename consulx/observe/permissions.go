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
	"electop/internal/crash"
)

// permissions samples which keys are readable. A blocked query does not detect a changed policy, because it keeps its
// old permissions.
type permissions struct {
	mu    sync.Mutex
	known map[string]readableKeys // keys of each watch, by name of the watch
}

// readableKeys contains the keys of one shard after its latest response.
type readableKeys struct {
	readable []election.Pair
	hidden   []string
}

// sampleSize is the number of sampled keys of each kind. If the permissions for a tenth of the keys change, one sample
// detects this with a probability of 97 %. Smaller changes need several samples.
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

// changed reports whether the token gained or lost the permission to read one of the sampled keys. It ignores errors,
// because the probe reports them.
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

// sample chooses keys of every shard at random.
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

// pick returns at most limit distinct random numbers below n.
func pick(n, limit int) []int {
	return rand.Perm(n)[:min(n, limit)] //nolint:gosec // not a secret
}

const (
	// hiddenRecheck and hiddenPace limit how often unreadable keys are checked. 10,000 keys need 157 transactions
	// (about 100 ms) every 20 s.
	hiddenRecheck = 5 * time.Second
	hiddenPace    = 2 * time.Millisecond
)

// hiddenRest returns the interval between checks of unreadable keys.
func hiddenRest(keys int) time.Duration {
	return max(hiddenRecheck, time.Duration(keys)*hiddenPace)
}

// checkKeys divides the existing keys into hidden and readable ones. It reads them in consistent transactions,
// because a blocked query may have used old permissions, and a proxy may have generated its response.
func checkKeys(ctx context.Context, c *consulx.Client, keys []string) (hidden, readable []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, blocking.FreshDeadline)
	defer cancel()
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(consulx.Parallel)
	for some := range slices.Chunk(keys, consulx.TxnReads) {
		g.Go(crash.Guard(func() error {
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
		}))
	}
	err = g.Wait()
	slices.Sort(hidden)
	return hidden, readable, err
}
