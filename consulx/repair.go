package consulx

import (
	"context"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/election/sanitize"
)

// SetFlags writes a free key with the same value and other flags, only if the key is
// still as p was read; otherwise ErrMoved, nothing written. A write to a held key would
// set its LockIndex to 0, so that it is refused.
func (op *Operator) SetFlags(ctx context.Context, p election.Pair, flags uint64) error {
	set := op.client.kvOp(api.KVCAS, p.Key)
	set.Index, set.Value, set.Flags = p.ModifyIndex, p.Value, flags
	return op.client.repair(ctx, p, set)
}

// DeleteFree deletes a free key, only if it is still as p was read; otherwise ErrMoved,
// nothing written.
func (op *Operator) DeleteFree(ctx context.Context, p election.Pair) error {
	remove := op.client.kvOp(api.KVDeleteCAS, p.Key)
	remove.Index = p.ModifyIndex
	return op.client.repair(ctx, p, remove)
}

// repair writes a key that no session holds. The index of the write proves that p is
// current.
func (c *Client) repair(ctx context.Context, p election.Pair, write *api.KVTxnOp) error {
	switch {
	case !election.Addressable(p.Key):
		return Fail(ErrRefused, "%s is not UTF-8, so that the key cannot be addressed; nothing was written", sanitize.Line(p.Key, 100))
	case p.Held():
		return Fail(ErrMoved, "%s is held; nothing was written", p.Key)
	case p.ModifyIndex == 0: // check-and-set with index 0 has another meaning
		return Fail(ErrMoved, "%s does not exist; nothing was written", p.Key)
	}
	index := c.kvOp(api.KVCheckIndex, p.Key)
	index.Index = p.ModifyIndex
	ok, answer, err := c.writeTxn(ctx, api.TxnOps{{KV: index}, {KV: write}})
	switch {
	case tooLarge(err):
		return Fail(ErrRefused, "the value of %s is too large for a transaction; nothing was written", sanitize.Line(p.Key, 100))
	case err != nil:
		return c.unconfirmed(ctx, err, "the write", func(ctx context.Context) (string, error) { return c.keyNow(ctx, p.Key) })
	case ok:
		return nil
	}
	return c.txnError(p.Key, answer.Errors)
}
