package observe

import (
	"net/url"
	"slices"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/consulx/observe/internal/shard"
	"electop/election"
)

// readKeys reads all keys of a watch. sparing reads the names of the keys first
// and then only the elections: that is cheaper where large values are beside them.
func readKeys(c *consulx.Client, w shard.Watch, ps election.Patterns, sparing bool, q *api.QueryOptions) (keySet, *api.QueryMeta, error) {
	if sparing && !w.Exact {
		return readSparingly(c, w, ps, q)
	}
	params := url.Values{}
	if !w.Exact {
		params.Set("recurse", "")
	}
	var pairs []election.Pair
	meta, err := c.Get("/v1/kv/"+w.Prefix, params, q, &pairs)
	return newKeySet(pairs, ps), meta, err
}

// readSparingly waits for the names of keys and reads the elections among them
// afterwards, in transactions. A key that changes in between wakes the next
// query, which waits beyond the index of the names.
func readSparingly(c *consulx.Client, w shard.Watch, ps election.Patterns, q *api.QueryOptions) (keySet, *api.QueryMeta, error) {
	names, meta, err := readNames(c, w.Prefix, ps, q)
	if err != nil {
		return keySet{}, nil, err
	}
	var got keySet
	var wanted []string
	for _, name := range names {
		if name.Election && !election.Addressable(name.Name) {
			// A transaction cannot name it.
			all := *q
			all.WaitIndex = 0
			got, _, err = readKeys(c, w, ps, false, &all)
			return got, meta, err
		}
		if name.Election {
			wanted = append(wanted, name.Name)
		} else {
			got.others = append(got.others, name.Name)
		}
	}
	for some := range slices.Chunk(wanted, consulx.TxnReads) {
		// A server that lags behind could give values from before the names.
		pairs, _, err := c.ReadExisting(some, c.Consistent(q.Context()))
		if err != nil {
			return keySet{}, nil, err
		}
		got.pairs = append(got.pairs, pairs...)
	}
	return got, meta, nil
}

// readNames lists the keys under a prefix, sorted, and tells elections.
func readNames(c *consulx.Client, prefix string, ps election.Patterns, q *api.QueryOptions) ([]shard.Key, *api.QueryMeta, error) {
	keys, meta, err := c.KeyNames(prefix, q)
	if err != nil {
		return nil, nil, err
	}
	names := make([]shard.Key, len(keys))
	for i, key := range keys {
		_, ok := ps.Match(key)
		names[i] = shard.Key{Name: key, Election: ok}
	}
	return shard.Unite(names), meta, nil
}
