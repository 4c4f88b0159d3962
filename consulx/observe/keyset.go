package observe

import (
	"encoding/base64"
	"slices"

	"electop/consulx/observe/internal/shard"
	"electop/election"
)

// keySet is what one query over keys returned.
type keySet struct {
	pairs  []election.Pair // the elections, sorted by key
	others []string        // keys that are not elections, sorted
	size   int             // of the whole response, in bytes, about
	useful int             // of the elections in it
}

const (
	// heavySize is from which size on it matters what a response holds besides
	// elections, heavyShare how small their share is then.
	heavySize  = 128 << 10
	heavyShare = 4
)

// pairOverhead is about how many bytes a pair takes in a response besides its key,
// value and session.
const pairOverhead = 100

// newKeySet separates elections from other keys.
func newKeySet(pairs []election.Pair, ps election.Patterns) keySet {
	var got keySet
	for _, p := range pairs {
		size := len(p.Key) + base64.StdEncoding.EncodedLen(len(p.Value)) + len(p.Session) + pairOverhead
		got.size += size
		if _, ok := ps.Match(p.Key); ok {
			got.pairs = append(got.pairs, p)
			got.useful += size
		} else {
			got.others = append(got.others, p.Key)
		}
	}
	got.sort()
	return got
}

// sort restores the order. Consul sends keys sorted, except keys that are not
// UTF-8.
func (a *keySet) sort() {
	if !slices.IsSortedFunc(a.pairs, election.ComparePairs) {
		slices.SortFunc(a.pairs, election.ComparePairs)
	}
	if !slices.IsSorted(a.others) {
		slices.Sort(a.others)
	}
}

// keys lists every key, sorted, each with whether it is an election.
func (a keySet) keys() []shard.Key {
	keys := make([]shard.Key, 0, len(a.pairs)+len(a.others))
	i := 0
	for _, p := range a.pairs {
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

// sameKeys reports that two answers name the same keys.
func (a keySet) sameKeys(b keySet) bool {
	return slices.Equal(a.others, b.others) &&
		slices.EqualFunc(a.pairs, b.pairs, func(p, q election.Pair) bool { return p.Key == q.Key })
}

// heavy reports that most of a large answer is of no use.
func (a keySet) heavy() bool { return a.size > heavySize && a.useful < a.size/heavyShare }

// part is what of the answer lies in a range.
func (a keySet) part(r election.Range) keySet {
	from, _ := slices.BinarySearchFunc(a.pairs, election.Pair{Key: r.From}, byKey)
	to := len(a.pairs)
	if r.To != "" {
		to, _ = slices.BinarySearchFunc(a.pairs, election.Pair{Key: r.To}, byKey)
	}
	return keySet{pairs: a.pairs[from:to:to], others: shard.Cut(a.others, r, func(s string) string { return s })}
}
