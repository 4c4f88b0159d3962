package consulx

import (
	"context"
	"strings"

	"github.com/hashicorp/consul/api"

	"electop/consulx/internal/wire"
	"electop/election"
)

// Parallel is how many small reads run at once.
const Parallel = 8

// kvOp is one operation of a transaction. Consul takes namespace and partition of
// each operation from the body, not from the URL.
func (c *Client) kvOp(verb api.KVOp, key string) *api.KVTxnOp {
	return &api.KVTxnOp{Verb: verb, Key: key, Namespace: c.namespace, Partition: c.partition}
}

// ReadKey reads one key, consistently. It does so in a transaction, which names
// keys exactly; a URL is cleaned and may name another key. The answer is nil for
// a key that does not exist and ErrDenied for one that does and may not be read.
func (c *Client) ReadKey(ctx context.Context, key string) (*election.Pair, error) {
	ops := api.TxnOps{{KV: c.kvOp(api.KVGet, key)}}
	ok, answer, _, err := c.api.Txn().Txn(ops, c.Consistent(ctx))
	switch {
	case err != nil:
		return nil, c.Wrap(err)
	case !ok:
		return nil, c.readKeyError(answer.Errors)
	case len(answer.Results) == 0 || answer.Results[0].KV == nil:
		return nil, Fail(ErrDenied, "key %s may not be read with this token", key)
	}
	pair := wire.Pair(answer.Results[0].KV)
	return &pair, nil
}

func (c *Client) readKeyError(all api.TxnErrors) error {
	text := txnText(all)
	if strings.HasSuffix(text, "doesn't exist") {
		return nil
	}
	if txnDenial(all) {
		return Fail(ErrDenied, "%s", c.redact(text))
	}
	return Fail(nil, "Consul refuses to read the key: %s", c.redact(text))
}

func txnText(all api.TxnErrors) string {
	texts := make([]string, len(all))
	for i, e := range all {
		texts[i] = e.What
	}
	return strings.Join(texts, "; ")
}
