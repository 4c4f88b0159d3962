package consulx

import (
	"cmp"
	"slices"
	"strings"

	"electop/election"
)

// watch is one blocking query over keys: everything under Prefix, or the single
// key Prefix when Exact. Its Range is what an answer is complete for.
type watch struct {
	Range  election.Range
	Prefix string
	Exact  bool
}

func prefixWatch(prefix string) watch {
	return watch{Range: election.PrefixRange(prefix), Prefix: prefix}
}

func keyWatch(key string) watch {
	return watch{Range: election.KeyRange(key), Prefix: key, Exact: true}
}

// name tells watches apart.
func (w watch) name() string {
	if w.Exact {
		return "key " + w.Prefix
	}
	return "keys under " + w.Prefix
}

// covers reports that w reads everything that o reads.
func (w watch) covers(o watch) bool {
	if w.Exact {
		return o.Exact && o.Prefix == w.Prefix
	}
	return strings.HasPrefix(o.Prefix, w.Prefix)
}

// planWatches covers every key that the patterns can match with at most limit
// watches, sorted, whose ranges are disjoint.
func planWatches(ps election.Patterns, limit int) []watch {
	all := make([]watch, 0, len(ps))
	for _, p := range ps {
		if prefix := safePrefix(p.Prefix()); p.Exact() && prefix == p.Prefix() {
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

// disjoint leaves out watches that others cover. A prefix sorts before all that
// it covers, so each has to be compared with the last one kept only.
func disjoint(all []watch) []watch {
	slices.SortFunc(all, func(a, b watch) int {
		return cmp.Or(strings.Compare(a.Prefix, b.Prefix), cmp.Compare(exactness(a), exactness(b)))
	})
	kept := all[:0]
	for _, w := range all {
		if len(kept) == 0 || !kept[len(kept)-1].covers(w) {
			kept = append(kept, w)
		}
	}
	return kept
}

func exactness(w watch) int {
	if w.Exact {
		return 1
	}
	return 0
}

// mergeClosest joins the two neighbours that share the longest beginning.
func mergeClosest(all []watch) []watch {
	best, shared := 0, ""
	for i := 0; i+1 < len(all); i++ {
		if s := safePrefix(commonPrefix(all[i].Prefix, all[i+1].Prefix)); i == 0 || len(s) > len(shared) {
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

// safePrefix is the longest beginning of prefix that Consul's HTTP API takes
// literally. It cleans paths: "a//b", "a/./b" and "a/x/../b" ask for other keys.
func safePrefix(prefix string) string {
	start := 0
	for {
		segment, _, more := strings.Cut(prefix[start:], "/")
		switch {
		case segment == "." || segment == "..", segment == "" && more:
			return prefix[:start]
		case !more:
			return prefix
		}
		start += len(segment) + 1
	}
}

// safeKey reports a key that the HTTP API takes literally.
func safeKey(key string) bool { return key != "" && safePrefix(key) == key }
