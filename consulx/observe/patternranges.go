package observe

import (
	"slices"
	"strings"

	"electop/consulx"
	"electop/election"
)

// watch is one blocking query for keys: all keys under Prefix, or only the key Prefix if Exact is set. Its response
// is complete for Range.
type watch struct {
	Range  election.Range
	Prefix string
	Exact  bool
}

// prefixWatch returns a watch that reads every key under a prefix.
func prefixWatch(prefix string) watch {
	return watch{Range: election.PrefixRange(prefix), Prefix: prefix}
}

// keyWatch returns a watch that reads one key.
func keyWatch(key string) watch {
	return watch{Range: election.KeyRange(key), Prefix: key, Exact: true}
}

// Name returns a name that identifies the watch.
func (w watch) Name() string {
	if w.Exact {
		return "key " + w.Prefix
	}
	return "keys under " + w.Prefix
}

// Covers reports whether w reads all keys that o reads.
func (w watch) Covers(o watch) bool {
	if w.Exact {
		return o.Exact && o.Prefix == w.Prefix
	}
	return strings.HasPrefix(o.Prefix, w.Prefix)
}

// planWatches returns at most limit disjoint watches, sorted, that together read every key of the patterns.
func planWatches(ps election.Patterns, limit int) []watch {
	all := make([]watch, 0, len(ps))
	for _, p := range ps.Selecting() {
		if prefix := consulx.LiteralPrefix(p.Prefix()); p.Exact() && prefix == p.Prefix() {
			all = append(all, keyWatch(prefix))
		} else {
			all = append(all, prefixWatch(prefix))
		}
	}
	all = disjoint(all)
	for len(all) > max(limit, 1) {
		all = disjoint(mergeClosest(all))
	}
	return all
}

// disjoint removes watches that another watch covers. A prefix sorts before all watches that it covers, so each watch
// is compared only with the last one that was kept.
func disjoint(all []watch) []watch {
	slices.SortFunc(all, func(a, b watch) int {
		if c := strings.Compare(a.Prefix, b.Prefix); c != 0 || a.Exact == b.Exact {
			return c
		} else if a.Exact {
			return 1
		}
		return -1
	})
	kept := all[:0]
	for _, w := range all {
		if len(kept) == 0 || !kept[len(kept)-1].Covers(w) {
			kept = append(kept, w)
		}
	}
	return kept
}

// mergeClosest merges the two neighbours with the longest common prefix.
func mergeClosest(all []watch) []watch {
	best, shared := 0, ""
	for i := 0; i+1 < len(all); i++ {
		if s := consulx.LiteralPrefix(commonPrefix(all[i].Prefix, all[i+1].Prefix)); i == 0 || len(s) > len(shared) {
			best, shared = i, s
		}
	}
	return slices.Replace(all, best, best+2, prefixWatch(shared))
}

func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}
