package consulx

import (
	"net/url"
	"slices"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

// readKeys reads all keys of a watch. sparing reads the names of the keys first
// and then only the elections: that is cheaper where large values are beside them.
func (c *Client) readKeys(w watch, ps election.Patterns, sparing bool, q *api.QueryOptions) (reading, *api.QueryMeta, error) {
	if sparing && !w.Exact {
		return c.readSparingly(w, ps, q)
	}
	params := url.Values{}
	if !w.Exact {
		params.Set("recurse", "")
	}
	var pairs []election.Pair
	meta, err := c.get("/v1/kv/"+w.Prefix, params, q, &pairs)
	return newReading(pairs, ps), meta, err
}

// readSparingly waits for the names of keys and reads the elections among them
// afterwards, in transactions. A key that changes in between wakes the next
// query, which waits beyond the index of the names.
func (c *Client) readSparingly(w watch, ps election.Patterns, q *api.QueryOptions) (reading, *api.QueryMeta, error) {
	names, meta, err := c.readNames(w.Prefix, ps, q)
	if err != nil {
		return reading{}, nil, err
	}
	var got reading
	var wanted []string
	for _, name := range names {
		if name.election && !election.Addressable(name.key) {
			// A transaction cannot name it.
			all := *q
			all.WaitIndex = 0
			got, _, err = c.readKeys(w, ps, false, &all)
			return got, meta, err
		}
		if name.election {
			wanted = append(wanted, name.key)
		} else {
			got.passed = append(got.passed, name.key)
		}
	}
	for some := range slices.Chunk(wanted, txnReads) {
		// A server that lags behind could give values from before the names.
		pairs, _, err := c.readExisting(some, c.consistent(q.Context()))
		if err != nil {
			return reading{}, nil, err
		}
		got.pairs = append(got.pairs, pairs...)
	}
	return got, meta, nil
}

// readNames lists the keys under a prefix, sorted, and tells elections.
func (c *Client) readNames(prefix string, ps election.Patterns, q *api.QueryOptions) ([]listed, *api.QueryMeta, error) {
	keys, meta, err := c.keyNames(prefix, q)
	if err != nil {
		return nil, nil, err
	}
	names := make([]listed, len(keys))
	for i, key := range keys {
		_, ok := ps.Match(key)
		names[i] = listed{key: key, election: ok}
	}
	return unite(names), meta, nil
}
