package observe

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"electop/consulx"
	"electop/election"
)

func TestPlanWatches(t *testing.T) {
	for _, c := range []struct {
		patterns string
		limit    int
		want     string // prefixes; a leading = means a single key
	}{
		{"service/*/leader", 40, "service/"},
		{"/service/*/leader", 40, "service/"},
		{"service/*/leader service/*/lock", 40, "service/"},
		{"service/*/leader service/web/*", 40, "service/"},
		{"service/web/leader service/*/leader", 40, "service/"},
		{"service/web/leader", 40, "=service/web/leader"},
		{"a/b a/b", 40, "=a/b"},
		{"a a/*", 40, "=a a/"},
		{"ab* a", 40, "=a ab"},
		{"a a*", 40, "a"},
		{"b/* a/* c", 40, "a/ b/ =c"},
		{"** a/b", 40, ""},
		{"**/leader", 40, ""},
		{"a//b", 40, "a/"},
		{"a//*", 40, "a/"},
		{"a/./b/*", 40, "a/"},
		{"a/../b/*", 40, "a/"},
		{"a/.*", 40, "a/"},
		{"a/..*", 40, "a/"},
		{"a/.lock*", 40, "a/.lock"},
		{"a/...*", 40, "a/..."},
		{"a/b/..", 40, "a/b/"},
		{"//a", 40, ""},
		{"a/b/", 40, "=a/b/"},
		{"a/1 a/2 a/3 b/1", 2, "a/ =b/1"},
		{"a/1 b/1 c/1", 1, ""},
		{"a/1 a/2 b/1 b/2", 3, "a/ =b/1 =b/2"},
	} {
		got := make([]string, 0, 4)
		for _, w := range planWatches(patterns(t, strings.Fields(c.patterns)...), c.limit) {
			mark := ""
			if w.Exact {
				mark = "="
			}
			got = append(got, mark+w.Prefix)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s (at most %d): %q, want %q", c.patterns, c.limit, text, c.want)
		}
	}
}

// For any patterns, every matching key must be in exactly one range, and Consul must not normalize the path of a
// watch.
func TestPlannedWatchesAreDisjointAndComplete(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "b", "/", "/", ".", "..", "*", "x"}
	for range 4000 {
		var texts []string
		for range 1 + rng.IntN(6) {
			var b strings.Builder
			for range 1 + rng.IntN(7) {
				b.WriteString(pieces[rng.IntN(len(pieces))])
			}
			if _, err := election.ParsePattern(b.String()); err == nil {
				texts = append(texts, b.String())
			}
		}
		if len(texts) == 0 {
			continue
		}
		ps := patterns(t, texts...)
		watches := planWatches(ps, 1+rng.IntN(5))
		for _, key := range keysLike(ps) {
			n := 0
			for _, w := range watches {
				if w.Range.Contains(key) {
					n++
				}
			}
			if n != 1 {
				t.Fatalf("patterns %q: key %q is in %d ranges of %+v, want 1", texts, key, n, watches)
			}
		}
		if i := slices.IndexFunc(watches, func(w watch) bool { return consulx.LiteralPrefix(w.Prefix) != w.Prefix }); i >= 0 {
			t.Fatalf("patterns %q: Consul would normalize the path of %+v", texts, watches[i])
		}
	}
}

// keysLike returns a key for each pattern that matches it.
func keysLike(ps election.Patterns) []string {
	var keys []string
	for i, p := range ps {
		key := strings.ReplaceAll(strings.ReplaceAll(p.String(), "**", "k/k"), "*", fmt.Sprint("k", i))
		if _, ok := p.Match(key); ok {
			keys = append(keys, key)
		}
	}
	return keys
}
