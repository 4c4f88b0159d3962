package consulx

import (
	"bytes"
	"slices"
	"strings"

	"electop/election"
)

// reading is what one watch has read: every key that there is.
type reading struct {
	pairs  []election.Pair // the elections, sorted by key
	passed []string        // keys that are no elections, sorted
	size   int             // of the whole answer, in bytes
	yield  int             // of the elections in it, about
}

// collector makes an answer of what Consul sent. What did not move since the
// answer before is taken from there: most of it.
type collector struct {
	watch    watch
	patterns election.Patterns
	before   reading
	// trust says that a key whose indexes are as before is as before. It is
	// wrong after Consul's data was replaced by older ones.
	trust bool

	got         reading
	pair, other int // how far before was walked
}

const (
	// heavySize is from which size on it matters what an answer holds besides
	// elections, heavyShare how small their share is then.
	heavySize  = 128 << 10
	heavyShare = 4
)

// pairOverhead is about how many bytes a pair takes in an answer besides key,
// value and session.
const pairOverhead = 100

// read takes a whole answer.
func (c *collector) read(text []byte) error {
	if c.before.pairs == nil {
		c.got.pairs = make([]election.Pair, 0, countKeys(text))
	}
	return eachPair(text, c.add)
}

// countKeys estimates how many keys there are in an answer from its beginning.
func countKeys(text []byte) int {
	const sample = 16 << 10
	n := bytes.Count(text[:min(len(text), sample)], []byte(`"Key"`))
	return n * max(1, len(text)/sample)
}

// add takes the next key, or nil: the answer begins anew.
func (c *collector) add(raw *rawPair) error {
	if raw == nil {
		c.got, c.pair, c.other = reading{}, 0, 0
		return nil
	}
	if !c.watch.holds(raw.key) {
		return nil
	}
	known := c.known(raw.key)
	switch {
	case known != nil:
		return c.addElection(known.Key, raw, known)
	case c.passedBefore(raw.key):
		c.got.passed = append(c.got.passed, c.before.passed[c.other])
		return nil
	}
	key := string(raw.key)
	if _, ok := c.patterns.Match(key); ok {
		return c.addElection(key, raw, nil)
	}
	c.got.passed = append(c.got.passed, key)
	return nil
}

// known is the election with this key in the answer before.
func (c *collector) known(key []byte) *election.Pair {
	for c.pair < len(c.before.pairs) && c.before.pairs[c.pair].Key < string(key) {
		c.pair++
	}
	if c.pair < len(c.before.pairs) && c.before.pairs[c.pair].Key == string(key) {
		return &c.before.pairs[c.pair]
	}
	return nil
}

// passedBefore moves on to a key among those that were no elections.
func (c *collector) passedBefore(key []byte) bool {
	for c.other < len(c.before.passed) && c.before.passed[c.other] < string(key) {
		c.other++
	}
	return c.other < len(c.before.passed) && c.before.passed[c.other] == string(key)
}

func (c *collector) addElection(key string, raw *rawPair, known *election.Pair) error {
	if c.got.pairs == nil {
		c.got.pairs = make([]election.Pair, 0, len(c.before.pairs)+1)
	}
	c.got.yield += len(key) + len(raw.value) + len(raw.session) + pairOverhead
	if known != nil && c.trust && sameIndexes(raw, known) {
		c.got.pairs = append(c.got.pairs, *known)
		return nil
	}
	value, err := raw.decoded()
	if err != nil {
		return err
	}
	p := election.Pair{
		Key: key, Value: value, Flags: raw.flags, LockIndex: raw.lockIndex, CreateIndex: raw.createIndex, ModifyIndex: raw.modifyIndex,
	}
	if known != nil && string(raw.session) == known.Session {
		p.Session = known.Session
	} else {
		p.Session = string(raw.session)
	}
	if known != nil && value != nil && bytes.Equal(value, known.Value) {
		p.Value = known.Value
	}
	c.got.pairs = append(c.got.pairs, p)
	return nil
}

func sameIndexes(raw *rawPair, p *election.Pair) bool {
	return raw.modifyIndex == p.ModifyIndex && raw.createIndex == p.CreateIndex && raw.lockIndex == p.LockIndex &&
		raw.flags == p.Flags && string(raw.session) == p.Session
}

// finish gives the answer in order. Consul sends it so, but for keys that are no
// UTF-8.
func (c *collector) finish(size int) reading {
	c.got.size = size
	if len(c.got.pairs) < cap(c.got.pairs)/2 {
		c.got.pairs = slices.Clone(c.got.pairs) // most keys were no elections
	}
	c.got.sort()
	return c.got
}

func (a *reading) sort() {
	if !slices.IsSortedFunc(a.pairs, election.ComparePairs) {
		slices.SortFunc(a.pairs, election.ComparePairs)
	}
	if !slices.IsSorted(a.passed) {
		slices.Sort(a.passed)
	}
}

// keys lists every key, sorted, each with whether it is an election.
func (a reading) keys() []listed {
	keys := make([]listed, 0, len(a.pairs)+len(a.passed))
	i := 0
	for _, p := range a.pairs {
		for ; i < len(a.passed) && a.passed[i] < p.Key; i++ {
			keys = append(keys, listed{key: a.passed[i]})
		}
		keys = append(keys, listed{key: p.Key, election: true})
	}
	for ; i < len(a.passed); i++ {
		keys = append(keys, listed{key: a.passed[i]})
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
	return reading{pairs: a.pairs[from:to:to], passed: cut(a.passed, r, func(s string) string { return s })}
}

// cut is the part of a sorted list whose keys lie in a range.
func cut[T any](list []T, r election.Range, key func(T) string) []T {
	search := func(at string) int {
		i, _ := slices.BinarySearchFunc(list, at, func(e T, at string) int { return strings.Compare(key(e), at) })
		return i
	}
	from, to := search(r.From), len(list)
	if r.To != "" {
		to = search(r.To)
	}
	return list[from:to:to]
}
