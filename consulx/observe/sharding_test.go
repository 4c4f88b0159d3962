package observe

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"electop/election"
)

func shownLayout(ws []watch) string {
	shown := make([]string, len(ws))
	for i, w := range disjoint(slices.Clone(ws)) {
		if w.Exact {
			shown[i] = "="
		}
		shown[i] += w.Prefix
	}
	return strings.Join(shown, " ")
}

// listOf returns keys. Those that end in "leader" are elections.
func listOf(keys ...string) []listedKey {
	all := make([]listedKey, len(keys))
	for i, key := range keys {
		all[i] = listedKey{Name: key, Election: strings.HasSuffix(key, "leader")}
	}
	return unite(all)
}

func numbered(format string, n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf(format, i)
	}
	return keys
}

func TestLayout(t *testing.T) {
	root := prefixWatch("s/")
	thousand := numbered("s/%03d/leader", 1000)
	tens := "s/0 s/1 s/2 s/3 s/4 s/5 s/6 s/7 s/8 s/9"
	for _, c := range []struct {
		what    string
		keys    []string
		present string // empty if the present layout is the root
		limit   int
		want    string
	}{
		{"no keys", nil, "", 48, "s/"},
		{"no elections", numbered("s/%03d/config", 500), "", 48, "s/"},
		{"few keys", numbered("s/%03d/leader", 200), "", 48, "s/"},
		{"few keys again", numbered("s/%03d/leader", 90), "s/0", 48, "s/"},
		{"more than a few keys", numbered("s/%03d/leader", 150), "s/00 s/01 s/02 s/03 s/04 s/05 s/06 s/07 s/08 s/09 s/1", 48, "s/00 s/01 s/02 s/03 s/04 s/05 s/06 s/07 s/08 s/09 s/1"},
		{"many keys", thousand, "", 48, tens},
		{"the limit is too low", thousand, "", 9, "s/"},
		{"the limit is just sufficient", thousand, "", 10, tens},
		{"one watch", thousand, "", 1, "s/"},
		{"no change necessary", thousand, tens, 48, tens},
		{"all keys of one watch are removed", slices.DeleteFunc(slices.Clone(thousand), func(k string) bool { return strings.HasPrefix(k, "s/3") }), tens, 48, "s/0 s/1 s/2 s/4 s/5 s/6 s/7 s/8 s/9"},
		{"a key is added that no watch reads", append(slices.Clone(thousand), "s/new/leader"), tens, 48, tens + " s/n"},
		{"a key is added that is a prefix of no watch", append(slices.Clone(thousand), "s/1leader"), "s/10 s/11 s/12 s/13 s/14 s/15 s/16 s/17 s/18 s/19 s/0 s/2 s/3 s/4 s/5 s/6 s/7 s/8 s/9", 48,
			"s/0 s/10 s/11 s/12 s/13 s/14 s/15 s/16 s/17 s/18 s/19 s/1l s/2 s/3 s/4 s/5 s/6 s/7 s/8 s/9"},
		{"other keys under one election only", append(numbered("s/b/x%03d", 900), append(numbered("s/a%02d/leader", 90), "s/b/leader")...), "", 48, "s/a =s/b/leader"},
		{"one shard cannot be read", thousand, "!s/3 s/4 s/5", 48, tens},
		{"one shard of few keys cannot be read", numbered("s/%03d/leader", 90), "!s/03", 48, "s/00 s/01 s/02 s/03 s/04 s/05 s/06 s/07 s/08"},
		{"the limit is reached with a shard that cannot be read", thousand, "!s/33", 10, tens},
		{"a key that is a prefix of others", append(numbered("s/leader/%03d/leader", 300), "s/leader"), "", 48, "=s/leader s/leader/0 s/leader/1 s/leader/2"},
	} {
		present, fixed := []watch{root}, []watch(nil)
		if c.present != "" {
			present = nil
			for p := range strings.FieldsSeq(c.present) {
				prefix, broken := strings.CutPrefix(p, "!")
				present = append(present, prefixWatch(prefix))
				if broken {
					fixed = append(fixed, prefixWatch(prefix))
				}
			}
		}
		got := layout{Root: root, Limit: c.limit, Fixed: fixed}.Next(listOf(c.keys...), present)
		if shown := shownLayout(got); shown != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, shown, c.want)
		}
	}
}

// For any set of keys and any change of the set, exactly one watch must read every election, every watch must read at
// least one election, and the number of watches must not exceed the limit.
func TestLayoutIsCompleteAndDisjoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	// A URL cannot contain some of these keys. Their neighbours must stay in one watch.
	plain := []string{"a", "b", "c", "d/", "leader", "1", "2", "3"}
	odd := append(slices.Clone(plain), "/", ".", "..", "//", "é", "\uFFFD")
	for range 100 {
		pieces := [][]string{plain, odd}[rng.IntN(2)]
		l := layout{Root: prefixWatch([]string{"", "s/"}[rng.IntN(2)]), Limit: 1 + rng.IntN(50)}
		present := []watch{l.Root}
		var keys []listedKey
		for range 10 {
			keys = slices.DeleteFunc(keys, func(listedKey) bool { return rng.IntN(3) == 0 })
			for range rng.IntN(500) {
				key := l.Root.Prefix
				for range 1 + rng.IntN(6) {
					key += pieces[rng.IntN(len(pieces))]
				}
				keys = append(keys, listedKey{Name: key, Election: rng.IntN(3) > 0})
			}
			keys = unite(keys)
			if l.Fixed = nil; rng.IntN(2) == 0 {
				l.Fixed = slices.DeleteFunc(slices.Clone(present), func(watch) bool { return rng.IntN(8) > 0 })
			}
			if best, ok := l.ideal(keys); ok && slices.ContainsFunc(keys, isElection) {
				checkLayout(t, l, keys, election.Map(best, func(s shard) watch { return s.watch }))
			}
			before := present
			present = l.Next(keys, present)
			checkLayout(t, l, keys, present)
			checkFixed(t, l, keys, before, present)
		}
	}
}

func checkLayout(t *testing.T, l layout, keys []listedKey, got []watch) {
	t.Helper()
	readers := func(key string) (n int) {
		for _, w := range got {
			if w.Range.Contains(key) {
				n++
			}
		}
		return n
	}
	if len(got) == 0 || len(got) > l.Limit {
		t.Fatalf("got %d watches, want 1 to %d", len(got), l.Limit)
	}
	for _, k := range keys {
		if n := readers(k.Name); n > 1 || n == 0 && k.Election {
			t.Fatalf("%d watches read %q (election %t), want one for each election: %q", n, k.Name, k.Election, shownLayout(got))
		}
	}
	for _, w := range got {
		read := cut(keys, w.Range, keyName)
		if !slices.ContainsFunc(read, isElection) && w != l.Root && !slices.Contains(l.Fixed, w) {
			t.Fatalf("the watch of %q reads no election", w.Prefix)
		}
		if w != l.Root && !askable(w.Prefix) {
			t.Fatalf("the prefix %q of a watch cannot be part of a URL", w.Prefix)
		}
	}
}

// checkFixed checks that the fixed watches were kept, unless the limit is too low for the other keys.
func checkFixed(t *testing.T, l layout, keys []listedKey, before, got []watch) {
	t.Helper()
	if _, ok := l.ideal(keys); !ok {
		return
	}
	for _, w := range l.Fixed {
		if !slices.Contains(got, w) {
			t.Fatalf("the fixed watch %q was removed\nbefore %q\nafter  %q", w.Prefix, shownLayout(before), shownLayout(got))
		}
	}
}
