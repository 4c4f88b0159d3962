package observe

import (
	"context"
	"fmt"
	"slices"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/election/sanitize"
)

const (
	// hiddenRecheck and hiddenPace limit how often unreadable keys are checked. 10,000 keys need 157 transactions
	// (less than a second) every 20 s.
	hiddenRecheck = 5 * time.Second
	hiddenPace    = 2 * time.Millisecond
)

// checkKeys divides the existing keys into hidden and readable ones. It reads them in consistent transactions,
// because a blocked query may have used old permissions, and a proxy may have generated its response.
func checkKeys(ctx context.Context, c *consulx.Client, keys []string) (hidden, readable []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, consulx.FreshDeadline)
	defer cancel()
	for some := range slices.Chunk(keys, consulx.TxnReads) {
		pairs, exist, err := c.ReadExisting(some, c.Consistent(ctx))
		if err != nil {
			return nil, nil, err
		}
		for _, p := range pairs {
			readable = append(readable, p.Key)
		}
		for _, key := range exist {
			if !slices.ContainsFunc(pairs, func(p election.Pair) bool { return p.Key == key }) {
				hidden = append(hidden, key)
			}
		}
	}
	slices.Sort(hidden)
	return hidden, readable, nil
}

// recheckHidden returns the keys that exist but are not in the response. It returns ErrReadAgain if one of these keys
// is readable.
func (k *keyPoller) recheckHidden(
	ctx context.Context, pairs []*election.Pair, before, vanished []string, at time.Time,
) (hidden []string, err error) {
	missing := election.Without(before, func(key string) bool {
		_, there := slices.BinarySearchFunc(pairs, &election.Pair{Key: key}, election.ComparePairs)
		return there
	})
	due := at.Sub(k.hiddenAt) >= max(hiddenRecheck, time.Duration(len(missing))*hiddenPace)
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
		return nil, fmt.Errorf("%w: %s", consulx.ErrReadAgain, sanitize.Line(readable[0], 100))
	}
	if due {
		k.hiddenAt = at
	}
	hidden = append(hidden, found...)
	slices.Sort(hidden)
	return hidden, nil
}
