package election

import (
	"slices"
	"strings"
)

// rangeSet is a set of keys kept as disjoint ranges in order.
type rangeSet struct{ ranges []Range }

func (s *rangeSet) contains(key string) bool {
	for _, r := range s.ranges {
		if r.Contains(key) {
			return true
		}
	}
	return false
}

// covers reports whether every key of r is in the set.
func (s *rangeSet) covers(r Range) bool {
	for _, have := range s.ranges {
		if have.From <= r.From && (have.To == "" || r.To != "" && r.To <= have.To) {
			return true
		}
	}
	return false
}

// coversAll reports whether every key of another set is in the set.
func (s *rangeSet) coversAll(other rangeSet) bool {
	return !slices.ContainsFunc(other.ranges, func(r Range) bool { return !s.covers(r) })
}

// add puts every key of r into the set. Ranges that touch become one.
func (s *rangeSet) add(r Range) {
	if s.covers(r) {
		return
	}
	all := append(slices.Clone(s.ranges), r)
	slices.SortFunc(all, func(a, b Range) int { return strings.Compare(a.From, b.From) })
	merged := all[:1]
	for _, next := range all[1:] {
		last := &merged[len(merged)-1]
		switch {
		case last.To != "" && last.To < next.From:
			merged = append(merged, next)
		case last.To != "" && (next.To == "" || next.To > last.To):
			last.To = next.To
		}
	}
	s.ranges = merged
}

// overlaps reports whether two ranges share a key.
func (r Range) overlaps(q Range) bool {
	return (r.To == "" || q.From < r.To) && (q.To == "" || r.From < q.To)
}
