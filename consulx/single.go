package consulx

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/consul/api"
	"golang.org/x/sync/errgroup"

	"electop/election"
)

// parallel is how many small reads run at once.
const parallel = 8

// kvOp is one operation of a transaction. Consul takes namespace and partition of
// each operation from the body, not from the URL.
func (c *Client) kvOp(verb api.KVOp, key string) *api.KVTxnOp {
	return &api.KVTxnOp{Verb: verb, Key: key, Namespace: c.namespace, Partition: c.partition}
}

// readKey reads one key, consistently. It does so in a transaction, which names
// keys exactly; a URL is cleaned and may name another key. The answer is nil for
// a key that does not exist and ErrDenied for one that does and may not be read.
func (c *Client) readKey(ctx context.Context, key string) (*election.Pair, error) {
	ops := api.TxnOps{{KV: c.kvOp(api.KVGet, key)}}
	ok, answer, _, err := c.api.Txn().Txn(ops, c.consistent(ctx))
	switch {
	case err != nil:
		return nil, c.wrap(err)
	case !ok:
		return nil, c.readKeyError(answer.Errors)
	case len(answer.Results) == 0 || answer.Results[0].KV == nil:
		return nil, fail(ErrDenied, "key %s may not be read with this token", key)
	}
	pair := toPair(answer.Results[0].KV)
	return &pair, nil
}

func (c *Client) readKeyError(all api.TxnErrors) error {
	text := txnText(all)
	if strings.HasSuffix(text, "doesn't exist") {
		return nil
	}
	if denial(text) {
		return fail(ErrDenied, "%s", c.redact(text))
	}
	return fail(nil, "Consul refuses to read the key: %s", c.redact(text))
}

func txnText(all api.TxnErrors) string {
	texts := make([]string, len(all))
	for i, e := range all {
		texts[i] = e.What
	}
	return strings.Join(texts, "; ")
}

// unreadable picks the keys that exist and may not be read. Many at once are
// mostly keys that were deleted together: a transaction rules these out.
func (c *Client) unreadable(ctx context.Context, keys []string) ([]string, error) {
	var (
		mu     sync.Mutex
		hidden []string
	)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for some := range slices.Chunk(keys, txnReads) {
		g.Go(func() error {
			_, partly, err := c.readPairs(ctx, some)
			if !partly && !errors.Is(err, ErrDenied) {
				return err
			}
			for _, key := range some {
				if _, err := c.readKey(ctx, key); errors.Is(err, ErrDenied) {
					mu.Lock()
					hidden = append(hidden, key)
					mu.Unlock()
				} else if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return hidden, g.Wait()
}
