package insight

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"electop/election"
)

// selection is a pattern for a set of keys. Excluded contains an exclusion for each other key that the pattern
// matches.
type selection struct {
	Text           string // empty if no pattern selects exactly this key
	Excluded, Keys []string
}

const (
	// mostExcluded is the maximum number of exclusions of one pattern.
	mostExcluded = 3
	// rootKeys is the minimum number of top-level keys that are merged into the pattern *, which reads the whole store.
	rootKeys = 10
)

// generalize groups keys by patterns. names contains all keys of the store, sorted; the patterns and their exclusions
// select no other of them. The patterns in common come first, then those with the most keys.
func generalize(keys, names, common []string) (all []selection) {
	left, sets := make(map[string]bool, len(keys)), map[string][]string{}
	for _, key := range keys {
		left[key] = true
		for _, text := range templates(key) {
			sets[text] = append(sets[text], key)
		}
	}
	take := func(text string) {
		if s, ok := selects(text, names, left); ok {
			all = append(all, s)
			for _, key := range s.Keys {
				left[key] = false
			}
		}
	}
	for _, text := range common {
		take(text)
	}
	for _, text := range slices.SortedFunc(maps.Keys(sets), func(a, b string) int {
		return cmp.Or(len(sets[b])-len(sets[a]), strings.Count(a, "*")-strings.Count(b, "*"),
			strings.LastIndexByte(b, '*')-strings.LastIndexByte(a, '*'), cmp.Compare(a, b))
	}) {
		of := slices.DeleteFunc(sets[text], func(key string) bool { return !left[key] })
		if len(of) >= rootKeys || len(of) > 1 && text != "*" {
			take(text)
		}
	}
	for _, key := range keys {
		if take(election.KeyPattern(key).String()); left[key] {
			all = append(all, selection{Keys: []string{key}})
		}
	}
	return all
}

// templates returns the patterns that replace one segment of a key, or all of them, with *. The first of several
// segments and a last segment that names the role of the key remain.
func templates(key string) (all []string) {
	segments := strings.Split(key, "/")
	every, last := slices.Clone(segments), len(segments)-1
	for i, segment := range segments {
		role := i == last && slices.Contains([]string{"leader", "lock", ".lock", "master", "primary", "sentinel-leader"}, segment)
		if !role && (i > 0 || last == 0) {
			every[i], segments[i] = "*", "*"
			all = append(all, election.KeyPattern(strings.Join(segments, "/")).String())
			segments[i] = segment
		}
	}
	if len(all) > 1 {
		all = append(all, election.KeyPattern(strings.Join(every, "/")).String())
	}
	return all
}

// selects returns the keys that a pattern selects and that are left. ok is false if the pattern needs more exclusions
// than it has keys, or more than mostExcluded. The keys that patterns may select are in the map left.
func selects(text string, names []string, left map[string]bool) (s selection, ok bool) {
	p, err := election.ParsePattern(text)
	if err != nil {
		return s, false
	}
	s.Text = text
	within := p.Range()
	from, _ := slices.BinarySearch(names, within.From)
	for _, name := range names[from:] {
		if !within.Contains(name) {
			break
		}
		isLeft, wanted := left[name]
		switch _, selected := p.Match(name); {
		case selected && isLeft:
			s.Keys = append(s.Keys, name)
		case selected && !wanted:
			exclusion := "!" + election.KeyPattern(name).String()
			if x, err := election.ParsePattern(exclusion); err != nil || !x.Exact() || len(s.Excluded) == mostExcluded {
				return s, false
			}
			s.Excluded = append(s.Excluded, exclusion)
		}
	}
	return s, len(s.Excluded) < len(s.Keys)
}
