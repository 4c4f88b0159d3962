package consulx

import (
	"bytes"
	"context"
	"hash/maphash"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/internal/crash"
)

const (
	// TxnReads is the maximum number of keys per transaction: Consul allows 128 operations, and a value may have up to
	// 512 KiB.
	TxnReads = 64
	// vanishTries is the maximum number of attempts of a transaction that fails because keys were deleted
	// concurrently.
	vanishTries = 8
)

// ReadExisting reads at most TxnReads keys. exist contains the keys that exist. pairs contains the readable keys.
func (c *Client) ReadExisting(keys []string, q *api.QueryOptions) (pairs []election.Pair, exist []string, err error) {
	for range vanishTries {
		if len(keys) == 0 {
			return nil, nil, nil
		}
		ops := make(api.TxnOps, len(keys))
		for i, key := range keys {
			ops[i] = &api.TxnOp{KV: c.kvOp(api.KVGet, key)}
		}
		ok, answer, err := c.readTxn(ops, q)
		switch {
		case err != nil:
			return nil, nil, c.Wrap(err)
		case ok:
			pairs := make([]election.Pair, 0, len(answer.Results))
			for _, r := range answer.Results {
				if r.KV != nil {
					pairs = append(pairs, PairOf(r.KV))
				}
			}
			return pairs, keys, nil
		}
		rest := existing(keys, answer.Errors)
		if len(rest) == len(keys) {
			return nil, nil, c.txnError(answer.Errors, nil, "Consul rejected the read: %s")
		}
		keys = rest
	}
	return nil, nil, Fail(nil, "keys were deleted while electop read them; try again")
}

// readTxn runs a transaction that only reads.
func (c *Client) readTxn(ops api.TxnOps, q *api.QueryOptions) (bool, *api.TxnResponse, error) {
	ok, answer, meta, err := c.api.Txn().Txn(ops, q)
	if err == nil {
		err = checkTxn(answer)
	}
	// Consul filters keys that the token cannot read. Its response, unlike a proxy's, has this header.
	if err == nil && ok && len(answer.Results) == 0 && !meta.KnownLeader && !q.AllowStale {
		err = NotConsul("it has no header X-Consul-Knownleader")
	}
	return ok, answer, err
}

// checkTxn returns an error for a response with a null element, which Consul never sends.
func checkTxn(answer *api.TxnResponse) error {
	if slices.Contains(answer.Results, nil) || slices.Contains(answer.Errors, nil) {
		return NotConsul("a list in it contains null")
	}
	return nil
}

// existing returns the keys that exist according to a failed transaction.
func existing(keys []string, all api.TxnErrors) []string {
	gone := map[int]bool{}
	for _, e := range all {
		if strings.HasSuffix(e.What, "doesn't exist") {
			gone[e.OpIndex] = true
		}
	}
	rest := make([]string, 0, len(keys))
	for i, key := range keys {
		if !gone[i] {
			rest = append(rest, key)
		}
	}
	return rest
}

// KeyNames reads the names of the keys under a prefix.
func (c *Client) KeyNames(prefix string, q *api.QueryOptions) (keys []string, meta *api.QueryMeta, err error) {
	keys, _, meta, err = c.KeyNamesUnless(prefix, 0, new(bytes.Buffer), q)
	return keys, meta, err
}

// KeyNamesUnless reads the names of the keys under a prefix with a buffer. It returns the hash of the response, which is 0
// if there are no keys. If the hash is known, it does not decode the names: a list of 10,000 takes 4 ms (`make bench`).
func (c *Client) KeyNamesUnless(prefix string, known uint64, text *bytes.Buffer, q *api.QueryOptions) (keys []string, sum uint64, meta *api.QueryMeta, err error) {
	text.Reset()
	meta, err = c.Get("/v1/kv/"+prefix, url.Values{"keys": {""}}, q, func(body io.Reader) error {
		if _, err := text.ReadFrom(body); err != nil {
			return err
		}
		if sum = maphash.Bytes(seed, text.Bytes()); sum == known {
			return nil
		}
		if err := jsonv2.Unmarshal(text.Bytes(), &keys, election.JSONOptions); err != nil || keys != nil {
			return err
		}
		return NotConsul("the list of keys is null")
	})
	if err == nil && sum == 0 && prefix == "" { // Get does not decode a 404, which Consul never sends here
		err = c.Wrap(api.StatusError{Code: http.StatusNotFound})
	}
	return keys, sum, meta, err
}

// ListKeys lists every key under a prefix. If some are not readable, it returns the readable ones and ErrIncomplete.
func (c *Client) ListKeys(ctx context.Context, prefix string) ([]string, error) {
	keys, meta, err := c.KeyNames(LiteralPrefix(prefix), c.Read(ctx))
	keys = slices.DeleteFunc(keys, func(key string) bool { return !strings.HasPrefix(key, prefix) })
	switch {
	case err != nil:
		return nil, err
	case len(keys) == 0 && c.Filtered(meta):
		return nil, Fail(ErrDenied, "keys with the prefix %q cannot be read with this token", prefix)
	case c.Filtered(meta):
		return keys, incomplete("keys")
	}
	return keys, nil
}

// Parallel is the maximum number of concurrent small reads.
const Parallel = 8

// ReadEach returns the results of read for each distinct key.
func ReadEach[T any](keys []string, read func(key string) T) map[string]T {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	results := make([]T, len(keys))
	crash.Each(len(keys), Parallel, func(i int) { results[i] = read(keys[i]) })
	found := make(map[string]T, len(keys))
	for i, key := range keys {
		found[key] = results[i]
	}
	return found
}

// kvOp returns one operation of a transaction. Consul reads the operation's namespace and partition from the body,
// not from the URL.
func (c *Client) kvOp(verb api.KVOp, key string) *api.KVTxnOp {
	return &api.KVTxnOp{Verb: verb, Key: key, Namespace: c.namespace, Partition: c.partition}
}

// ReadKey reads one key in consistent mode. It returns nil if the key does not exist, and ErrDenied if the token may
// not read it. It uses a transaction, because Consul normalizes keys in URLs.
func (c *Client) ReadKey(ctx context.Context, key string) (*election.Pair, error) {
	switch pairs, exist, err := c.ReadExisting([]string{key}, c.Consistent(ctx)); {
	case err != nil || len(exist) == 0:
		return nil, err
	case len(pairs) == 0:
		return nil, Fail(ErrDenied, "key %s cannot be read with this token", key)
	default:
		return &pairs[0], nil
	}
}

func txnText(all api.TxnErrors) string {
	return strings.Join(election.Map(all, func(e *api.TxnError) string { return e.What }), "; ")
}
