package observe

import (
	"encoding/base64"
	"errors"
	"net/url"
	"slices"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/consulx/internal/wire"
	"electop/consulx/observe/internal/shard"
	"electop/election"
)

// keySet is the result of one query for keys.
type keySet struct {
	wire.List          // the elections, sorted by key
	others    []string // keys that are not elections, sorted
	size      int      // approximate size of the whole response, in bytes
	useful    int      // approximate size of the elections in the response, in bytes
}

const (
	// heavySize and heavyShare determine how the next query reads the keys: if a response is larger than heavySize and
	// elections make up less than a fourth of it, the next query reads the elections separately.
	heavySize  = 128 << 10
	heavyShare = 4
)

// pairOverhead is the approximate size of a pair in a response, in bytes, without the key, the value and the session.
const pairOverhead = 100

// newKeySet separates elections from other keys. It reuses the memory of list.
func newKeySet(list wire.List, ps election.Patterns) keySet {
	got := keySet{List: list}
	got.Keep(func(p *election.Pair) bool {
		size := len(p.Key) + base64.StdEncoding.EncodedLen(len(p.Value)) + len(p.Session) + pairOverhead
		got.size += size
		if _, ok := ps.Match(p.Key); !ok {
			got.others = append(got.others, p.Key)
			return false
		}
		got.useful += size
		return true
	})
	got.sort()
	return got
}

// sort sorts the keys. The order of Consul's response differs only for keys that are not UTF-8.
func (a *keySet) sort() {
	if !slices.IsSortedFunc(a.Pairs, election.ComparePairs) {
		a.List = wire.List{Pairs: a.Pairs}
		slices.SortFunc(a.Pairs, election.ComparePairs)
	}
	if !slices.IsSorted(a.others) {
		slices.Sort(a.others)
	}
}

// keys returns all keys, sorted.
func (a keySet) keys() []shard.Key {
	keys := make([]shard.Key, 0, len(a.Pairs)+len(a.others))
	i := 0
	for _, p := range a.Pairs {
		for ; i < len(a.others) && a.others[i] < p.Key; i++ {
			keys = append(keys, shard.Key{Name: a.others[i]})
		}
		keys = append(keys, shard.Key{Name: p.Key, Election: true})
	}
	for ; i < len(a.others); i++ {
		keys = append(keys, shard.Key{Name: a.others[i]})
	}
	return keys
}

// sameKeys reports whether two responses contain the same keys.
func (a keySet) sameKeys(b keySet) bool {
	return slices.Equal(a.others, b.others) &&
		slices.EqualFunc(a.Pairs, b.Pairs, func(p, q election.Pair) bool { return p.Key == q.Key })
}

// heavy reports whether a response is large and consists mostly of keys that are not elections.
func (a keySet) heavy() bool { return a.size > heavySize && a.useful < a.size/heavyShare }

// part returns the keys in a range.
func (a keySet) part(r election.Range) keySet {
	from, _ := slices.BinarySearchFunc(a.Pairs, election.Pair{Key: r.From}, byKey)
	to := len(a.Pairs)
	if r.To != "" {
		to, _ = slices.BinarySearchFunc(a.Pairs, election.Pair{Key: r.To}, byKey)
	}
	return keySet{List: a.Part(from, to), others: shard.Cut(a.others, r, func(s string) string { return s })}
}

// readKeys reads all keys of a shard. before is the result of the previous read. If sparing is set, it reads the
// names first and then only the elections, because the values of other keys are large.
func readKeys(
	c *consulx.Client, w shard.Watch, ps election.Patterns, before wire.List, sparing bool, q *api.QueryOptions,
) (keySet, *api.QueryMeta, error) {
	if sparing && !w.Exact {
		return readSparingly(c, w, ps, q)
	}
	params := url.Values{}
	if !w.Exact {
		params.Set("recurse", "")
	}
	var got keySet
	meta, err := c.Get("/v1/kv/"+w.Prefix, params, q, func(text []byte) error {
		list, err := wire.Pairs(text, before)
		if err == nil && (len(list.Pairs) == 0 || slices.ContainsFunc(list.Pairs, func(p election.Pair) bool { return p.Key == "" })) {
			err = errors.New("the list of keys is empty or contains null") // Consul sends a 404 instead of an empty list
		}
		got = newKeySet(list, ps)
		return err
	})
	return got, meta, err
}

// readSparingly waits for a change to the names and then reads the elections in transactions. If a key changes between
// these reads, the next query returns immediately.
func readSparingly(c *consulx.Client, w shard.Watch, ps election.Patterns, q *api.QueryOptions) (keySet, *api.QueryMeta, error) {
	names, meta, err := readNames(c, w.Prefix, ps, q)
	if err != nil {
		return keySet{}, nil, err
	}
	var got keySet
	var wanted []string
	for _, name := range names {
		if name.Election && !election.Addressable(name.Name) {
			// A transaction cannot address this key, so all keys of the shard are read.
			all := *q
			all.WaitIndex = 0
			got, _, err = readKeys(c, w, ps, wire.List{}, false, &all)
			return got, meta, err
		}
		if name.Election {
			wanted = append(wanted, name.Name)
		} else {
			got.others = append(got.others, name.Name)
		}
	}
	for some := range slices.Chunk(wanted, consulx.TxnReads) {
		// A stale read could return values that are older than the list of names.
		pairs, _, err := c.ReadExisting(some, c.Consistent(q.Context()))
		if err != nil {
			return keySet{}, nil, err
		}
		got.Pairs = append(got.Pairs, pairs...)
	}
	return got, meta, nil
}

// readNames lists the keys under a prefix, sorted.
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
