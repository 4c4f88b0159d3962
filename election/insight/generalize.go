package insight

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"electop/election"
)

const (
	// mostExcluded is the maximum number of exclusions of one pattern.
	mostExcluded = 3
	// rootKeys is the minimum number of top-level keys that are merged into the pattern *, which reads the whole store.
	rootKeys = 10
)

// generalize groups keys by patterns. names contains all keys of the store, sorted; the patterns and their exclusions
// select no other of them. The patterns of presets come first, then those with the most keys.
func generalize(keys, names []string) (all []LockGroup) {
	left, sets := make(map[string]bool, len(keys)), map[string][]string{}
	for _, key := range keys {
		left[key] = true
		for _, text := range templates(key) {
			sets[text] = append(sets[text], key)
		}
	}
	take := func(text string) {
		if g, ok := selects(text, names, left); ok {
			all = append(all, g)
			for _, key := range g.Keys {
				left[key] = false
			}
		}
	}
	for _, preset := range Presets() {
		for _, text := range preset.Patterns {
			if strings.Contains(text, "*") && !strings.Contains(text, "**") {
				take(text)
			}
		}
	}
	for _, text := range slices.SortedFunc(maps.Keys(sets), func(a, b string) int {
		return cmp.Or(len(sets[b])-len(sets[a]), strings.Count(a, "*")-strings.Count(b, "*"), cmp.Compare(a, b))
	}) {
		of := slices.DeleteFunc(sets[text], func(key string) bool { return !left[key] })
		if len(of) >= rootKeys || len(of) > 1 && text != "*" {
			take(text)
		}
	}
	for _, key := range keys {
		if take(election.KeyPattern(key).String()); left[key] {
			all = append(all, LockGroup{Keys: []string{key}})
		}
	}
	return all
}

// templates returns the patterns that replace the last segment of a key, or all of them, with *. The first of several
// segments and a last segment that names the role of the key remain.
func templates(key string) []string {
	segments := strings.Split(key, "/")
	last := len(segments) - 1
	if slices.Contains([]string{"leader", "lock", ".lock", "master", "primary", "sentinel-leader"}, segments[last]) {
		last--
	}
	if last < 0 || last == 0 && len(segments) > 1 {
		return nil
	}
	segments[last] = "*"
	one := election.KeyPattern(strings.Join(segments, "/")).String()
	for i := 1; i < last; i++ {
		segments[i] = "*"
	}
	return slices.Compact([]string{one, election.KeyPattern(strings.Join(segments, "/")).String()})
}

// selects returns the keys that a pattern selects and that are left. ok is false if the pattern needs more exclusions
// than it has keys, or more than mostExcluded. The keys that patterns may select are in the map left.
func selects(text string, names []string, left map[string]bool) (g LockGroup, ok bool) {
	p, err := election.ParsePattern(text)
	if err != nil {
		return g, false
	}
	g.Pattern = text
	within := p.Range()
	from, _ := slices.BinarySearch(names, within.From)
	for _, name := range names[from:] {
		if !within.Contains(name) {
			break
		}
		isLeft, wanted := left[name]
		switch _, selected := p.Match(name); {
		case selected && isLeft:
			g.Keys = append(g.Keys, name)
		case selected && !wanted:
			exclusion := "!" + election.KeyPattern(name).String()
			if x, err := election.ParsePattern(exclusion); err != nil || !x.Exact() || len(g.Excluded) == mostExcluded {
				return g, false
			}
			g.Excluded = append(g.Excluded, exclusion)
		}
	}
	return g, len(g.Excluded) < len(g.Keys)
}
