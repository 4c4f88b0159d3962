package insight

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"electop/election"
	"electop/election/sanitize"
)

// selection is a pattern for a set of keys. Excluded contains an exclusion for each other key that the pattern
// matches.
type selection struct {
	Text     string // empty if no pattern selects exactly this key
	Excluded []string
	Keys     []string
	segments []string
}

const (
	// mostExcluded is the maximum number of exclusions of one pattern.
	mostExcluded = 3
	// rootKeys is the minimum number of top-level keys that are merged into one pattern. Such a pattern may have no
	// literal prefix; electop then reads the whole store.
	rootKeys = 10
)

// roles returns last segments that name the role of a key. No wildcard replaces them.
func roles() []string {
	return []string{"leader", "lock", ".lock", "master", "primary", "sentinel-leader"}
}

type generalizer struct {
	names  []string        // all keys of the store, sorted
	wanted map[string]bool // keys that patterns may select
}

// generalize groups keys by patterns that select no other key of the store. names contains all keys of the store,
// sorted. generalize prefers the patterns in the argument common.
func generalize(keys, names, common []string) []selection {
	g := generalizer{names: names, wanted: make(map[string]bool, len(keys))}
	for _, key := range keys {
		g.wanted[key] = true
	}
	all := make([]selection, 0, len(keys))
	for _, key := range keys {
		all = append(all, g.exact(key))
	}
	for _, text := range common {
		all = g.prefer(all, text)
	}
	for before := len(all) + 1; len(all) < before; {
		before = len(all)
		all = g.join(all)
	}
	return all
}

// exact returns a selection of one key.
func (g *generalizer) exact(key string) selection {
	segments := strings.Split(key, "/")
	for i, s := range segments {
		segments[i] = literal(s)
	}
	p := selection{segments: segments, Keys: []string{key}}
	p.Text, p.Excluded, _ = g.fits(segments, p.Keys, 0)
	return p
}

// literal returns the pattern for one segment of a key. It replaces characters that a pattern cannot contain with *.
func literal(segment string) string {
	var b strings.Builder
	for _, r := range segment {
		switch one := string(r); {
		case !strings.ContainsRune(`*[]{}?\`, r) && sanitize.Text(one) == one:
			b.WriteRune(r)
		case !strings.HasSuffix(b.String(), "*"):
			b.WriteByte('*')
		}
	}
	return b.String()
}

// prefer replaces the selections whose keys match text with one selection for text. It changes nothing if text would
// need too many exclusions.
func (g *generalizer) prefer(all []selection, text string) []selection {
	one, err := election.ParsePattern(text)
	if err != nil {
		return all
	}
	selected := func(p selection) bool { _, ok := one.Match(p.Keys[0]); return ok }
	p := selection{segments: strings.Split(text, "/")}
	for _, other := range all {
		if selected(other) {
			p.Keys = append(p.Keys, other.Keys...)
		}
	}
	if len(p.Keys) == 0 {
		return all
	}
	var ok bool
	if p.Text, p.Excluded, ok = g.fits(p.segments, p.Keys, mostExcluded); !ok {
		return all
	}
	return append(slices.DeleteFunc(all, selected), p)
}

// join merges patterns that differ in only one segment, the largest sets first.
func (g *generalizer) join(all []selection) []selection {
	sets := map[string][]int{} // indexes in all, by pattern with * in place of one segment
	for i, p := range all {
		for at := range p.segments {
			if replaceable(p.segments, at) {
				t := strings.Join(slices.Replace(slices.Clone(p.segments), at, at+1, "*"), "/")
				sets[t] = append(sets[t], i)
			}
		}
	}
	maps.DeleteFunc(sets, func(_ string, of []int) bool { return len(of) < 2 })
	templates := slices.SortedFunc(maps.Keys(sets), func(a, b string) int {
		late := cmp.Compare(strings.LastIndexByte(b, '*'), strings.LastIndexByte(a, '*'))
		return cmp.Or(cmp.Compare(len(sets[b]), len(sets[a])), late, cmp.Compare(a, b))
	})
	used := make([]bool, len(all))
	var joined []selection
	for _, t := range templates {
		of := slices.DeleteFunc(sets[t], func(i int) bool { return used[i] })
		if p, ok := g.unite(all, of, strings.Split(t, "/")); ok {
			joined = append(joined, p)
			for _, i := range of {
				used[i] = true
			}
		}
	}
	for i, p := range all {
		if !used[i] {
			joined = append(joined, p)
		}
	}
	return joined
}

// replaceable reports whether a wildcard may replace a segment. The first of several segments and the role of the key
// must remain.
func replaceable(segments []string, at int) bool {
	switch last := len(segments) - 1; {
	case segments[at] == "*":
		return false
	case at == last && slices.Contains(roles(), segments[at]):
		return false
	default:
		return at > 0 || last == 0
	}
}

// unite merges several selections into one selection. Its pattern is template or a narrower pattern. unite returns
// false if no suitable pattern exists.
func (g *generalizer) unite(all []selection, of []int, template []string) (selection, bool) {
	if len(of) < 2 || len(template) == 1 && len(of) < rootKeys {
		return selection{}, false
	}
	p := selection{segments: template}
	for _, i := range of {
		p.Keys = append(p.Keys, all[i].Keys...)
	}
	at := slices.IndexFunc(template, func(s string) bool { return s == "*" })
	for i := range template { // search for the segment that differs
		if template[i] == "*" && all[of[0]].segments[i] != "*" {
			at = i
		}
	}
	narrow := slices.Replace(slices.Clone(template), at, at+1, narrowed(all, of, at))
	tries := []attempt{{template, 0}, {narrow, 0}, {template, mostExcluded}}
	if len(template) == 1 {
		tries = tries[1:]
	}
	for _, try := range tries {
		var ok bool
		if p.Text, p.Excluded, ok = g.fits(try.segments, p.Keys, try.excluded); ok {
			p.segments = try.segments
			return p, true
		}
	}
	return selection{}, false
}

// attempt is a possible pattern, with a maximum number of exclusions.
type attempt struct {
	segments []string
	excluded int
}

// narrowed returns the common prefix of the segments, a wildcard, and their common suffix.
func narrowed(all []selection, of []int, at int) string {
	first := all[of[0]].segments[at]
	begin, end := first, first
	for _, i := range of {
		s := all[i].segments[at]
		for !strings.HasPrefix(s, begin) {
			begin = begin[:len(begin)-1]
		}
		for !strings.HasSuffix(s, end) {
			end = end[1:]
		}
	}
	begin, _, _ = strings.Cut(begin, "*")
	end = end[strings.LastIndexByte(end, '*')+1:]
	return strings.ToValidUTF8(begin, "") + "*" + strings.ToValidUTF8(end, "")
}

// fits returns the text of a pattern that selects the keys, and the exclusions that the pattern needs. ok is false if
// the pattern does not select every key, or needs more exclusions than the limit most.
func (g *generalizer) fits(segments []string, keys []string, most int) (text string, excluded []string, ok bool) {
	text = written(strings.Join(segments, "/"))
	p, err := election.ParsePattern(text)
	if err != nil || slices.ContainsFunc(keys, func(key string) bool { _, selected := p.Match(key); return !selected }) {
		return "", nil, false
	}
	within := p.Range()
	from, _ := slices.BinarySearch(g.names, within.From)
	for _, name := range g.names[from:] {
		if !within.Contains(name) {
			break
		}
		if _, selected := p.Match(name); !selected || g.wanted[name] {
			continue
		}
		x, err := election.ParsePattern(written(name))
		if err != nil || !x.Exact() || len(excluded) == min(most, len(keys)-1) {
			return "", nil, false
		}
		excluded = append(excluded, "!"+written(name))
	}
	return text, excluded, true
}

// written returns the text that parses to this pattern. If the pattern begins with "/" or "!", it adds a "/", because
// [election.ParsePattern] removes a leading "/" and interprets a leading "!" as an exclusion.
func written(text string) string {
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "!") {
		return "/" + text
	}
	return text
}
