package election

import (
	"slices"
	"strings"
	"testing"

	"electop/election/sanitize"
)

func TestPatternNamesElections(t *testing.T) {
	tests := []struct{ pattern, key, name string }{
		{"service/*/leader", "service/web/leader", "web"},
		{"/service/*/leader", "service/web/leader", "web"},
		{"service/*/leader", "service/a/b/leader", ""},
		{"service/*/leader", "service//leader", ""},
		{"service/*/leader", "service/web/leader/.lock", ""},
		{"service/*/leader", "xservice/web/leader", ""},
		{"service/web-*/leader", "service/web-1/leader", "1"},
		{"service/web*/leader", "service/web/leader", "service/web/leader"},
		{"**/.lock", "service/foo/leader/.lock", "service/foo/leader"},
		{"**/.lock", ".lock", ".lock"},
		{"service/**/leader", "service/a/b/leader", "a/b"},
		{"service/**/leader", "service/leader", "service/leader"},
		{"service/**", "service/a/b", "a/b"},
		{"a/*/b/*", "a/1/b/2", "1/2"},
		{"vault/core/lock", "vault/core/lock", "vault/core/lock"},
		{"vault/core/lock", "vault/core/lock2", ""},
		{"a.b/*", "axb/c", ""},
		{"a/*", "a/line\nbreak", "line\nbreak"},
	}
	for _, tt := range tests {
		p, err := ParsePattern(tt.pattern)
		if err != nil {
			t.Fatalf("%s: %v", tt.pattern, err)
		}
		if name, ok := p.Match(tt.key); name != tt.name || ok != (tt.name != "") {
			t.Errorf("%s on %s: %q %v, want %q", tt.pattern, tt.key, name, ok, tt.name)
		}
	}
}

func parse(t *testing.T, texts ...string) Patterns {
	t.Helper()
	ps, err := ParsePatterns(texts)
	if err != nil {
		t.Fatalf("%q: %v", texts, err)
	}
	return ps
}

func TestKeyBelongsToTheFirstPattern(t *testing.T) {
	ps := parse(t, "service/web/leader", "service/*/leader")
	if name, _ := ps.Match("service/web/leader"); name != "service/web/leader" {
		t.Errorf("name %q", name)
	}
	if name, _ := ps.Match("service/mail/leader"); name != "mail" {
		t.Errorf("name %q", name)
	}
}

func TestExclusionsRemoveKeys(t *testing.T) {
	tests := []struct {
		patterns  []string
		key, name string
	}{
		{[]string{"service/*/leader", "!service/backup/*"}, "service/web/leader", "web"},
		{[]string{"service/*/leader", "!service/backup/*"}, "service/backup/leader", ""},
		{[]string{"!service/backup/*", "service/*/leader"}, "service/backup/leader", ""},
		{[]string{"!service/backup/*"}, "service/web/leader", "web"},
		{[]string{"!service/backup/*"}, "service/backup/leader", ""},
		{[]string{"!service/backup/*"}, "other/web/leader", ""},
		{[]string{"!/service/backup/leader"}, "service/backup/leader", ""},
		{[]string{"**/.lock", "!jobs/**"}, "jobs/night/.lock", ""},
		{[]string{"**/.lock", "!jobs/**", "jobs/day/.lock"}, "jobs/day/.lock", ""},
		{[]string{"/!odd/*"}, "!odd/x", "x"},
		{[]string{"!odd/*", "odd/*"}, "!odd/x", ""},
		{[]string{"*", "!!odd"}, "!odd", ""},
	}
	for _, tt := range tests {
		ps := parse(t, tt.patterns...)
		if name, ok := ps.Match(tt.key); name != tt.name || ok != (tt.name != "") {
			t.Errorf("%q on %s: %q %v, want %q", tt.patterns, tt.key, name, ok, tt.name)
		}
		if key, ok := ps.Key(tt.name); tt.name != "" && (!ok || key != tt.key) {
			t.Errorf("patterns %q: the election %q has the key %q, want %q", tt.patterns, tt.name, key, tt.key)
		}
	}
}

func TestExclusionsAreShownAsWritten(t *testing.T) {
	ps := parse(t, "!/service/backup/*", "service/*/leader", "!jobs/**", "//a", "/!b")
	want := []string{"service/*/leader", "//a", "/!b", "!service/backup/*", "!jobs/**"}
	if got := ps.Strings(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := ps.Selecting().Strings(); !slices.Equal(got, want[:3]) {
		t.Errorf("selecting: %q, want %q", got, want[:3])
	}
}

func TestBadPatternsAreRefused(t *testing.T) {
	for _, text := range []string{"", "/", "a**/b", "a/**b", "a/\x1b/b", "a\n", "!", "!/", "!a**/b", "!a/\x1b/b"} {
		if _, err := ParsePattern(text); err == nil {
			t.Errorf("pattern %q was accepted, want an error", text)
		} else if sanitize.Text(err.Error()) != err.Error() {
			t.Errorf("%q: the error contains unsanitized text", text)
		}
	}
}

// Other tools have more wildcards. As literal characters they would match no key, and the user would get no error.
func TestWildcardsOfOtherToolsAreRefused(t *testing.T) {
	for text, names := range map[string]string{
		"[a": "[", "a]": "]", "{a,b}": "{", "service/{web,api}/leader": "{", "b}": "}", "service/web-?/leader": "?",
		`service/\*/leader`: `\`, "[abc]/x": "[", "a/*/leader,b/lock": ",",
	} {
		if _, err := ParsePattern(text); err == nil {
			t.Errorf("pattern %q was accepted, want an error", text)
		} else if !strings.Contains(err.Error(), `"`+sanitize.Text(text)+`"`) || !strings.Contains(err.Error(), " "+names+" ") {
			t.Errorf("pattern %q: error %v does not contain %s", text, err, names)
		}
	}
	for _, key := range []string{"a[b]", "a{b}", `a\b`} {
		if _, ok := KeyPattern(key).Match(key); !ok {
			t.Errorf("KeyPattern(%[1]q) does not match the key %[1]q", key)
		}
		if p, err := ParsePattern("a*b*"); err != nil {
			t.Error(err)
		} else if _, ok := p.Match(key); !ok {
			t.Errorf("* does not match the segment of %q", key)
		}
	}
}

func FuzzPatternPrefix(f *testing.F) {
	f.Add("service/*/leader", "service/web/leader")
	f.Add("**/x*", "a/b/xc")
	f.Fuzz(func(t *testing.T, text, key string) {
		p, err := ParsePattern(text)
		if err != nil {
			return
		}
		name, ok := p.Match(key)
		if ok && (name == "" && key != "" || !strings.HasPrefix(key, p.Prefix())) {
			t.Errorf("pattern %q: the matching key %q has the name %q or lacks the prefix %q", text, key, name, p.Prefix())
		}
		if ok && !PrefixRange(p.Prefix()).Contains(key) {
			t.Errorf("key %q matches, but is not in the range of the prefix %q", key, p.Prefix())
		}
	})
}

func TestPrefixRange(t *testing.T) {
	tests := []struct{ prefix, to string }{{"a/", "a0"}, {"", ""}, {"\xff\xff", ""}, {"a\xff", "b"}}
	for _, tt := range tests {
		if r := PrefixRange(tt.prefix); r.To != tt.to {
			t.Errorf("%q: to %q, want %q", tt.prefix, r.To, tt.to)
		}
	}
}

func TestRangeSetMergesAdjacentRanges(t *testing.T) {
	var s RangeSet
	s.Add(Range{From: "m", To: "p"})
	s.Add(Range{From: "a", To: "c"})
	if s.Covers(Range{From: "a", To: "p"}) || s.Contains("d") {
		t.Error("the set covers or contains keys between its ranges")
	}
	s.Add(Range{From: "c", To: "m"})
	if len(s) != 1 || !s.Covers(Range{From: "a", To: "p"}) {
		t.Errorf("%v", s)
	}
	s.Add(Range{From: "b", To: ""})
	if !s.Covers(Range{From: "z", To: ""}) || s.Contains("A") {
		t.Errorf("%v", s)
	}
}

// An exclusion removes exactly the keys that its pattern matches. The text of a pattern parses to the same pattern.
func FuzzExclusion(f *testing.F) {
	f.Add("service/*/leader", "service/backup/*", "service/backup/leader")
	f.Add("**/.lock", "a/**", "a/b/.lock")
	f.Add("/!a", "!a", "!a")
	f.Add("//a", "/a", "/a")
	f.Fuzz(func(t *testing.T, selects, excludes, key string) {
		p, err := ParsePattern(selects)
		if err != nil || p.Excludes() {
			return
		}
		x, err := ParsePattern(excludes)
		if err != nil || x.Excludes() {
			return
		}
		ps := parse(t, "!"+excludes, selects)
		want, ok := p.Match(key)
		if _, excluded := x.Match(key); excluded {
			want, ok = "", false
		}
		if name, got := ps.Match(key); name != want || got != ok {
			t.Errorf("%q without %q on %q: %q %v, want %q %v", selects, excludes, key, name, got, want, ok)
		}
		again := parse(t, ps.Strings()...)
		if name, got := again.Match(key); name != want || got != ok {
			t.Errorf("%q on %q: %q %v, want %q %v", ps.Strings(), key, name, got, want, ok)
		}
	})
}

func TestRootedPatterns(t *testing.T) {
	ps := parse(t, "/service/*/leader", "lock", "/master", "!/registry/**")
	if got := strings.Join(ps.Strings(), ","); got != "service/*/leader,lock,master,!registry/**" {
		t.Error(got)
	}
	ps = ps.Rooted()
	if got := strings.Join(ps.Strings(), ","); got != "/service/*/leader,lock,/master,!/registry/**" {
		t.Error(got)
	}
	again := parse(t, ps.Strings()...)
	for key, want := range map[string]string{"/service/pg/leader": "pg", "service/pg/leader": "", "lock": "lock", "/lock": "", "/master": "/master"} {
		if name, _ := again.Rooted().Match(key); name != want {
			t.Errorf("%s: %q, want %q", key, name, want)
		}
	}
	for name, want := range map[string]string{"pg": "/service/pg/leader", "/service/pg/leader": "/service/pg/leader", "/lock": "", "/master": "/master"} {
		if key, _ := ps.Key(name); key != want {
			t.Errorf("the key of %s is %q, want %q", name, key, want)
		}
	}
	if r := ps[0].Range(); r != PrefixRange("/service/") || ps[2].Range() != KeyRange("/master") {
		t.Errorf("the ranges are %v and %v", r, ps[2].Range())
	}
}
