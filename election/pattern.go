package election

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"electop/election/sanitize"
)

// DefaultPattern matches the keys of Consul's leader election tutorial.
const DefaultPattern = "service/*/leader"

// Pattern is a glob that selects the KV keys that are elections: `*` matches one path segment or part of a segment, and
// `**` matches any number of segments. With a leading `!`, the pattern excludes the keys that it matches.
type Pattern struct {
	text     string // text of the pattern without the `!`
	prefix   string
	excludes bool
	slash    bool // ParsePattern removed a leading "/", which was not an escape
	rooted   bool // see [Patterns.Rooted]
	expr     *regexp.Regexp
}

// foreignWildcards have a special meaning in the patterns of shells and other tools, or separate them there.
const foreignWildcards = `[]{}?\,`

// ParsePattern parses a pattern. It removes one leading "/", which keys in Consul do not have, so that `/!a` selects
// the key `!a`. It rejects an empty pattern, a `**` that is not a whole segment, foreign wildcards, and control or
// invisible characters.
func ParsePattern(text string) (Pattern, error) {
	shown := text
	text, excludes := strings.CutPrefix(text, "!")
	text, slash := strings.CutPrefix(text, "/")
	if text == "" {
		return Pattern{}, fmt.Errorf("pattern %q is empty", sanitize.Text(shown))
	}
	if sanitize.Text(text) != text {
		return Pattern{}, fmt.Errorf("pattern %q contains control or invisible characters", sanitize.Text(shown))
	}
	if i := strings.IndexAny(text, foreignWildcards); i >= 0 {
		return Pattern{}, fmt.Errorf(`pattern "%s": %c is not supported; the wildcards are * and **; `+
			"to match a key that contains %[2]c, write * in its place", text, text[i])
	}
	expr, err := patternExpr(text)
	if err != nil {
		return Pattern{}, err
	}
	p := Pattern{text: text, expr: expr, excludes: excludes, slash: slash && !strings.HasPrefix(text, "!") && !strings.HasPrefix(text, "/")}
	p.prefix, _, _ = strings.Cut(text, "*")
	return p, nil
}

// Rooted returns the patterns for a store whose keys may begin with "/": a leading "/" is part of a pattern, and of a name.
func (ps Patterns) Rooted() Patterns {
	ps = slices.Clone(ps)
	for i, p := range ps {
		if p.slash {
			ps[i], _ = ParsePattern("//" + p.text) // is valid, because p is
		}
		ps[i].excludes, ps[i].rooted = p.excludes, true
	}
	return ps
}

// KeyPattern returns the pattern that matches exactly one key. A `*` in the key is literal.
func KeyPattern(key string) Pattern { return Pattern{text: key, prefix: key} }

func patternExpr(text string) (*regexp.Regexp, error) {
	segments := strings.Split(text, "/")
	var b strings.Builder
	b.WriteString("^")
	for i, segment := range segments {
		last := i == len(segments)-1
		switch {
		case segment == "**" && last:
			b.WriteString("(.+)")
			continue
		case segment == "**":
			b.WriteString("(?:(.+)/)?")
			continue
		case strings.Contains(segment, "**"):
			return nil, fmt.Errorf("pattern %q: ** must be a whole segment, as in a/**/b; * matches a part of a segment", text)
		}
		if segment == "*" {
			segment = "" // a whole segment is never empty; a part of a segment may be empty
			b.WriteString("([^/]+)")
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(segment), `\*`, "([^/]*)"))
		if !last {
			b.WriteString("/")
		}
	}
	b.WriteString("$")
	return regexp.Compile("(?s)" + b.String())
}

// String returns the pattern as the user wrote it. It omits a leading "/", unless the pattern would have a different
// meaning without it.
func (p Pattern) String() string {
	switch {
	case p.excludes:
		return "!" + p.text
	case strings.HasPrefix(p.text, "!"), strings.HasPrefix(p.text, "/") && !p.rooted:
		return "/" + p.text
	}
	return p.text
}

// Excludes reports whether the pattern excludes the keys that it matches.
func (p Pattern) Excludes() bool { return p.excludes }

// Prefix returns the literal text before the first wildcard. Every matching key begins with it.
func (p Pattern) Prefix() string { return p.prefix }

// Exact reports whether the pattern has no wildcard and therefore matches one key.
func (p Pattern) Exact() bool { return p.prefix == p.text }

// Range returns a range that contains every matching key.
func (p Pattern) Range() Range {
	if p.Exact() {
		return KeyRange(p.text)
	}
	return PrefixRange(p.prefix)
}

// Match reports whether the key matches. It also returns the election's name: the parts that the wildcards matched,
// joined by "/", or the whole key for a pattern without wildcards. A leading `!` makes no difference.
func (p Pattern) Match(key string) (name string, ok bool) {
	switch {
	case key == p.text && p.Exact():
		return key, true
	case p.Exact() || !strings.HasPrefix(key, p.prefix):
		return "", false
	}
	after := p.text[len(p.prefix)+1:]
	if after == "*" { // ** at the end
		name = key[len(p.prefix):]
		return name, name != ""
	}
	if len(key) >= len(p.text) && !strings.Contains(after, "*") {
		// The usual case, without the slow expression: one wildcard, whose match is not empty.
		if name, ok = strings.CutSuffix(key[len(p.prefix):], after); ok && !strings.Contains(name, "/") {
			return name, true
		}
		return "", false
	}
	m := p.expr.FindStringSubmatch(key)
	if m == nil {
		return "", false
	}
	matched := Without(m[1:], func(s string) bool { return s == "" })
	return cmp.Or(strings.Join(matched, "/"), key), true
}

// Patterns is an ordered list of patterns. A key that several patterns select belongs to the first of them. A key that
// any pattern excludes belongs to no pattern.
type Patterns []Pattern

// ParsePatterns parses a list of patterns. If none of these patterns selects keys, it adds [DefaultPattern]. Exclusions
// come last in the result.
func ParsePatterns(texts []string) (Patterns, error) {
	var selecting, excluding Patterns
	for _, text := range texts {
		p, err := ParsePattern(text)
		switch {
		case err != nil:
			return nil, err
		case p.excludes:
			excluding = append(excluding, p)
		default:
			selecting = append(selecting, p)
		}
	}
	if len(selecting) == 0 {
		return ParsePatterns(append(slices.Clone(texts), DefaultPattern))
	}
	return append(selecting, excluding...), nil
}

// Match returns the election's name from the first matching pattern. An excluded key does not match.
func (ps Patterns) Match(key string) (name string, ok bool) {
	for i := range ps {
		switch p := &ps[i]; {
		case p.excludes:
			if _, excluded := p.Match(key); excluded {
				return "", false
			}
		case !ok:
			name, ok = p.Match(key)
		}
	}
	return name, ok
}

// Selects reports whether a pattern selects the key and none excludes it.
func (ps Patterns) Selects(key string) bool {
	_, ok := ps.Match(key)
	return ok
}

// Selecting returns the patterns without the exclusions.
func (ps Patterns) Selecting() Patterns {
	return Without(ps, Pattern.Excludes)
}

// Key returns the key of the election with this name. The name replaces the wildcard of the first pattern that has
// exactly one wildcard and matches the resulting key. A name that is itself a matching key is returned unchanged.
func (ps Patterns) Key(name string) (key string, ok bool) {
	if !slices.ContainsFunc(ps, func(p Pattern) bool { return p.rooted }) {
		name = strings.TrimPrefix(name, "/")
	}
	if ps.Selects(name) {
		return name, true
	}
	for _, p := range ps {
		before, after, found := strings.Cut(p.text, "*")
		if p.excludes || !found || strings.Contains(after, "*") {
			continue
		}
		key := before + name + after
		if got, ok := ps.Match(key); ok && got == name {
			return key, true
		}
	}
	return "", false
}

// Strings returns the result of [Pattern.String] for each pattern.
func (ps Patterns) Strings() []string { return Map(ps, Pattern.String) }

// Range is a half-open interval of keys in byte order: From ≤ key < To. An empty To
// means no upper bound.
type Range struct{ From, To string }

// PrefixRange returns the range of all keys that begin with prefix.
func PrefixRange(prefix string) Range {
	end := []byte(prefix)
	for len(end) > 0 && end[len(end)-1] == 0xff {
		end = end[:len(end)-1]
	}
	if len(end) > 0 {
		end[len(end)-1]++
	}
	return Range{prefix, string(end)}
}

// KeyRange returns the range that contains one key.
func KeyRange(key string) Range { return Range{key, key + "\x00"} }

// Contains reports whether key is in the range.
func (r Range) Contains(key string) bool { return key >= r.From && (r.To == "" || key < r.To) }

// RangeSet is a set of keys, stored as sorted disjoint ranges.
type RangeSet []Range

// Contains reports whether key is in the set.
func (s RangeSet) Contains(key string) bool {
	return slices.ContainsFunc(s, func(r Range) bool { return r.Contains(key) })
}

// Covers reports whether every key of r is in the set.
func (s RangeSet) Covers(r Range) bool {
	return slices.ContainsFunc(s, func(have Range) bool {
		return have.From <= r.From && (have.To == "" || r.To != "" && r.To <= have.To)
	})
}

// Add adds every key of r and joins adjacent ranges.
func (s *RangeSet) Add(r Range) {
	if s.Covers(r) {
		return
	}
	all := append(slices.Clone(*s), r)
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
	*s = merged
}

// Overlaps reports whether two ranges share a key.
func (r Range) Overlaps(q Range) bool {
	return (r.To == "" || q.From < r.To) && (q.To == "" || r.From < q.To)
}
