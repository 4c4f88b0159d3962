package consulx

import (
	"github.com/hashicorp/consul/api"

	"electop/election"
)

// readKeys reads all keys of a watch. before is what the same watch or a wider
// one read last; what did not move since is taken from there. sparing reads the
// names of the keys first and then the elections among them only: that is
// cheaper where large values stand beside them.
func (c *Client) readKeys(
	w watch, ps election.Patterns, before reading, sparing bool, q *api.QueryOptions,
) (reading, *api.QueryMeta, error) {
	if sparing && !w.Exact {
		return c.readSparingly(w, ps, before, q)
	}
	t := &tap{}
	asked := q.WaitIndex
	q = q.WithContext(tapped(q.Context(), t))
	var meta *api.QueryMeta
	var err error
	if w.Exact {
		_, meta, err = c.api.KV().Get(w.Prefix, q)
	} else {
		_, meta, err = c.api.KV().List(w.Prefix, q)
	}
	if err != nil {
		return reading{}, nil, c.wrap(err)
	}
	take := collector{watch: w, patterns: ps, before: before, trust: asked > 0 && meta.LastIndex >= asked}
	size, err := c.buffers.with(t, take.read)
	if err != nil {
		return reading{}, nil, c.wrap(err)
	}
	return take.finish(size), meta, nil
}

// readSparingly waits for the names of keys and reads the elections among them
// afterwards, in transactions. A key that changes in between wakes the next
// question, which waits beyond the index of the names.
func (c *Client) readSparingly(w watch, ps election.Patterns, before reading, q *api.QueryOptions) (reading, *api.QueryMeta, error) {
	names, meta, err := c.readNames(w.Prefix, ps, before.keys(), q)
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
			got, _, err = c.readKeys(w, ps, before, false, &all)
			return got, meta, err
		}
		if name.election {
			wanted = append(wanted, name.key)
		} else {
			got.passed = append(got.passed, name.key)
		}
	}
	for len(wanted) > 0 {
		n := min(len(wanted), txnReads)
		// A server that lags behind could give values from before the names.
		pairs, _, err := c.readExisting(wanted[:n], c.consistent(q.Context()))
		if err != nil {
			return reading{}, nil, err
		}
		got.pairs = append(got.pairs, pairs...)
		wanted = wanted[n:]
	}
	return got, meta, nil
}

// readNames lists the keys under a prefix, sorted, and tells elections. before
// are those listed last.
func (c *Client) readNames(prefix string, ps election.Patterns, before []listed, q *api.QueryOptions) ([]listed, *api.QueryMeta, error) {
	t := &tap{}
	_, meta, err := c.api.KV().Keys(prefix, "", q.WithContext(tapped(q.Context(), t)))
	if err != nil {
		return nil, nil, c.wrap(err)
	}
	names := make([]listed, 0, len(before)+1)
	i := 0
	_, err = c.buffers.with(t, func(text []byte) error {
		return eachName(text, func(name []byte) {
			if name == nil {
				names, i = names[:0], 0
				return
			}
			for i < len(before) && before[i].key < string(name) {
				i++
			}
			if i < len(before) && before[i].key == string(name) {
				names = append(names, before[i])
				return
			}
			key := string(name)
			_, ok := ps.Match(key)
			names = append(names, listed{key: key, election: ok})
		})
	})
	return unite(names), meta, c.wrap(err)
}
