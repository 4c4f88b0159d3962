package observe

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/consulx/internal/blocking"
	"electop/election"
)

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
