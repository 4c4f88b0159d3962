package observe

import (
	"slices"
	"strings"

	"electop/consulx"
	"electop/election"
)

const (
	// shardKeys is the number of keys that one query should read. A query for fewer keys is hardly faster, because
	// every response has a fixed cost.
	shardKeys = 100
	// shardFrom is the number of keys above which a single query is divided.
	shardFrom = 2 * shardKeys
)

// listedKey is an existing key.
type listedKey struct {
	Name     string
	Election bool
}

// keyName and itself return the name of a key. Callers pass them to [cut].
func keyName(l listedKey) string { return l.Name }

func itself(key string) string { return key }

// shard is a watch with its keys.
type shard struct {
	watch
	keys []listedKey
}

// layout selects at most Limit disjoint watches that together read every election. Watches in Fixed remain if Limit suffices for the other keys.
type layout struct {
	Root  watch
	Limit int
	Fixed []watch
}

// Next returns the layout for sorted keys. It changes the present layout as little as possible, unless another layout
// is much cheaper. If there are few keys, it returns only Root.
func (l layout) Next(keys []listedKey, present []watch) []watch {
	enough := shardFrom
	if len(present) != 1 || present[0] != l.Root {
		enough = shardKeys
	}
	few := !slices.ContainsFunc(keys, isElection) || len(keys) <= enough
	if few && len(l.Fixed) == 0 {
		return []watch{l.Root}
	}
	best, ok := l.ideal(keys)
	if !ok {
		l.Fixed = nil
		return l.Next(keys, present)
	}
	kept, ok := l.patched(keys, present)
	if slack := shardKeys * shardKeys; ok && 2*cost(kept) <= 3*cost(best)+slack {
		best = kept
	}
	return election.Map(best, func(s shard) watch { return s.watch })
}

func isElection(l listedKey) bool { return l.Election }

// cost returns the number of keys that Consul sends if every key changes once.
func cost(all []shard) int {
	sum := 0
	for _, s := range all {
		sum += len(s.keys) * len(s.keys)
	}
	return sum
}

func newShard(w watch, keys []listedKey) shard {
	return shard{watch: w, keys: cut(keys, w.Range, keyName)}
}

// ideal repeatedly divides the largest shard, up to Limit. It returns false if the fixed watches leave too few
// watches for the other keys.
func (l layout) ideal(keys []listedKey) ([]shard, bool) {
	var done []shard
	todo := []shard{newShard(l.Root, keys)}
	if len(l.Fixed) > 0 {
		all, ok := l.patched(keys, l.Fixed)
		if !ok {
			return nil, false
		}
		fixed := func(s shard) bool { return slices.Contains(l.Fixed, s.watch) }
		done = election.Without(all, func(s shard) bool { return !fixed(s) })
		todo = election.Without(all, fixed)
	}
	for len(todo) > 0 {
		largest := 0
		for i, s := range todo {
			if len(s.keys) > len(todo[largest].keys) {
				largest = i
			}
		}
		s := todo[largest]
		if len(s.keys) <= shardKeys {
			break
		}
		todo = slices.Delete(todo, largest, largest+1)
		if parts := s.split(); parts == nil || len(todo)+len(done)+len(parts) > l.Limit {
			done = append(done, s)
		} else {
			todo = append(todo, parts...)
		}
	}
	return append(done, todo...), true
}

// split divides a shard at the first byte in which its elections differ. Where possible, the parts do not read other
// keys. It returns nil if the shard cannot be divided.
func (s shard) split() []shard {
	own := make([]string, 0, len(s.keys))
	for _, l := range s.keys {
		if l.Election {
			own = append(own, l.Name)
		}
	}
	if s.Exact || len(own) == 0 {
		return nil
	}
	shared := commonPrefix(own[0], own[len(own)-1])
	var parts []shard
	for len(own) > 0 {
		w, ok := partWatch(own, len(shared))
		if !ok {
			return nil
		}
		rest := own
		for len(rest) > 0 && w.Range.Contains(rest[0]) {
			rest = rest[1:]
		}
		own = rest
		parts = append(parts, newShard(w, s.keys))
	}
	if len(parts) == 1 && len(parts[0].keys) == len(s.keys) {
		return nil
	}
	return parts
}

// partWatch returns the widest watch for the first of the sorted keys and for all keys that have the same byte at this
// offset.
func partWatch(keys []string, at int) (watch, bool) {
	first := keys[0]
	if len(first) == at {
		return keyWatch(first), askable(first)
	}
	end := slices.IndexFunc(keys, func(key string) bool { return key[at] != first[at] })
	if end < 0 {
		end = len(keys)
	}
	shared := commonPrefix(first, keys[end-1])
	for n := at + 1; n <= len(shared); n++ {
		if askable(shared[:n]) {
			return prefixWatch(shared[:n]), true
		}
	}
	return watch{}, false
}

// askable reports whether a URL can contain text unchanged and Consul returns it unchanged.
func askable(text string) bool {
	return consulx.LiteralPrefix(text) == text && election.Addressable(text)
}

// patched changes the present layout: it adds watches for elections that no watch reads, and removes watches that
// read no election. Fixed watches stay. It returns false if the result exceeds Limit. The shards are in the order of their
// ranges.
func (l layout) patched(keys []listedKey, present []watch) ([]shard, bool) {
	var kept []shard
	for _, w := range disjoint(slices.Clone(present)) {
		if s := newShard(w, keys); slices.Contains(l.Fixed, w) || slices.ContainsFunc(s.keys, isElection) {
			kept = append(kept, s)
		}
	}
	for _, k := range keys {
		i, found := slices.BinarySearchFunc(kept, k.Name, func(s shard, key string) int { return strings.Compare(s.Range.From, key) })
		if !k.Election || found || i > 0 && kept[i-1].Range.Contains(k.Name) {
			continue
		}
		w, ok := l.widestAround(k.Name, kept)
		if !ok || len(kept) >= l.Limit {
			return nil, false
		}
		kept = slices.Insert(kept, i, newShard(w, keys))
	}
	return kept, len(kept) <= l.Limit
}

// widestAround returns the widest watch that reads the key and overlaps no other shard.
func (l layout) widestAround(key string, others []shard) (watch, bool) {
	for n := len(l.Root.Prefix); n <= len(key); n++ {
		w := prefixWatch(key[:n])
		if askable(key[:n]) && !slices.ContainsFunc(others, func(s shard) bool { return w.Covers(s.watch) }) {
			return w, true
		}
	}
	return keyWatch(key), askable(key)
}

// unite merges sorted lists into one sorted list without duplicates.
func unite(lists ...[]listedKey) []listedKey {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b listedKey) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(all, func(a, b listedKey) bool { return a.Name == b.Name })
}

// differ reports whether two sorted lists contain different keys.
func differ(a, b []listedKey) bool {
	return !slices.EqualFunc(a, b, func(a, b listedKey) bool { return a.Name == b.Name })
}

// cut returns the elements of a sorted list whose keys are in a range.
func cut[T any](list []T, r election.Range, key func(T) string) []T {
	from, to := bounds(list, r, key)
	return list[from:to:to]
}

// bounds returns the indexes between which the keys of a sorted list are in a range.
func bounds[T any](list []T, r election.Range, key func(T) string) (from, to int) {
	search := func(at string) int {
		i, _ := slices.BinarySearchFunc(list, at, func(e T, at string) int { return strings.Compare(key(e), at) })
		return i
	}
	if from, to = search(r.From), len(list); r.To != "" {
		to = search(r.To)
	}
	return from, to
}
