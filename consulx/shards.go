package consulx

import (
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// shardKeys is how many keys one query should read: fewer make it no faster,
	// because every answer has a price of its own.
	shardKeys = 100
	// shardFrom is how many keys one query may read before they are divided.
	shardFrom = 2 * shardKeys
)

// listed is a key that exists.
type listed struct {
	key      string
	election bool
}

func listedKey(l listed) string { return l.key }

// shard is a watch and the keys that it reads.
type shard struct {
	watch
	keys []listed
}

// layout says which watches read every election among keys, which are sorted:
// at most limit of them, disjoint and none without an election. Where that is
// good enough it is the present layout with as few changes as can be. fine asks
// for watches of single keys wherever others stand beside them. Those that are
// fixed stay as they are, unless that leaves too few for the other keys.
type layout struct {
	root  watch
	limit int
	fine  bool
	fixed []watch
}

func (l layout) aim() int {
	if l.fine {
		return 1
	}
	return shardKeys
}

// next is the layout for keys. All of them under one watch, the root, is what
// few keys get, and none.
func (l layout) next(keys []listed, present []watch) []watch {
	enough := shardFrom
	if len(present) != 1 || present[0] != l.root {
		enough = shardKeys
	}
	few := !slices.ContainsFunc(keys, isElection) || !l.fine && len(keys) <= enough
	if few && len(l.fixed) == 0 {
		return []watch{l.root}
	}
	best, ok := l.ideal(keys)
	if !ok {
		l.fixed = nil
		return l.next(keys, present)
	}
	kept, ok := l.patched(keys, present)
	if slack := l.aim() * l.aim(); ok && 2*cost(kept) <= 3*cost(best)+slack {
		best = kept
	}
	return watchesOf(best)
}

func watchesOf(shards []shard) []watch {
	watches := make([]watch, len(shards))
	for i, s := range shards {
		watches[i] = s.watch
	}
	return watches
}

func isElection(l listed) bool { return l.election }

// cost is proportional to how many keys are read for a change, on average.
func cost(all []shard) int {
	sum := 0
	for _, s := range all {
		sum += len(s.keys) * len(s.keys)
	}
	return sum
}

func newShard(w watch, keys []listed) shard {
	return shard{watch: w, keys: cut(keys, w.Range, listedKey)}
}

// ideal divides the largest shard again and again, as long as there are watches
// left. It reports false when there are too few beside those that are fixed.
func (l layout) ideal(keys []listed) ([]shard, bool) {
	var done []shard
	todo := []shard{newShard(l.root, keys)}
	if n := len(l.fixed); n > 0 {
		around, ok := l.patched(keys, l.fixed)
		if !ok {
			return nil, false
		}
		done, todo = slices.Clip(around[:n]), around[n:]
	}
	for len(todo) > 0 {
		largest := 0
		for i, s := range todo {
			if len(s.keys) > len(todo[largest].keys) {
				largest = i
			}
		}
		s := todo[largest]
		if len(s.keys) <= l.aim() {
			break
		}
		todo = slices.Delete(todo, largest, largest+1)
		if parts := s.split(); parts == nil || len(todo)+len(done)+len(parts) > l.limit {
			done = append(done, s)
		} else {
			todo = append(todo, parts...)
		}
	}
	return append(done, todo...), true
}

// split divides a shard at the first byte in which its elections differ. Keys
// that are none are left out where that is possible. It gives nil when the shard
// can't be divided.
func (s shard) split() []shard {
	own := make([]string, 0, len(s.keys))
	for _, l := range s.keys {
		if l.election {
			own = append(own, l.key)
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

// partWatch is the widest watch that reads those of the sorted keys that have the
// same byte at this place as the first one.
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

// askable reports a text that can be asked for and stands for itself. A key that
// is no UTF-8 is shown with replacement characters, under which nothing is found.
func askable(text string) bool {
	return safePrefix(text) == text && utf8.ValidString(text) && !strings.ContainsRune(text, utf8.RuneError)
}

// patched is the present layout without watches that have no election, unless
// they are fixed, and with watches for elections that none reads. It reports
// false when that needs more than there may be.
func (l layout) patched(keys []listed, present []watch) ([]shard, bool) {
	var kept []shard
	for _, w := range present {
		if s := newShard(w, keys); slices.Contains(l.fixed, w) || slices.ContainsFunc(s.keys, isElection) {
			kept = append(kept, s)
		}
	}
	for _, key := range unread(keys, kept) {
		if slices.ContainsFunc(kept, func(s shard) bool { return s.Range.Contains(key) }) {
			continue // a watch for one before reads it too
		}
		w, ok := l.beside(key, kept)
		if !ok || len(kept) >= l.limit {
			return nil, false
		}
		kept = append(kept, newShard(w, keys))
	}
	return kept, len(kept) <= l.limit
}

// unread lists the elections among keys that no shard reads.
func unread(keys []listed, shards []shard) []string {
	sorted := slices.SortedFunc(slices.Values(shards), func(a, b shard) int { return strings.Compare(a.Range.From, b.Range.From) })
	var missing []string
	for _, k := range keys {
		for len(sorted) > 0 && sorted[0].Range.To != "" && sorted[0].Range.To <= k.key {
			sorted = sorted[1:]
		}
		if k.election && (len(sorted) == 0 || !sorted[0].Range.Contains(k.key)) {
			missing = append(missing, k.key)
		}
	}
	return missing
}

// beside is the widest watch that reads a key and nothing that another one reads.
func (l layout) beside(key string, others []shard) (watch, bool) {
	for n := len(l.root.Prefix); n <= len(key); n++ {
		w := prefixWatch(key[:n])
		if askable(key[:n]) && !slices.ContainsFunc(others, func(s shard) bool { return w.covers(s.watch) }) {
			return w, true
		}
	}
	return keyWatch(key), askable(key)
}

// unite merges sorted lists without keys in common order into one.
func unite(lists ...[]listed) []listed {
	var all []listed
	for _, list := range lists {
		all = append(all, list...)
	}
	if !slices.IsSortedFunc(all, compareListed) {
		slices.SortFunc(all, compareListed)
	}
	return slices.CompactFunc(all, func(a, b listed) bool { return a.key == b.key })
}

func compareListed(a, b listed) int { return strings.Compare(a.key, b.key) }

// differ reports whether two sorted lists name different keys.
func differ(a, b []listed) bool {
	return !slices.EqualFunc(a, b, func(a, b listed) bool { return a.key == b.key })
}
