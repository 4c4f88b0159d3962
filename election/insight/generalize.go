package insight

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"electop/election"
	"electop/election/sanitize"
)

// pattern selects some locks and no other key, except those in excluded.
type pattern struct {
	text     string // empty if no pattern selects exactly this key
	excluded []string
	segments []string
	locks    []lock
}

const (
	// mostExcluded is the maximum number of exclusions of one pattern.
	mostExcluded = 3
	// rootKeys is the minimum number of keys without a common folder for which a pattern
	// without a literal prefix is proposed: watching it reads the whole store.
	rootKeys = 10
)

// roles are last segments that distinguish a lock from its siblings.
func roles() []string {
	return []string{"leader", "lock", ".lock", "master", "primary", "sentinel-leader"}
}

// generalizer finds patterns for locks.
type generalizer struct {
	names []string        // all keys of the store, sorted
	locks map[string]bool // the keys that patterns may select
}

// generalize divides locks among patterns that select few other keys. names are all keys
// of the store, sorted.
func generalize(locks []lock, names []string) []pattern {
	g := generalizer{names: names, locks: make(map[string]bool, len(locks))}
	all := make([]pattern, 0, len(locks))
	for _, l := range locks {
		g.locks[l.key] = true
		all = append(all, g.exact(l))
	}
	all = g.common(all)
	for before := len(all) + 1; len(all) < before; {
		before = len(all)
		all = g.join(all)
	}
	return all
}

// exact returns the pattern of one key.
func (g *generalizer) exact(l lock) pattern {
	segments := strings.Split(l.key, "/")
	for i, s := range segments {
		segments[i] = literal(s)
	}
	p := pattern{segments: segments, locks: []lock{l}}
	p.text, p.excluded, _ = g.fits(segments, p.locks, 0)
	return p
}

// literal returns a segment of a pattern for one segment of a key: * replaces what a pattern
// cannot contain.
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

// common assigns locks to the patterns of presets, which also fit a single key.
func (g *generalizer) common(all []pattern) []pattern {
	for _, preset := range Presets() {
		for _, text := range preset.Patterns {
			if !strings.Contains(text, "*") || strings.Contains(text, "**") {
				continue
			}
			one, err := election.ParsePattern(text)
			if err != nil {
				continue
			}
			matches := func(p pattern) bool { _, ok := one.Match(p.locks[0].key); return ok }
			all = g.merge(all, matches, strings.Split(text, "/"))
		}
	}
	return all
}

// join merges the patterns that differ in one segment, the largest sets first.
func (g *generalizer) join(all []pattern) []pattern {
	sets := map[string][]int{} // by template
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
	var joined []pattern
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

// replaceable reports whether a wildcard may replace a segment. Its folder and the role of
// the key remain.
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

// unite returns one pattern for several, if a suitable one exists.
func (g *generalizer) unite(all []pattern, of []int, template []string) (pattern, bool) {
	if len(of) < 2 || len(template) == 1 && len(of) < rootKeys {
		return pattern{}, false
	}
	p := pattern{segments: template}
	for _, i := range of {
		p.locks = append(p.locks, all[i].locks...)
	}
	at := slices.IndexFunc(template, func(s string) bool { return s == "*" })
	for i := range template { // the segment that differs
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
		if p.text, p.excluded, ok = g.fits(try.segments, p.locks, try.excluded); ok {
			p.segments = try.segments
			return p, true
		}
	}
	return pattern{}, false
}

// attempt is a possible pattern, with a maximum number of exclusions.
type attempt struct {
	segments []string
	excluded int
}

// narrowed returns the common beginning and end of one segment, around a wildcard.
func narrowed(all []pattern, of []int, at int) string {
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

// merge replaces the patterns that match by one, if it fits.
func (g *generalizer) merge(all []pattern, matches func(pattern) bool, template []string) []pattern {
	p := pattern{segments: template}
	for _, one := range all {
		if matches(one) {
			p.locks = append(p.locks, one.locks...)
		}
	}
	if len(p.locks) == 0 {
		return all
	}
	var ok bool
	if p.text, p.excluded, ok = g.fits(template, p.locks, mostExcluded); !ok {
		return all
	}
	return append(slices.DeleteFunc(all, matches), p)
}

// fits returns the text of a pattern that selects these locks, and the exclusions that it
// needs. It reports false if these are too many.
func (g *generalizer) fits(segments []string, locks []lock, most int) (text string, excluded []string, ok bool) {
	text = written(strings.Join(segments, "/"))
	p, err := election.ParsePattern(text)
	if err != nil || slices.ContainsFunc(locks, func(l lock) bool { _, selected := p.Match(l.key); return !selected }) {
		return "", nil, false
	}
	within := p.Range()
	from, _ := slices.BinarySearch(g.names, within.From)
	for _, name := range g.names[from:] {
		if !within.Contains(name) {
			break
		}
		if _, selected := p.Match(name); !selected || g.locks[name] {
			continue
		}
		x, err := election.ParsePattern(written(name))
		if err != nil || !x.Exact() || len(excluded) == min(most, len(locks)-1) {
			return "", nil, false
		}
		excluded = append(excluded, "!"+written(name))
	}
	return text, excluded, true
}

// written returns a pattern as it is written: a leading "/" is removed, and "!" excludes.
func written(text string) string {
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "!") {
		return "/" + text
	}
	return text
}
