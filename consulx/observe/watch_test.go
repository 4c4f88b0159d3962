package observe

import (
	"strings"
	"testing"
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
