// Package shard assigns keys to blocking queries. It does no I/O.
package shard

import (
	"cmp"
	"slices"
	"strings"

	"electop/consulx/internal/wire"
	"electop/election"
)

// Watch is one blocking query for keys: all keys under Prefix, or only the key Prefix if Exact is set. Its response
// is complete for Range.
type Watch struct {
	Range  election.Range
	Prefix string
	Exact  bool
}

// PrefixWatch returns a watch that reads every key under a prefix.
func PrefixWatch(prefix string) Watch {
	return Watch{Range: election.PrefixRange(prefix), Prefix: prefix}
}

// KeyWatch returns a watch that reads one key.
func KeyWatch(key string) Watch {
	return Watch{Range: election.KeyRange(key), Prefix: key, Exact: true}
}

// Name returns a name that identifies the watch.
func (w Watch) Name() string {
	if w.Exact {
		return "key " + w.Prefix
	}
	return "keys under " + w.Prefix
}

// Covers reports whether w reads all keys that o reads.
func (w Watch) Covers(o Watch) bool {
	if w.Exact {
		return o.Exact && o.Prefix == w.Prefix
	}
	return strings.HasPrefix(o.Prefix, w.Prefix)
}

// Plan returns at most limit disjoint watches, sorted, that together read every key of the patterns.
func Plan(ps election.Patterns, limit int) []Watch {
	all := make([]Watch, 0, len(ps))
	for _, p := range ps.Selecting() {
		if prefix := wire.LiteralPrefix(p.Prefix()); p.Exact() && prefix == p.Prefix() {
			all = append(all, KeyWatch(prefix))
		} else {
			all = append(all, PrefixWatch(prefix))
		}
	}
	all = Disjoint(all)
	for len(all) > max(limit, 1) {
		all = Disjoint(mergeClosest(all))
	}
	return all
}

// Disjoint removes watches that another watch covers. A prefix sorts before all watches that it covers, so each watch
// is compared only with the last one that was kept.
func Disjoint(all []Watch) []Watch {
	slices.SortFunc(all, func(a, b Watch) int {
		return cmp.Or(strings.Compare(a.Prefix, b.Prefix), cmp.Compare(exactness(a), exactness(b)))
	})
	kept := all[:0]
	for _, w := range all {
		if len(kept) == 0 || !kept[len(kept)-1].Covers(w) {
			kept = append(kept, w)
		}
	}
	return kept
}

func exactness(w Watch) int {
	if w.Exact {
		return 1
	}
	return 0
}

// mergeClosest merges the two neighbours with the longest common prefix.
func mergeClosest(all []Watch) []Watch {
	best, shared := 0, ""
	for i := 0; i+1 < len(all); i++ {
		if s := wire.LiteralPrefix(commonPrefix(all[i].Prefix, all[i+1].Prefix)); i == 0 || len(s) > len(shared) {
			best, shared = i, s
		}
	}
	return slices.Replace(all, best, best+2, PrefixWatch(shared))
}

func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}
