package observe

import (
	"encoding/base64"
	"slices"

	"electop/consulx/observe/internal/shard"
	"electop/election"
)

// reading is what one watch has read: every key that there is.
type reading struct {
	pairs  []election.Pair // the elections, sorted by key
	passed []string        // keys that are no elections, sorted
	size   int             // of the whole response, in bytes, about
	yield  int             // of the elections in it
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

// newReading separates elections from other keys.
func newReading(pairs []election.Pair, ps election.Patterns) reading {
	var got reading
	for _, p := range pairs {
		size := len(p.Key) + base64.StdEncoding.EncodedLen(len(p.Value)) + len(p.Session) + pairOverhead
		got.size += size
		if _, ok := ps.Match(p.Key); ok {
			got.pairs = append(got.pairs, p)
			got.yield += size
		} else {
			got.passed = append(got.passed, p.Key)
		}
	}
	got.sort()
	return got
}

// sort restores the order. Consul sends keys sorted, except keys that are not
// UTF-8.
func (a *reading) sort() {
	if !slices.IsSortedFunc(a.pairs, election.ComparePairs) {
		slices.SortFunc(a.pairs, election.ComparePairs)
	}
	if !slices.IsSorted(a.passed) {
		slices.Sort(a.passed)
	}
}

// keys lists every key, sorted, each with whether it is an election.
func (a reading) keys() []shard.Key {
	keys := make([]shard.Key, 0, len(a.pairs)+len(a.passed))
	i := 0
	for _, p := range a.pairs {
		for ; i < len(a.passed) && a.passed[i] < p.Key; i++ {
			keys = append(keys, shard.Key{Name: a.passed[i]})
		}
		keys = append(keys, shard.Key{Name: p.Key, Election: true})
	}
	for ; i < len(a.passed); i++ {
		keys = append(keys, shard.Key{Name: a.passed[i]})
	}
	return keys
}

// sameKeys reports that two answers name the same keys.
func (a reading) sameKeys(b reading) bool {
	return slices.Equal(a.passed, b.passed) &&
		slices.EqualFunc(a.pairs, b.pairs, func(p, q election.Pair) bool { return p.Key == q.Key })
}

// heavy reports that most of a large answer is of no use.
func (a reading) heavy() bool { return a.size > heavySize && a.yield < a.size/heavyShare }

// part is what of the answer lies in a range.
func (a reading) part(r election.Range) reading {
	from, _ := slices.BinarySearchFunc(a.pairs, election.Pair{Key: r.From}, byKey)
	to := len(a.pairs)
	if r.To != "" {
		to, _ = slices.BinarySearchFunc(a.pairs, election.Pair{Key: r.To}, byKey)
	}
	return reading{pairs: a.pairs[from:to:to], passed: shard.Cut(a.passed, r, func(s string) string { return s })}
}
